package reconcilers

import (
	"context"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"outrigger.dev/bench/peers/kinds"
)

// Valued copies the value of a Ping or a Slow.
type Valued struct {
	client.Client
	// New creates an empty object of the kind.
	New func() kinds.Valued
	// Ask calls the external service; nil without a call.
	Ask func(ctx context.Context, namespace, name string) error
}

// Reconcile reconciles one object.
func (r *Valued) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	object := r.New()
	if err := r.Get(ctx, request.NamespacedName, object); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if object.Observed() {
		return ctrl.Result{}, nil
	}
	if r.Ask != nil {
		if err := r.Ask(ctx, object.GetNamespace(), object.GetName()); err != nil {
			return ctrl.Result{}, err
		}
	}
	object.Observe()
	return ctrl.Result{}, r.Status().Update(ctx, object)
}
