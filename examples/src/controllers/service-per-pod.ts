// service-per-pod of Metacontroller: a StatefulSet with two annotations gets a Service for each of its pods.
import { TerminalError } from 'outrigger';
import { Service, StatefulSet } from 'outrigger/kubernetes';

/** The label by which a Service finds its pod. Kubernetes sets `statefulset.kubernetes.io/pod-name` itself. */
const labelAnnotation = 'service-per-pod-label';
/** The ports: `80:8080,443:8443`, each with that of the pod. */
const portsAnnotation = 'service-per-pod-ports';

export const servicePerPod = StatefulSet.controller('service-per-pod', {
  selector: { annotations: [labelAnnotation, portsAnnotation] },
  owns: [Service],

  async reconcile({ metadata: { name, annotations = {} }, spec }, { applyAll }) {
    const label = annotations[labelAnnotation] ?? '';
    const ports = portsOf(annotations[portsAnnotation] ?? '');
    const start = spec?.ordinals?.start ?? 0;
    const pods = Array.from({ length: spec?.replicas ?? 1 }, (_, index) => `${name}-${start + index}`);
    // Exactly these: the Services of pods that are no more are deleted. A StatefulSet that loses an annotation loses
    // all of them.
    await applyAll(
      Service,
      pods.map((pod) => ({ metadata: { name: pod }, spec: { selector: { [label]: pod }, ports } })),
      { exact: ['spec.ports', 'spec.selector'] },
    );
  },
});

function portsOf(text: string) {
  return text.split(',').map((pair) => {
    const [, port, targetPort = port] = /^\s*(\d{1,5})(?::(\d{1,5}))?\s*$/.exec(pair) ?? [];
    if (port === undefined) throw new TerminalError(`${portsAnnotation}: ${pair} is not like 80:8080`);
    return { name: `port-${port}`, port: Number(port), targetPort: Number(targetPort) };
  });
}
