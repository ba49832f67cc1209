// Package kinds has the kinds of the bench's jobs in Go: the output of kubebuilder and code-generator, reduced to what
// the peers use.
package kinds

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var (
	// Samples is the group of Foo.
	Samples = schema.GroupVersion{Group: "samples.example.com", Version: "v1"}
	// Bench is the group of Ping and Slow.
	Bench = schema.GroupVersion{Group: "bench.example.com", Version: "v1"}
)

// AddToScheme registers the kinds.
func AddToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(Samples, &Foo{}, &FooList{})
	metav1.AddToGroupVersion(scheme, Samples)
	scheme.AddKnownTypes(Bench, &Ping{}, &PingList{}, &Slow{}, &SlowList{})
	metav1.AddToGroupVersion(scheme, Bench)
	return nil
}
