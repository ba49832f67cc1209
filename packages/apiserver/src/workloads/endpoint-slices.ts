// Service → EndpointSlices: the pods that a selector matches, with the port numbers that each pod has for the Service's
// ports (endpointslice/reconciler.go). IPv4 only, and one slice for each set of ports, without a limit of endpoints.
import { isDeepStrictEqual } from 'node:util';
import { selectsLabels } from '../checks/workload-rules.ts';
import { controllerReference } from './claim.ts';
import type { WorkloadCluster } from './cluster.ts';
import {
  type EndpointSlice,
  endpointSlices,
  isReady,
  type Pod,
  pods,
  type Service,
  services,
  type WorkloadKey,
} from './objects.ts';

/** The label with the name of a slice's Service. */
export const serviceNameLabel = 'kubernetes.io/service-name';
const managedBy = { 'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.k8s.io' };
const headlessLabel = 'service.kubernetes.io/headless';

/** Without a pod both fields are absent; the API shows them as null. */
type Content = { readonly endpoints?: readonly object[]; readonly ports?: readonly object[] };

/** Reconciles the slices of a Service. The slices of a Service without a selector are written by other clients. */
export async function reconcileService(cluster: WorkloadCluster, key: WorkloadKey): Promise<void> {
  const service = await cluster.get(services, key);
  if (service === undefined || service.metadata.deletionTimestamp !== undefined) return;
  const { namespace, name, labels: ownLabels = {} } = service.metadata;
  const { selector, type, clusterIP } = service.spec;
  if (selector === undefined || type === 'ExternalName') return;
  const labels = {
    ...ownLabels,
    ...managedBy,
    [serviceNameLabel]: name,
    ...(clusterIP === 'None' ? { [headlessLabel]: '' } : {}),
  };
  const selected = (await cluster.list(pods, namespace)).filter(
    ({ metadata, status }) =>
      selectsLabels({ matchLabels: selector }, metadata.labels ?? {}) &&
      status?.podIP !== undefined &&
      status.phase !== 'Succeeded' &&
      status.phase !== 'Failed',
  );
  const remaining = (await cluster.list(endpointSlices, namespace)).filter(
    ({ metadata }) =>
      metadata.labels?.[serviceNameLabel] === name &&
      metadata.ownerReferences?.some(({ uid }) => uid === service.metadata.uid) === true,
  );
  // A slice keeps its set of ports if possible. The remaining slices take the contents that have no slice.
  const unplaced: Content[] = [];
  for (const content of contentsOf(service, selected)) {
    const at = remaining.findIndex(({ ports }) => isDeepStrictEqual(ports ?? [], content.ports ?? []));
    const [slice] = at === -1 ? [] : remaining.splice(at, 1);
    if (slice === undefined) unplaced.push(content);
    else await updateSlice(cluster, slice, labels, content);
  }
  for (const content of unplaced) {
    const slice = remaining.shift();
    if (slice !== undefined) await updateSlice(cluster, slice, labels, content);
    else {
      const ownerReferences = [controllerReference(services, service)];
      const metadata = { generateName: `${name}-`, labels, ownerReferences };
      await cluster.create(endpointSlices, namespace, { metadata, addressType: 'IPv4', ...content });
    }
  }
  for (const slice of remaining) await cluster.remove(endpointSlices, slice);
}

function updateSlice(
  cluster: WorkloadCluster,
  slice: EndpointSlice,
  labels: Readonly<Record<string, string>>,
  content: Content,
): Promise<EndpointSlice> {
  const { endpoints, ports, ...rest } = slice;
  // The API shows an empty list as null.
  const isEqual = (live: unknown, wanted: unknown) => isDeepStrictEqual(live ?? [], wanted ?? []);
  const isCurrent = isEqual(endpoints, content.endpoints) && isEqual(ports, content.ports);
  if (isCurrent && isDeepStrictEqual(slice.metadata.labels, labels)) return Promise.resolve(slice);
  return cluster.replace(endpointSlices, slice, { ...rest, metadata: { ...slice.metadata, labels }, ...content });
}

/** Returns one content for each set of ports, or an empty one if there are no pods. */
function contentsOf(service: Service, selected: readonly Pod[]): readonly Content[] {
  const bySet = new Map<string, { readonly ports: readonly object[]; readonly endpoints: object[] }>();
  for (const pod of [...selected].sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))) {
    const ports = portsOf(service, pod);
    const id = JSON.stringify(ports);
    const content = bySet.get(id) ?? { ports, endpoints: [] };
    bySet.set(id, content);
    content.endpoints.push(endpointOf(service, pod));
  }
  return bySet.size === 0 ? [{}] : [...bySet.values()];
}

function portsOf({ spec }: Service, pod: Pod): readonly object[] {
  const containerPorts = pod.spec.containers.flatMap(({ ports = [] }) => ports);
  return (spec.ports ?? []).flatMap(({ name = '', port, protocol, targetPort = port, appProtocol }) => {
    const named = containerPorts.find((one) => one.name === targetPort && one.protocol === protocol);
    const number = typeof targetPort === 'number' ? targetPort : named?.containerPort;
    if (number === undefined) return [];
    return [{ name, protocol, port: number, ...(appProtocol === undefined ? {} : { appProtocol }) }];
  });
}

function endpointOf({ metadata, spec }: Service, pod: Pod): object {
  const { name, namespace, uid, deletionTimestamp } = pod.metadata;
  const { hostname, subdomain, nodeName } = pod.spec;
  const terminating = deletionTimestamp !== undefined;
  const serving = isReady(pod);
  return {
    addresses: [pod.status?.podIP ?? ''],
    conditions: { ready: spec.publishNotReadyAddresses === true || (serving && !terminating), serving, terminating },
    ...(hostname !== undefined && subdomain === metadata.name ? { hostname } : {}),
    ...(nodeName === undefined ? {} : { nodeName }),
    targetRef: { kind: 'Pod', namespace, name, uid },
  };
}
