// Defaults of built-in kinds, limited to the fields that clients of this server read: workloads, Pods, Services,
// Namespaces, Secrets, bindings, EndpointSlices and admission policies.
import { getList, getMap, getString, isObject, type Json, type JsonObject } from '../json.ts';
import { type ApiObject, withMetadata } from '../object.ts';

/**
 * Services get the addresses 10.0.0.1 to 10.0.0.254 in turn. They repeat after that, because nothing routes to them.
 */
const lastAddress = 254;
/** kube-apiserver's default --service-node-port-range: 30000-32767. */
const firstNodePort = 30_000;
const nodePortCount = 2_768;

type Defaults = (spec: JsonObject, object: ApiObject, old: ApiObject | undefined) => JsonObject;

/** Returns a `prepare` that completes the spec and sets the `status` of a new object. */
export function inSpec(
  complete: Defaults,
  status?: JsonObject,
): (object: ApiObject, old: ApiObject | undefined) => ApiObject {
  return (object, old) => ({
    ...object,
    spec: complete(getMap(object, 'spec'), object, old),
    ...(status === undefined || old !== undefined ? {} : { status }),
  });
}

/** Defaults of the spec of a Deployment. */
export const deploymentSpec: Defaults = (spec) => ({
  replicas: 1,
  revisionHistoryLimit: 10,
  progressDeadlineSeconds: 600,
  ...spec,
  strategy: strategy(getMap(spec, 'strategy')),
  template: podTemplate(getMap(spec, 'template')),
});

function strategy(given: JsonObject): JsonObject {
  const type = getString(given, 'type') || 'RollingUpdate';
  if (type !== 'RollingUpdate') return { ...given, type };
  return { type, rollingUpdate: { maxUnavailable: '25%', maxSurge: '25%', ...getMap(given, 'rollingUpdate') } };
}

/** Defaults of the spec of a ReplicaSet. */
export const replicaSetSpec: Defaults = (spec) => ({
  replicas: 1,
  ...spec,
  ...(isObject(spec.template) ? { template: podTemplate(spec.template) } : {}),
});

/** Defaults of the spec of a StatefulSet. */
export const statefulSetSpec: Defaults = (spec) => ({
  replicas: 1,
  revisionHistoryLimit: 10,
  podManagementPolicy: 'OrderedReady',
  updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 0 } },
  persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain', whenScaled: 'Retain' },
  ...spec,
  template: podTemplate(getMap(spec, 'template')),
});

/** Adds the defaults of a pod template. */
export function podTemplate(given: JsonObject): JsonObject {
  return { metadata: {}, ...given, spec: podSpec(getMap(given, 'spec')) };
}

/** Adds the defaults of the spec of a Pod. */
function podSpec(spec: JsonObject): JsonObject {
  const lists = ['containers', 'initContainers'].filter((field) => spec[field] !== undefined);
  return {
    restartPolicy: 'Always',
    terminationGracePeriodSeconds: 30,
    dnsPolicy: 'ClusterFirst',
    securityContext: {},
    schedulerName: 'default-scheduler',
    ...spec,
    ...Object.fromEntries(lists.map((field) => [field, each(spec[field], container)])),
    ...(spec.volumes === undefined ? {} : { volumes: each(spec.volumes, volume) }),
  };
}

function container(given: JsonObject): JsonObject {
  const image = getString(given, 'image');
  const tag = /:([^/@]+)$/.exec(image)?.[1] ?? (image.includes('@') ? 'digest' : 'latest');
  const probes = ['livenessProbe', 'readinessProbe', 'startupProbe'].filter((field) => given[field] !== undefined);
  return {
    terminationMessagePath: '/dev/termination-log',
    terminationMessagePolicy: 'File',
    imagePullPolicy: tag === 'latest' ? 'Always' : 'IfNotPresent',
    resources: {},
    ...given,
    ...(given.ports === undefined ? {} : { ports: each(given.ports, (port) => ({ protocol: 'TCP', ...port })) }),
    ...Object.fromEntries(probes.map((field) => [field, probe(getMap(given, field))])),
  };
}

function probe(given: JsonObject): JsonObject {
  const get = given.httpGet;
  return {
    timeoutSeconds: 1,
    periodSeconds: 10,
    successThreshold: 1,
    failureThreshold: 3,
    ...given,
    ...(isObject(get) ? { httpGet: { path: '/', scheme: 'HTTP', ...get } } : {}),
  };
}

function volume(given: JsonObject): JsonObject {
  const sources = ['configMap', 'secret', 'projected', 'downwardAPI'].filter((field) => isObject(given[field]));
  return {
    ...given,
    ...Object.fromEntries(sources.map((field) => [field, { defaultMode: 420, ...getMap(given, field) }])),
  };
}

/** Returns the defaults of the spec of a Service. Each server counts its own addresses and node ports. */
export function createServiceSpec(): Defaults {
  let allocated = 0;
  const address = (): string => {
    allocated = (allocated % lastAddress) + 1;
    return `10.0.0.${allocated}`;
  };
  let nodePorts = 0;
  const nodePort = (): number => {
    nodePorts = (nodePorts % nodePortCount) + 1;
    return firstNodePort + nodePorts - 1;
  };
  return (spec, _object, old) => {
    const type = getString(spec, 'type') || 'ClusterIP';
    const isExposed = type === 'NodePort' || type === 'LoadBalancer';
    const before = each(getMap(old, 'spec').ports ?? [], (port) => port);
    const ports = each(spec.ports ?? [], ({ targetPort = 0, ...port }) => {
      const complete: JsonObject = { protocol: 'TCP', ...port };
      const target = targetPort === 0 || targetPort === '' ? port.port : targetPort;
      const same = before.find((one) => one.port === complete.port && one.protocol === complete.protocol);
      const exposed = isExposed ? { nodePort: complete.nodePort ?? same?.nodePort ?? nodePort() } : {};
      return { ...complete, ...(target === undefined ? {} : { targetPort: target }), ...exposed };
    });
    const clientIP = { timeoutSeconds: 10_800, ...getMap(spec, 'sessionAffinityConfig', 'clientIP') };
    const affinity = spec.sessionAffinity === 'ClientIP' ? { sessionAffinityConfig: { clientIP } } : {};
    const plain = {
      sessionAffinity: 'None',
      ...(isExposed ? { externalTrafficPolicy: 'Cluster' } : {}),
      ...(type === 'LoadBalancer' ? { allocateLoadBalancerNodePorts: true } : {}),
      ...{ ...spec, ...affinity, type },
      ...(ports.length === 0 ? {} : { ports }),
    };
    if (type === 'ExternalName') return plain;
    const clusterIP = getString(spec, 'clusterIP') || getString(old, 'spec', 'clusterIP') || address();
    const shared = { internalTrafficPolicy: 'Cluster', ipFamilies: ['IPv4'], ipFamilyPolicy: 'SingleStack' };
    return { ...shared, ...plain, clusterIP, clusterIPs: [clusterIP] };
  };
}

/** Completes a Namespace: the label with its name, the finalizer in its spec, and its phase. */
export function prepareNamespace(object: ApiObject, old: ApiObject | undefined): ApiObject {
  const labels = { 'kubernetes.io/metadata.name': object.metadata.name ?? '', ...object.metadata.labels };
  const status = old === undefined ? { phase: 'Active' } : getMap(object, 'status');
  return { ...withMetadata(object, { labels }), spec: { finalizers: ['kubernetes'] }, status };
}

/** Completes a Secret: `stringData` is stored as base64 in `data`. */
export function prepareSecret(object: ApiObject): ApiObject {
  const { stringData, ...rest } = object;
  const encoded = Object.entries(getMap({ stringData: stringData ?? {} }, 'stringData')).map(([key, value]) => [
    key,
    Buffer.from(typeof value === 'string' ? value : '').toString('base64'),
  ]);
  const data = { ...getMap(object, 'data'), ...Object.fromEntries(encoded) };
  const { apiVersion, kind, metadata } = object;
  return { type: 'Opaque', ...rest, apiVersion, kind, metadata, ...(Object.keys(data).length === 0 ? {} : { data }) };
}

/** Completes a Pod. A new Pod is Pending. */
export function preparePod(object: ApiObject, old: ApiObject | undefined): ApiObject {
  const complete = { ...object, spec: { enableServiceLinks: true, ...podSpec(getMap(object, 'spec')) } };
  return old === undefined ? { ...complete, status: { phase: 'Pending', qosClass: 'BestEffort' } } : complete;
}

/** Completes a binding: the API group of its role and of each subject. */
export function prepareBinding(object: ApiObject): ApiObject {
  const group = 'rbac.authorization.k8s.io';
  const subjects = each(object.subjects ?? [], (subject) =>
    subject.kind === 'ServiceAccount' ? subject : { apiGroup: group, ...subject },
  );
  return {
    ...object,
    roleRef: { apiGroup: group, ...getMap(object, 'roleRef') },
    ...(subjects.length === 0 ? {} : { subjects }),
  };
}

/** Completes an EndpointSlice: the default protocol of its ports is TCP. */
export function prepareEndpointSlice(object: ApiObject): ApiObject {
  if (object.ports === undefined) return object;
  return { ...object, ports: each(object.ports, (port) => ({ name: '', protocol: 'TCP', ...port })) };
}

/** Defaults of the spec of a ValidatingAdmissionPolicy. */
export const admissionPolicySpec: Defaults = (spec) => {
  const constraints = getMap(spec, 'matchConstraints');
  const rules = each(constraints.resourceRules ?? [], (rule) => ({ scope: '*', ...rule }));
  return {
    failurePolicy: 'Fail',
    ...spec,
    ...(spec.matchConstraints === undefined
      ? {}
      : {
          matchConstraints: {
            matchPolicy: 'Equivalent',
            namespaceSelector: {},
            objectSelector: {},
            ...constraints,
            ...(rules.length === 0 ? {} : { resourceRules: rules }),
          },
        }),
  };
};

function each(list: Json | undefined, complete: (item: JsonObject) => JsonObject): JsonObject[] {
  return getList({ list: list ?? [] }, 'list').map((item) => complete(isObject(item) ? item : {}));
}
