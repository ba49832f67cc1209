package kinds

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Valued is a Ping or a Slow: the value of its spec has to be copied to its status.
type Valued interface {
	runtime.Object
	metav1.Object
	// Observed returns whether the status has the spec's value.
	Observed() bool
	// Observe copies the value to the status of this copy.
	Observe()
}

type valued struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              struct {
		Value int64 `json:"value"`
	} `json:"spec"`
	Status struct {
		Observed *int64 `json:"observed,omitempty"`
	} `json:"status,omitempty"`
}

func (one *valued) Observed() bool {
	return one.Status.Observed != nil && *one.Status.Observed == one.Spec.Value
}

func (one *valued) Observe() {
	value := one.Spec.Value
	one.Status.Observed = &value
}

// The pointer in the status is replaced and never written through, so copies may share its target.
func (one *valued) copied() valued {
	copied := *one
	copied.ObjectMeta = *one.ObjectMeta.DeepCopy()
	return copied
}

// Ping is a Valued that is observed at once.
type Ping struct{ valued }

// Slow is a Valued that is observed after a call to the external service.
type Slow struct{ valued }

// DeepCopyObject copies.
func (ping *Ping) DeepCopyObject() runtime.Object { return &Ping{ping.copied()} }

// DeepCopyObject copies.
func (slow *Slow) DeepCopyObject() runtime.Object { return &Slow{slow.copied()} }

type listOf[T any] struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []T `json:"items"`
}

// PingList is a list of Pings.
type PingList struct{ listOf[Ping] }

// SlowList is a list of Slows.
type SlowList struct{ listOf[Slow] }

// DeepCopyObject copies the list and its items.
func (list *PingList) DeepCopyObject() runtime.Object {
	copied := PingList{listOf[Ping]{TypeMeta: list.TypeMeta, ListMeta: *list.ListMeta.DeepCopy()}}
	for index := range list.Items {
		copied.Items = append(copied.Items, Ping{list.Items[index].copied()})
	}
	return &copied
}

// DeepCopyObject copies the list and its items.
func (list *SlowList) DeepCopyObject() runtime.Object {
	copied := SlowList{listOf[Slow]{TypeMeta: list.TypeMeta, ListMeta: *list.ListMeta.DeepCopy()}}
	for index := range list.Items {
		copied.Items = append(copied.Items, Slow{list.Items[index].copied()})
	}
	return &copied
}
