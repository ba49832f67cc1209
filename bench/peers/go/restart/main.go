// Command restart is the peer of the bench's f6: the controller for Foos written with controller-runtime, with its
// default settings. It counts its reconciles and its requests, and prints them when it has been idle for a while.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"runtime/debug"
	"sync/atomic"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"outrigger.dev/bench/peers/kinds"
	"outrigger.dev/bench/peers/reconcilers"
)

const (
	// The controller is idle after this time without a reconcile.
	quiet = 5 * time.Second
	// The timeout for any number of objects.
	timeout = 8 * time.Minute
)

var reconciles, requests, writes, lastAt atomic.Int64

// counting counts requests to the API server.
type counting struct{ next http.RoundTripper }

func (c counting) RoundTrip(request *http.Request) (*http.Response, error) {
	requests.Add(1)
	if request.Method != http.MethodGet {
		writes.Add(1)
	}
	return c.next.RoundTrip(request)
}

// counted counts reconciles and records the time of the last one.
type counted struct{ next reconcile.Reconciler }

func (c counted) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	reconciles.Add(1)
	lastAt.Store(time.Now().UnixNano())
	return c.next.Reconcile(ctx, request)
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	ctrl.SetLogger(zap.New(zap.WriteTo(os.Stderr)))
	scheme := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(scheme); err != nil {
		return err
	}
	if err := kinds.AddToScheme(scheme); err != nil {
		return err
	}

	config := ctrl.GetConfigOrDie() // from KUBECONFIG
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return counting{next} })
	manager, err := ctrl.NewManager(config, ctrl.Options{Scheme: scheme, Metrics: metricsserver.Options{BindAddress: "0"}})
	if err != nil {
		return err
	}
	err = ctrl.NewControllerManagedBy(manager).For(&kinds.Foo{}).Owns(&appsv1.Deployment{}).
		Complete(counted{&reconcilers.Foo{Client: manager.GetClient()}})
	if err != nil {
		return err
	}
	ctx, stop := context.WithTimeout(context.Background(), timeout)
	defer stop()
	started := time.Now()
	lastAt.Store(started.UnixNano())
	go func() {
		defer stop()
		for ctx.Err() == nil {
			time.Sleep(100 * time.Millisecond)
			if reconciles.Load() > 0 && time.Since(time.Unix(0, lastAt.Load())) > quiet {
				return
			}
		}
	}()
	if err := manager.Start(ctx); err != nil {
		return err
	}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return fmt.Errorf("not idle within %s, after %d reconciles", timeout, reconciles.Load())
	}
	return json.NewEncoder(os.Stdout).Encode(map[string]any{
		"reconciles": reconciles.Load(),
		"requests":   requests.Load(),
		"writes":     writes.Load(),
		"seconds":    time.Unix(0, lastAt.Load()).Sub(started).Seconds(),
		"version":    version(),
	})
}

func version() string {
	if build, ok := debug.ReadBuildInfo(); ok {
		for _, module := range build.Deps {
			if module.Path == "sigs.k8s.io/controller-runtime" {
				return module.Version
			}
		}
	}
	return "unknown"
}
