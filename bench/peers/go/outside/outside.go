// Package outside is the client of the external service of the bench's job Slow, which responds after a while.
package outside

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"
)

// The service responds after a fifth of a second.
const timeout = 10 * time.Second

// Service is a client of the service.
type Service struct {
	url    string
	client *http.Client
}

// New creates a client for a URL and a number of concurrent calls: by default Go keeps two idle connections to a host
// (https://pkg.go.dev/net/http#Transport), and would open the others again for each call.
func New(url string, concurrency int) Service {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = concurrency
	return Service{url, &http.Client{Transport: transport, Timeout: timeout}}
}

// Ask calls the service for one object.
func (service Service) Ask(ctx context.Context, namespace, name string) error {
	address, err := url.JoinPath(service.url, "slow", namespace, name)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	response, err := service.client.Do(request)
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
