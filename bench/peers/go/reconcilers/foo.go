// Package reconcilers has the bench's jobs, written with controller-runtime as in the kubebuilder book
// (https://book.kubebuilder.io/cronjob-tutorial/controller-implementation,
// https://book.kubebuilder.io/reference/watching-resources): objects are read from the cache, and differences are
// written.
package reconcilers

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"outrigger.dev/bench/peers/kinds"
)

// Foo reconciles the Deployment of a Foo and reports its available replicas in the Foo's status.
type Foo struct{ client.Client }

// Reconcile reconciles one Foo.
func (r *Foo) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	var foo kinds.Foo
	if err := r.Get(ctx, request.NamespacedName, &foo); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	var deployment appsv1.Deployment
	name := client.ObjectKey{Namespace: foo.Namespace, Name: foo.Spec.DeploymentName}
	err := r.Get(ctx, name, &deployment)
	if apierrors.IsNotFound(err) {
		deployment = *kinds.DeploymentOf(&foo)
		if err := controllerutil.SetControllerReference(&foo, &deployment, r.Scheme()); err != nil {
			return ctrl.Result{}, err
		}
		err = r.Create(ctx, &deployment)
	}
	if err != nil {
		return ctrl.Result{}, err
	}
	if deployment.Spec.Replicas == nil || *deployment.Spec.Replicas != foo.Spec.Replicas {
		deployment.Spec.Replicas = &foo.Spec.Replicas
		if err := r.Update(ctx, &deployment); err != nil {
			return ctrl.Result{}, err
		}
	}
	if foo.Status.AvailableReplicas == deployment.Status.AvailableReplicas {
		return ctrl.Result{}, nil
	}
	foo.Status.AvailableReplicas = deployment.Status.AvailableReplicas
	return ctrl.Result{}, r.Status().Update(ctx, &foo)
}
