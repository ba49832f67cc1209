package kinds

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Foo asks for a Deployment and reports its available replicas: the kind of k8s.io/sample-controller, with the fields
// that a peer reads.
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

// FooList is a list of Foos.
type FooList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Foo `json:"items"`
}

// DeepCopyObject copies; fields that are not copied by value are in the metadata.
func (foo *Foo) DeepCopyObject() runtime.Object { return foo.DeepCopy() }

// DeepCopy copies a Foo.
func (foo *Foo) DeepCopy() *Foo {
	copied := *foo
	copied.ObjectMeta = *foo.ObjectMeta.DeepCopy()
	return &copied
}

// DeepCopyObject copies the list and its items.
func (list *FooList) DeepCopyObject() runtime.Object {
	copied := FooList{TypeMeta: list.TypeMeta, ListMeta: *list.ListMeta.DeepCopy()}
	for index := range list.Items {
		copied.Items = append(copied.Items, *list.Items[index].DeepCopy())
	}
	return &copied
}

// DeploymentOf is the Deployment of a Foo without its owner, as in k8s.io/sample-controller.
func DeploymentOf(foo *Foo) *appsv1.Deployment {
	labels := map[string]string{"app": "nginx", "controller": foo.Name}
	replicas := foo.Spec.Replicas
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: foo.Namespace, Name: foo.Spec.DeploymentName},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas,
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "nginx", Image: "nginx:latest"}}},
			},
		},
	}
}
