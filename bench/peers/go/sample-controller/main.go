// Command sample-controller is a contestant of the bench: one job as a controller written only with client-go, as in
// k8s.io/sample-controller (https://github.com/kubernetes/sample-controller). It prints `ready` when it would react to
// an edit, and ends on SIGTERM.
//
//	sample-controller foo|ping|slow default|best
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	kubeinformers "k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"outrigger.dev/bench/peers/kinds"
	"outrigger.dev/bench/peers/outside"
)

// settings are those of its main.go, or better ones.
type settings struct {
	workers int
	resync  time.Duration
}

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: sample-controller foo|ping|slow default|best")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2] == "best"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(job string, best bool) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		return err
	}
	settings := settings{workers: 2, resync: 30 * time.Second}
	kubeConfig := config
	if best {
		if settings, err = bestSettings(); err != nil {
			return err
		}
		// client-go's own limit is 5 requests a second (https://pkg.go.dev/k8s.io/client-go/rest#Config); without it,
		// API priority and fairness has the same purpose
		// (https://pkg.go.dev/sigs.k8s.io/controller-runtime/pkg/client/config#GetConfig).
		config.QPS = -1
		// Smaller than JSON, for the built-in kinds:
		// https://kubernetes.io/docs/reference/using-api/api-concepts/#protobuf-encoding.
		kubeConfig = rest.CopyConfig(config)
		kubeConfig.AcceptContentTypes = "application/vnd.kubernetes.protobuf,application/json"
		kubeConfig.ContentType = "application/vnd.kubernetes.protobuf"
	}
	kube, err := kubernetes.NewForConfig(kubeConfig)
	if err != nil {
		return err
	}
	factory := kubeinformers.NewSharedInformerFactory(kube, settings.resync)
	controller, err := controllerOf(ctx, job, config, kube, factory, settings)
	if err != nil {
		return err
	}
	factory.Start(ctx.Done())
	return controller.run(ctx, settings.workers, func() { fmt.Println("ready") })
}

// bestSettings has ten workers, or CONCURRENCY, which is the same for all contestants.
func bestSettings() (settings, error) {
	// The workers of controller-runtime's users
	// (https://sdk.operatorframework.io/docs/building-operators/helm/reference/advanced_features/max_concurrent_reconciles/),
	// and its resync period (https://pkg.go.dev/sigs.k8s.io/controller-runtime/pkg/cache#Options: SyncPeriod "defaults
	// to 10 hours").
	best := settings{workers: 10, resync: 10 * time.Hour}
	text := os.Getenv("CONCURRENCY")
	if text == "" {
		return best, nil
	}
	workers, err := strconv.Atoi(text)
	best.workers = workers
	return best, err
}

// controllerOf creates the controller of a job and starts its informer.
func controllerOf(
	ctx context.Context, job string, config *rest.Config, kube kubernetes.Interface, factory kubeinformers.SharedInformerFactory, settings settings,
) (*controller, error) {
	switch job {
	case "foo":
		kind, err := newKind(config, kinds.Samples.WithResource("foos"), settings.resync,
			func() *kinds.Foo { return &kinds.Foo{} }, func() *kinds.FooList { return &kinds.FooList{} })
		if err != nil {
			return nil, err
		}
		controller, err := newFoo(ctx, kube, kind, factory.Apps().V1().Deployments())
		go kind.informer.RunWithContext(ctx)
		return controller, err
	case "ping":
		kind, err := newKind(config, kinds.Bench.WithResource("pings"), settings.resync,
			func() *kinds.Ping { return &kinds.Ping{} }, func() *kinds.PingList { return &kinds.PingList{} })
		if err != nil {
			return nil, err
		}
		controller, err := newValued(kind, nil)
		go kind.informer.RunWithContext(ctx)
		return controller, err
	case "slow":
		kind, err := newKind(config, kinds.Bench.WithResource("slows"), settings.resync,
			func() *kinds.Slow { return &kinds.Slow{} }, func() *kinds.SlowList { return &kinds.SlowList{} })
		if err != nil {
			return nil, err
		}
		service := outside.New(os.Getenv("OUTSIDE_URL"), settings.workers)
		controller, err := newValued(kind, service.Ask)
		go kind.informer.RunWithContext(ctx)
		return controller, err
	}
	return nil, fmt.Errorf("%s is no job", job)
}
