// Command controller-runtime is a contestant of the bench: one job as a controller written with controller-runtime as
// in the kubebuilder book. It prints `ready` when it would react to an edit, and ends on SIGTERM.
//
//	controller-runtime foo|ping|slow default|best
//
// Both settings keep the client's rate limit: controller-runtime sets none and relies on API priority and fairness
// (https://pkg.go.dev/sigs.k8s.io/controller-runtime/pkg/client/config#GetConfig).
package main

import (
	"context"
	"fmt"
	"os"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"outrigger.dev/bench/peers/kinds"
	"outrigger.dev/bench/peers/outside"
	"outrigger.dev/bench/peers/reconcilers"
)

// The number of concurrent reconciles.
const (
	// https://pkg.go.dev/sigs.k8s.io/controller-runtime/pkg/controller#Options: MaxConcurrentReconciles "defaults to 1".
	byDefault = 1
	// https://sdk.operatorframework.io/docs/building-operators/helm/reference/advanced_features/max_concurrent_reconciles/
	// raises it to ten.
	atBest = 10
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: controller-runtime foo|ping|slow default|best")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2] == "best"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(job string, best bool) error {
	ctrl.SetLogger(zap.New(zap.WriteTo(os.Stderr)))
	scheme := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(scheme); err != nil {
		return err
	}
	if err := kinds.AddToScheme(scheme); err != nil {
		return err
	}
	config, err := ctrl.GetConfig() // from KUBECONFIG
	if err != nil {
		return err
	}
	manager, err := ctrl.NewManager(config, ctrl.Options{Scheme: scheme, Metrics: metricsserver.Options{BindAddress: "0"}})
	if err != nil {
		return err
	}
	concurrency, err := concurrencyOf(best)
	if err != nil {
		return err
	}
	service := outside.New(os.Getenv("OUTSIDE_URL"), concurrency)
	var reconciler reconcile.Reconciler
	var primary client.Object
	var owned []client.Object
	switch job {
	case "foo":
		primary, owned = &kinds.Foo{}, []client.Object{&appsv1.Deployment{}}
		reconciler = &reconcilers.Foo{Client: manager.GetClient()}
	case "ping":
		primary = &kinds.Ping{}
		reconciler = &reconcilers.Valued{Client: manager.GetClient(), New: func() kinds.Valued { return &kinds.Ping{} }}
	case "slow":
		primary = &kinds.Slow{}
		fresh := func() kinds.Valued { return &kinds.Slow{} }
		reconciler = &reconcilers.Valued{Client: manager.GetClient(), New: fresh, Ask: service.Ask}
	default:
		return fmt.Errorf("%s is no job", job)
	}
	var narrow []builder.ForOption
	if best {
		// Its own status writes start no reconcile:
		// https://book.kubebuilder.io/reference/watching-resources/predicates-with-watch. This does not apply to owned
		// objects, whose status matters.
		narrow = append(narrow, builder.WithPredicates(predicate.GenerationChangedPredicate{}))
	}
	controllers := ctrl.NewControllerManagedBy(manager).For(primary, narrow...)
	for _, kind := range owned {
		controllers = controllers.Owns(kind)
	}
	err = controllers.WithOptions(controller.Options{MaxConcurrentReconciles: concurrency}).Complete(reconciler)
	if err != nil {
		return err
	}
	if err := manager.Add(printReady(manager, append(owned, primary)...)); err != nil {
		return err
	}
	return manager.Start(ctrl.SetupSignalHandler())
}

// concurrencyOf returns CONCURRENCY if set, which is the same for all contestants, or the setting's concurrency.
func concurrencyOf(best bool) (int, error) {
	if text := os.Getenv("CONCURRENCY"); best && text != "" {
		return strconv.Atoi(text)
	}
	if best {
		return atBest, nil
	}
	return byDefault, nil
}

// printReady prints the line when the caches have the kinds.
func printReady(manager manager.Manager, kinds ...client.Object) manager.RunnableFunc {
	return func(ctx context.Context) error {
		for _, kind := range kinds {
			// Waits until the informer, which the controller shares, has listed.
			if _, err := manager.GetCache().GetInformer(ctx, kind); err != nil {
				return err
			}
		}
		fmt.Println("ready")
		return nil
	}
}
