package main

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Foo is the kind, as far as this controller looks at it.
type Foo struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              struct {
		DeploymentName string `json:"deploymentName"`
		Replicas       int32  `json:"replicas"`
	} `json:"spec"`
	Status struct {
		AvailableReplicas int32 `json:"availableReplicas"`
	} `json:"status,omitempty"`
}

// FooList is a list of them.
type FooList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Foo `json:"items"`
}

// DeepCopyObject copies; what is not copied by value is in the metadata.
func (foo *Foo) DeepCopyObject() runtime.Object {
	copied := *foo
	copied.ObjectMeta = *foo.ObjectMeta.DeepCopy()
	return &copied
}

// DeepCopyObject copies the list and its items.
func (list *FooList) DeepCopyObject() runtime.Object {
	copied := FooList{TypeMeta: list.TypeMeta, ListMeta: *list.ListMeta.DeepCopy()}
	for index := range list.Items {
		foo := list.Items[index]
		foo.ObjectMeta = *list.Items[index].ObjectMeta.DeepCopy()
		copied.Items = append(copied.Items, foo)
	}
	return &copied
}
