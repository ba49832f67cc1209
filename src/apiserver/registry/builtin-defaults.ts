// What kube-apiserver fills into built-in objects, as far as the world of one machine sees it: workloads that say how many, and
// Services, Namespaces and Secrets in the shape that clients expect back.
import { isObject, type Json, type JsonObject, listAt, objectAt, textAt } from '../json.ts';
import { type ApiObject, withMetadata } from '../object.ts';

/** Service addresses are 10.0.0.1 to 10.0.0.254, and then the first ones again: nothing routes to them here. */
const LAST_ADDRESS = 254;

type Defaults = (spec: JsonObject, object: ApiObject, old: ApiObject | undefined) => JsonObject;

/** Returns a `prepare` that completes the spec; a new object begins with `status`. */
export function inSpec(
  complete: Defaults,
  status?: JsonObject,
): (object: ApiObject, old: ApiObject | undefined) => ApiObject {
  return (object, old) => ({
    ...object,
    spec: complete(objectAt(object, 'spec'), object, old),
    ...(status === undefined || old !== undefined ? {} : { status }),
  });
}

/** A Deployment's spec. */
export const deploymentSpec: Defaults = (spec) => ({
  replicas: 1,
  revisionHistoryLimit: 10,
  progressDeadlineSeconds: 600,
  ...spec,
  strategy: strategy(objectAt(spec, 'strategy')),
  template: template(objectAt(spec, 'template')),
});

function strategy(given: JsonObject): JsonObject {
  const type = textAt(given, 'type') || 'RollingUpdate';
  if (type !== 'RollingUpdate') return { ...given, type };
  return { type, rollingUpdate: { maxUnavailable: '25%', maxSurge: '25%', ...objectAt(given, 'rollingUpdate') } };
}

/** A ReplicaSet's spec. */
export const replicaSetSpec: Defaults = (spec) => ({
  replicas: 1,
  ...spec,
  ...(isObject(spec.template) ? { template: template(spec.template) } : {}),
});

/** A StatefulSet's spec. */
export const statefulSetSpec: Defaults = (spec) => ({
  replicas: 1,
  revisionHistoryLimit: 10,
  podManagementPolicy: 'OrderedReady',
  updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 0 } },
  persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain', whenScaled: 'Retain' },
  ...spec,
  template: template(objectAt(spec, 'template')),
});

function template(given: JsonObject): JsonObject {
  return { metadata: {}, ...given, spec: podSpec(objectAt(given, 'spec')) };
}

/** A Pod's spec. */
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
  const image = textAt(given, 'image');
  const tag = /:([^/@]+)$/.exec(image)?.[1] ?? (image.includes('@') ? 'digest' : 'latest');
  const probes = ['livenessProbe', 'readinessProbe', 'startupProbe'].filter((field) => given[field] !== undefined);
  return {
    terminationMessagePath: '/dev/termination-log',
    terminationMessagePolicy: 'File',
    imagePullPolicy: tag === 'latest' ? 'Always' : 'IfNotPresent',
    resources: {},
    ...given,
    ...(given.ports === undefined ? {} : { ports: each(given.ports, (port) => ({ protocol: 'TCP', ...port })) }),
    ...Object.fromEntries(probes.map((field) => [field, probe(objectAt(given, field))])),
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
    ...Object.fromEntries(sources.map((field) => [field, { defaultMode: 420, ...objectAt(given, field) }])),
  };
}

/** Returns the defaults of a Service's spec, with addresses of its own for each server. */
export function createServiceSpec(): Defaults {
  let allocated = 0;
  const address = (): string => {
    allocated = (allocated % LAST_ADDRESS) + 1;
    return `10.0.0.${allocated}`;
  };
  return (spec, _object, old) => {
    const type = textAt(spec, 'type') || 'ClusterIP';
    const ports = each(spec.ports ?? [], (port) => ({
      protocol: 'TCP',
      ...(port.port === undefined ? {} : { targetPort: port.port }),
      ...port,
    }));
    const plain = { sessionAffinity: 'None', ...spec, type, ...(ports.length === 0 ? {} : { ports }) };
    if (type === 'ExternalName') return plain;
    const clusterIP = textAt(spec, 'clusterIP') || textAt(old, 'spec', 'clusterIP') || address();
    const shared = { internalTrafficPolicy: 'Cluster', ipFamilies: ['IPv4'], ipFamilyPolicy: 'SingleStack' };
    return { ...shared, ...plain, clusterIP, clusterIPs: [clusterIP] };
  };
}

/** A Namespace: the label that names it, and what namespaces have from their first moment. */
export function prepareNamespace(object: ApiObject, old: ApiObject | undefined): ApiObject {
  const labels = { 'kubernetes.io/metadata.name': object.metadata.name ?? '', ...object.metadata.labels };
  const status = old === undefined ? { phase: 'Active' } : objectAt(object, 'status');
  return { ...withMetadata(object, { labels }), spec: { finalizers: ['kubernetes'] }, status };
}

/** A Secret: what was given as text is stored as bytes. */
export function prepareSecret(object: ApiObject): ApiObject {
  const { stringData, ...rest } = object;
  const written = Object.entries(objectAt({ stringData: stringData ?? {} }, 'stringData')).map(([key, value]) => [
    key,
    Buffer.from(typeof value === 'string' ? value : '').toString('base64'),
  ]);
  const data = { ...objectAt(object, 'data'), ...Object.fromEntries(written) };
  const { apiVersion, kind, metadata } = object;
  return { type: 'Opaque', ...rest, apiVersion, kind, metadata, ...(Object.keys(data).length === 0 ? {} : { data }) };
}

/** A new Pod waits to be scheduled. */
export function preparePod(object: ApiObject, old: ApiObject | undefined): ApiObject {
  const complete = { ...object, spec: { enableServiceLinks: true, ...podSpec(objectAt(object, 'spec')) } };
  return old === undefined ? { ...complete, status: { phase: 'Pending', qosClass: 'BestEffort' } } : complete;
}

/** A binding names the group of its role, and each subject its own. */
export function prepareBinding(object: ApiObject): ApiObject {
  const group = 'rbac.authorization.k8s.io';
  const subjects = each(object.subjects ?? [], (subject) =>
    subject.kind === 'ServiceAccount' ? subject : { apiGroup: group, ...subject },
  );
  return {
    ...object,
    roleRef: { apiGroup: group, ...objectAt(object, 'roleRef') },
    ...(subjects.length === 0 ? {} : { subjects }),
  };
}

/** An EndpointSlice's ports are TCP unless they say otherwise. */
export function prepareEndpointSlice(object: ApiObject): ApiObject {
  if (object.ports === undefined) return object;
  return { ...object, ports: each(object.ports, (port) => ({ name: '', protocol: 'TCP', ...port })) };
}

/** An admission policy's spec. */
export const admissionPolicySpec: Defaults = (spec) => {
  const constraints = objectAt(spec, 'matchConstraints');
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
  return listAt({ list: list ?? [] }, 'list').map((item) => complete(isObject(item) ? item : {}));
}
