package main

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/listers"
	"k8s.io/client-go/tools/cache"

	"outrigger.dev/bench/peers/kinds"
)

type ask func(ctx context.Context, namespace, name string) error

// newValued is a controller that copies the values of a kind, after a call to the external service if there is one.
func newValued[T kinds.Valued](kind *kind[T], ask ask) (*controller, error) {
	controller := newController()
	controller.reconcile = func(ctx context.Context, name cache.ObjectName) error {
		cached, err := listers.NewNamespaced(kind.lister, name.Namespace).Get(name.Name)
		if errors.IsNotFound(err) {
			return nil
		}
		if err != nil {
			return err
		}
		if cached.Observed() {
			return nil
		}
		if ask != nil {
			if err := ask(ctx, name.Namespace, name.Name); err != nil {
				return err
			}
		}
		// The lister's object is shared, so a copy is changed.
		copied, ok := cached.DeepCopyObject().(T)
		if !ok {
			return fmt.Errorf("the copy of a %T is another kind", cached)
		}
		copied.Observe()
		_, err = kind.client(name.Namespace).UpdateStatus(ctx, copied, metav1.UpdateOptions{FieldManager: fieldManager})
		return err
	}
	return controller, controller.watchPrimary(kind.informer)
}
