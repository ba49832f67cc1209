package main

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/gentype"
	"k8s.io/client-go/listers"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"outrigger.dev/bench/peers/kinds"
)

// fieldManager is sample-controller's.
const fieldManager = "sample-controller"

type object interface {
	runtime.Object
	metav1.Object
}

// kind is what code-generator generates for a kind: a typed client, a shared informer and a lister, from the same parts
// of client-go.
type kind[T object] struct {
	client   func(namespace string) client[T]
	informer cache.SharedIndexInformer
	lister   listers.ResourceIndexer[T]
}

// client has the used methods of a generated client.
type client[T object] interface {
	UpdateStatus(ctx context.Context, object T, options metav1.UpdateOptions) (T, error)
}

// newKind watches a collection; its informer delivers every object again at each resync.
func newKind[T object, L runtime.Object](
	config *rest.Config, collection schema.GroupVersionResource, resync time.Duration, empty func() T, emptyList func() L,
) (*kind[T], error) {
	scheme := runtime.NewScheme()
	if err := kinds.AddToScheme(scheme); err != nil {
		return nil, err
	}
	codecs := serializer.NewCodecFactory(scheme)
	own := rest.CopyConfig(config)
	version := collection.GroupVersion()
	own.GroupVersion, own.APIPath = &version, "/apis"
	own.NegotiatedSerializer = rest.CodecFactoryForGeneratedClient(scheme, codecs).WithoutConversion()
	own.UserAgent = rest.DefaultKubernetesUserAgent()
	restClient, err := rest.RESTClientFor(own)
	if err != nil {
		return nil, err
	}
	clients := func(namespace string) *gentype.ClientWithList[T, L] {
		parameters := runtime.NewParameterCodec(scheme)
		return gentype.NewClientWithList[T, L](collection.Resource, restClient, parameters, namespace, empty, emptyList)
	}
	everywhere := clients(metav1.NamespaceAll)
	listWatch := &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			return everywhere.List(ctx, options)
		},
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			return everywhere.Watch(ctx, options)
		},
	}
	indexers := cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}
	informer := cache.NewSharedIndexInformerWithOptions(
		cache.ToListWatcherWithWatchListSemantics(listWatch, everywhere), empty(),
		cache.SharedIndexInformerOptions{ResyncPeriod: resync, Indexers: indexers},
	)
	return &kind[T]{
		client:   func(namespace string) client[T] { return clients(namespace) },
		informer: informer,
		lister:   listers.New[T](informer.GetIndexer(), collection.GroupResource()),
	}, nil
}
