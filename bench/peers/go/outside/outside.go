// Package outside is the world outside of the bench's job Slow: one question, answered after a while.
package outside

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"
)

// A fifth of a second is what it takes.
const patience = 10 * time.Second

// World answers questions.
type World struct {
	url    string
	client *http.Client
}

// New is the world at a URL, for so many questions at a time: Go keeps two connections to a host unless it is told
// (https://pkg.go.dev/net/http#Transport), and the others would be made anew for each question.
func New(url string, atATime int) World {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = atATime
	return World{url, &http.Client{Transport: transport, Timeout: patience}}
}

// Ask asks about one object.
func (world World) Ask(ctx context.Context, namespace, name string) error {
	address, err := url.JoinPath(world.url, "slow", namespace, name)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	response, err := world.client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("GET %s: %s", address, response.Status)
	}
	return nil
}
