// Command metadata-informer is the peer of the bench's f10 and f1: controller-runtime's metadata informer on Foos, with its default
// settings (https://pkg.go.dev/sigs.k8s.io/controller-runtime/pkg/cache). It follows the API server whose URL it is given, and
// prints how many objects it has and how many events came, whenever that has changed.
package main

import (
	"context"
	"fmt"
	"os"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
)

func main() {
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(url string) error {
	kind := schema.GroupVersionKind{Group: "samples.example.com", Version: "v1", Kind: "Foo"}
	mapper := meta.NewDefaultRESTMapper([]schema.GroupVersion{kind.GroupVersion()})
	mapper.Add(kind, meta.RESTScopeNamespace)
	objects, err := cache.New(&rest.Config{Host: url}, cache.Options{Mapper: mapper})
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	go func() { // ends with its parent, whose end of the pipe it holds
		_, _ = os.Stdin.Read(make([]byte, 1))
		stop()
	}()
	foo := &metav1.PartialObjectMetadata{}
	foo.SetGroupVersionKind(kind)
	informer, err := objects.GetInformer(ctx, foo, cache.BlockUntilSynced(false))
	if err != nil {
		return err
	}
	var added, events atomic.Int64
	if _, err := informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
		AddFunc:    func(any) { added.Add(1) },
		UpdateFunc: func(any, any) { events.Add(1) },
	}); err != nil {
		return err
	}
	go func() {
		var last string
		for ; ctx.Err() == nil; time.Sleep(50 * time.Millisecond) {
			now := fmt.Sprintf(`{"objects":%d,"events":%d,"synced":%t}`, added.Load(), events.Load(), informer.HasSynced())
			if now != last {
				fmt.Println(now)
			}
			last = now
		}
	}()
	return objects.Start(ctx)
}
