// Command controller-runtime is the peer of the bench's f6: a controller for Foos, each of which owns a Deployment, written with
// controller-runtime as the kubebuilder book has it (https://book.kubebuilder.io/reference/watching-resources), with its default
// settings. It counts its reconciles and its requests, and prints them when it has had nothing to do for a while.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"runtime/debug"
	"sync/atomic"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

const (
	// As long as nothing was reconciled for so long, nothing will be.
	quiet = 5 * time.Second
	// However many there are.
	patience = 8 * time.Minute
)

var reconciles, requests, writes, lastAt atomic.Int64

// counting counts what goes to the API server.
type counting struct{ next http.RoundTripper }

func (c counting) RoundTrip(request *http.Request) (*http.Response, error) {
	requests.Add(1)
	if request.Method != http.MethodGet {
		writes.Add(1)
	}
	return c.next.RoundTrip(request)
}

// reconciler makes the Deployment of a Foo as it should be and says in the Foo's status what is available.
type reconciler struct{ client.Client }

func (r *reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	reconciles.Add(1)
	lastAt.Store(time.Now().UnixNano())
	var foo Foo
	if err := r.Get(ctx, request.NamespacedName, &foo); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	var deployment appsv1.Deployment
	name := client.ObjectKey{Namespace: foo.Namespace, Name: foo.Spec.DeploymentName}
	err := r.Get(ctx, name, &deployment)
	if apierrors.IsNotFound(err) {
		deployment = deploymentOf(&foo)
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

func deploymentOf(foo *Foo) appsv1.Deployment {
	labels := map[string]string{"app": "nginx", "controller": foo.Name}
	return appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: foo.Namespace, Name: foo.Spec.DeploymentName},
		Spec: appsv1.DeploymentSpec{
			Replicas: &foo.Spec.Replicas,
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "nginx", Image: "nginx:latest"}}},
			},
		},
	}
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
	scheme.AddKnownTypes(group, &Foo{}, &FooList{})
	metav1.AddToGroupVersion(scheme, group)

	config := ctrl.GetConfigOrDie() // from KUBECONFIG
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return counting{next} })
	manager, err := ctrl.NewManager(config, ctrl.Options{Scheme: scheme, Metrics: metricsserver.Options{BindAddress: "0"}})
	if err != nil {
		return err
	}
	err = ctrl.NewControllerManagedBy(manager).For(&Foo{}).Owns(&appsv1.Deployment{}).Complete(&reconciler{manager.GetClient()})
	if err != nil {
		return err
	}
	ctx, stop := context.WithTimeout(context.Background(), patience)
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

var group = schema.GroupVersion{Group: "samples.example.com", Version: "v1"}
