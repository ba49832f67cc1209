// Service → EndpointSlices: the pods that a selector picks, with the ports that each of them has under the Service's names
// (endpointslice/reconciler.go). IPv4 only, and one slice for each set of ports, however many pods.
import { isDeepStrictEqual } from 'node:util';
import type { ObjectKey } from '../../kube/client/object.ts';
import { controllerReference, selects } from './claim.ts';
import type { WorkloadCluster } from './cluster.ts';
import { type EndpointSlice, endpointSlices, isReady, type Pod, pods, type Service, services } from './objects.ts';

/** Which Service a slice belongs to. */
export const serviceNameLabel = 'kubernetes.io/service-name';
const MANAGED_BY = { 'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.k8s.io' };
const HEADLESS = 'service.kubernetes.io/headless';

/** Without a pod neither is said; the API shows both as null. */
type Content = { readonly endpoints?: readonly object[]; readonly ports?: readonly object[] };

/** Makes a Service's slices so. One without a selector has slices that somebody else writes. */
export async function reconcileService(cluster: WorkloadCluster, key: ObjectKey): Promise<void> {
  const service = await cluster.get(services, key);
  if (service === undefined || service.metadata.deletionTimestamp !== undefined) return;
  const { namespace, name, labels: ownLabels = {} } = service.metadata;
  const { selector, type, clusterIP } = service.spec;
  if (selector === undefined || type === 'ExternalName') return;
  const labels = {
    ...ownLabels,
    ...MANAGED_BY,
    [serviceNameLabel]: name,
    ...(clusterIP === 'None' ? { [HEADLESS]: '' } : {}),
  };
  const picked = (await cluster.list(pods, namespace)).filter(
    ({ metadata, status }) =>
      selects({ matchLabels: selector }, metadata.labels ?? {}) &&
      status?.podIP !== undefined &&
      status.phase !== 'Succeeded' &&
      status.phase !== 'Failed',
  );
  const left = (await cluster.list(endpointSlices, namespace)).filter(
    ({ metadata }) =>
      metadata.labels?.[serviceNameLabel] === name &&
      metadata.ownerReferences?.some(({ uid }) => uid === service.metadata.uid) === true,
  );
  // A slice keeps its ports as long as it can; what then is left over takes the contents that have none.
  const homeless: Content[] = [];
  for (const content of contentsOf(service, picked)) {
    const at = left.findIndex(({ ports }) => isDeepStrictEqual(ports ?? [], content.ports ?? []));
    const [slice] = at === -1 ? [] : left.splice(at, 1);
    if (slice === undefined) homeless.push(content);
    else await fill(cluster, slice, labels, content);
  }
  for (const content of homeless) {
    const slice = left.shift();
    if (slice !== undefined) await fill(cluster, slice, labels, content);
    else {
      const ownerReferences = [controllerReference(services, service)];
      const metadata = { generateName: `${name}-`, labels, ownerReferences };
      await cluster.create(endpointSlices, namespace, { metadata, addressType: 'IPv4', ...content });
    }
  }
  for (const slice of left) await cluster.remove(endpointSlices, slice);
}

function fill(
  cluster: WorkloadCluster,
  slice: EndpointSlice,
  labels: Readonly<Record<string, string>>,
  content: Content,
): Promise<EndpointSlice> {
  const { endpoints, ports, ...rest } = slice;
  // The API shows an empty list as none.
  const same = (live: unknown, wanted: unknown) => isDeepStrictEqual(live ?? [], wanted ?? []);
  const isFilled = same(endpoints, content.endpoints) && same(ports, content.ports);
  if (isFilled && isDeepStrictEqual(slice.metadata.labels, labels)) return Promise.resolve(slice);
  return cluster.replace(endpointSlices, slice, { ...rest, metadata: { ...slice.metadata, labels }, ...content });
}

/** One content for each set of ports; without any pod, an empty one. */
function contentsOf(service: Service, picked: readonly Pod[]): readonly Content[] {
  const bySet = new Map<string, { readonly ports: readonly object[]; readonly endpoints: object[] }>();
  for (const pod of [...picked].sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))) {
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
