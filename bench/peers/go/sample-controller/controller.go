package main

import (
	"context"
	"errors"
	"time"

	"golang.org/x/time/rate"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
)

// controller is sample-controller's controller.go without the kind: informers put names on a work queue, workers take
// them off.
type controller struct {
	queue  workqueue.TypedRateLimitingInterface[cache.ObjectName]
	synced []cache.InformerSynced
	// reconcile is the syncHandler.
	reconcile func(ctx context.Context, name cache.ObjectName) error
}

func newController() *controller {
	return &controller{queue: workqueue.NewTypedRateLimitingQueue(workqueue.NewTypedMaxOfRateLimiter(
		workqueue.NewTypedItemExponentialFailureRateLimiter[cache.ObjectName](5*time.Millisecond, 1000*time.Second),
		&workqueue.TypedBucketRateLimiter[cache.ObjectName]{Limiter: rate.NewLimiter(rate.Limit(50), 300)},
	))}
}

// enqueue puts an object's name on the queue.
func (c *controller) enqueue(object any) {
	name, err := cache.ObjectToName(object)
	if err != nil {
		utilruntime.HandleError(err)
		return
	}
	c.queue.Add(name)
}

// watchPrimary puts every new or changed object on the queue, as sample-controller does with Foos.
func (c *controller) watchPrimary(informer cache.SharedIndexInformer) error {
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    c.enqueue,
		UpdateFunc: func(_, updated any) { c.enqueue(updated) },
	})
	c.synced = append(c.synced, informer.HasSynced)
	return err
}

// run runs until the context ends, and calls ready when it has started.
func (c *controller) run(ctx context.Context, workers int, ready func()) error {
	defer utilruntime.HandleCrash()
	defer c.queue.ShutDown()
	if !cache.WaitForCacheSync(ctx.Done(), c.synced...) {
		return errors.New("failed to wait for caches to sync")
	}
	for range workers {
		go wait.UntilWithContext(ctx, func(ctx context.Context) {
			for c.next(ctx) {
			}
		}, time.Second)
	}
	klog.FromContext(ctx).Info("Started workers", "count", workers)
	ready()
	<-ctx.Done()
	return nil
}

// next is processNextWorkItem.
func (c *controller) next(ctx context.Context) bool {
	name, shutdown := c.queue.Get()
	if shutdown {
		return false
	}
	defer c.queue.Done(name)
	if err := c.reconcile(ctx, name); err != nil {
		utilruntime.HandleErrorWithContext(ctx, err, "Error syncing; requeuing for later retry", "objectReference", name)
		c.queue.AddRateLimited(name)
		return true
	}
	c.queue.Forget(name)
	klog.FromContext(ctx).Info("Successfully synced", "objectName", name)
	return true
}
