package main

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	appsinformers "k8s.io/client-go/informers/apps/v1"
	"k8s.io/client-go/kubernetes"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/listers"
	appslisters "k8s.io/client-go/listers/apps/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"

	"outrigger.dev/bench/peers/kinds"
)

// foos is the syncHandler of sample-controller and its dependencies.
type foos struct {
	kube        kubernetes.Interface
	kind        *kind[*kinds.Foo]
	deployments appslisters.DeploymentLister
	recorder    record.EventRecorder
}

// newFoo is sample-controller's own controller.
func newFoo(
	ctx context.Context, kube kubernetes.Interface, kind *kind[*kinds.Foo], deployments appsinformers.DeploymentInformer,
) (*controller, error) {
	if err := kinds.AddToScheme(clientgoscheme.Scheme); err != nil {
		return nil, err
	}
	broadcaster := record.NewBroadcaster(record.WithContext(ctx))
	broadcaster.StartStructuredLogging(0)
	broadcaster.StartRecordingToSink(&typedcorev1.EventSinkImpl{Interface: kube.CoreV1().Events("")})
	recorder := broadcaster.NewRecorder(clientgoscheme.Scheme, corev1.EventSource{Component: fieldManager})

	controller := newController()
	foos := foos{kube, kind, deployments.Lister(), recorder}
	controller.reconcile = foos.reconcile
	handle := func(object any) {
		owner := ownerOf(object)
		if owner == nil || owner.Kind != "Foo" {
			return
		}
		if foo, err := listers.NewNamespaced(kind.lister, namespaceOf(object)).Get(owner.Name); err == nil {
			controller.enqueue(foo)
		}
	}
	_, err := deployments.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: handle,
		UpdateFunc: func(before, after any) {
			// A resync delivers every Deployment again.
			if versionOf(before) != versionOf(after) {
				handle(after)
			}
		},
		DeleteFunc: handle,
	})
	if err != nil {
		return nil, err
	}
	controller.synced = append(controller.synced, deployments.Informer().HasSynced)
	return controller, controller.watchPrimary(kind.informer)
}

func (f foos) reconcile(ctx context.Context, name cache.ObjectName) error {
	foo, err := listers.NewNamespaced(f.kind.lister, name.Namespace).Get(name.Name)
	if errors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	deployments := f.kube.AppsV1().Deployments(foo.Namespace)
	deployment, err := f.deployments.Deployments(foo.Namespace).Get(foo.Spec.DeploymentName)
	if errors.IsNotFound(err) {
		deployment, err = deployments.Create(ctx, deploymentOf(foo), metav1.CreateOptions{FieldManager: fieldManager})
	}
	if err != nil {
		return err
	}
	if !metav1.IsControlledBy(deployment, foo) {
		message := fmt.Sprintf("Resource %q already exists and is not managed by Foo", deployment.Name)
		f.recorder.Event(foo, corev1.EventTypeWarning, "ErrResourceExists", message)
		return fmt.Errorf("%s", message)
	}
	if foo.Spec.Replicas != *deployment.Spec.Replicas {
		deployment, err = deployments.Update(ctx, deploymentOf(foo), metav1.UpdateOptions{FieldManager: fieldManager})
		if err != nil {
			return err
		}
	}
	// Written even without a difference, and with an Event each time, as sample-controller does.
	copied := foo.DeepCopy()
	copied.Status.AvailableReplicas = deployment.Status.AvailableReplicas
	_, err = f.kind.client(foo.Namespace).UpdateStatus(ctx, copied, metav1.UpdateOptions{FieldManager: fieldManager})
	if err != nil {
		return err
	}
	f.recorder.Event(foo, corev1.EventTypeNormal, "Synced", "Foo synced successfully")
	return nil
}

func deploymentOf(foo *kinds.Foo) *appsv1.Deployment {
	deployment := kinds.DeploymentOf(foo)
	deployment.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(foo, kinds.Samples.WithKind("Foo"))}
	return deployment
}

// metadataOf is the metadata of an object, or of one whose deletion was missed.
func metadataOf(object any) metav1.Object {
	if tombstone, ok := object.(cache.DeletedFinalStateUnknown); ok {
		object = tombstone.Obj
	}
	if metadata, ok := object.(metav1.Object); ok {
		return metadata
	}
	return &metav1.ObjectMeta{}
}

func ownerOf(object any) *metav1.OwnerReference { return metav1.GetControllerOf(metadataOf(object)) }

func namespaceOf(object any) string { return metadataOf(object).GetNamespace() }

func versionOf(object any) string { return metadataOf(object).GetResourceVersion() }
