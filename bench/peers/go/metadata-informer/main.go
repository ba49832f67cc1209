// Command metadata-informer is the peer of the bench's f10 and f1: controller-runtime's metadata informer of one kind,
// with its default settings (https://pkg.go.dev/sigs.k8s.io/controller-runtime/pkg/cache) or without managedFields
// (https://pkg.go.dev/sigs.k8s.io/controller-runtime/pkg/cache#TransformStripManagedFields). It prints the number of
// its objects and of received events whenever they change. On SIGUSR2 it collects its garbage, returns free memory to
// the kernel, and prints its live heap.
//
//	metadata-informer URL GROUP/VERSION KIND [default|stripped]
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"slices"
	"sync/atomic"
	"syscall"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

func main() {
	if len(os.Args) < 4 {
		fmt.Fprintln(os.Stderr, "usage: metadata-informer URL GROUP/VERSION KIND [default|stripped]")
		os.Exit(2)
	}
	log.SetLogger(klog.Background())
	if err := run(os.Args[1], schema.FromAPIVersionAndKind(os.Args[2], os.Args[3]), os.Args[4:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(url string, kind schema.GroupVersionKind, settings []string) error {
	mapper := meta.NewDefaultRESTMapper([]schema.GroupVersion{kind.GroupVersion()})
	mapper.Add(kind, meta.RESTScopeNamespace)
	options := cache.Options{Mapper: mapper}
	if slices.Contains(settings, "stripped") {
		options.DefaultTransform = cache.TransformStripManagedFields()
	}
	objects, err := cache.New(&rest.Config{Host: url}, options)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	go func() { // ends with its parent, whose end of the pipe it holds
		_, _ = os.Stdin.Read(make([]byte, 1))
		stop()
	}()
	one := &metav1.PartialObjectMetadata{}
	one.SetGroupVersionKind(kind)
	informer, err := objects.GetInformer(ctx, one, cache.BlockUntilSynced(false))
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
	go sayWhatLives()
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

func sayWhatLives() {
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGUSR2)
	for range asked {
		debug.FreeOSMemory()
		var memory runtime.MemStats
		runtime.ReadMemStats(&memory)
		fmt.Printf("{\"liveHeap\":%d}\n", memory.HeapAlloc)
	}
}
