// The built-in kinds of this server: those that Outrigger's client, kubectl, the sample controllers and the controllers
// of users use. What a write fills in is in builtin-defaults.ts, and what it refuses in apiserver/checks.
import { checkContent } from '../checks/check-content.ts';
import { checkPodUpdate } from '../checks/pod-update.ts';
import { isApiObject } from '../object.ts';
import { publishedSchemas } from '../schema/builtins.ts';
import { inSpec, prepares } from './builtin-defaults.ts';
import { builtinColumns, plainColumns } from './columns.ts';
import { fillTypeDefaults } from './default-values.ts';
import { checkDefinition } from './definition.ts';
import { namespaceNameError, pathSegmentError } from './names.ts';
import type { ApiResource } from './resource.ts';
import { createServiceSpec } from './service-defaults.ts';

/**
 * The groups, and the kinds of each: kind, plural, short names, and words. `cluster`: without a namespace. `all`: of
 * this category. `status`, `scale`: has the subresource. `spec`, `annotations`, `content`: what raises its generation.
 * `deleted`: a DELETE returns the object. `versioned`: a PUT has a resourceVersion. `upsert`: a PUT creates an object
 * that does not exist. `segment`: a name is any segment of a path. The annotations of a Deployment are copied to its
 * ReplicaSets. No change raises the generation of a PriorityClass.
 */
const kinds = `
io.k8s.api.core.v1
  Namespace namespaces ns cluster status deleted
  ConfigMap configmaps cm
  Secret secrets -
  Service services svc all status deleted upsert
  ServiceAccount serviceaccounts sa deleted
  Event events ev upsert
  Pod pods po all status spec deleted
  PersistentVolumeClaim persistentvolumeclaims pvc status deleted
  PersistentVolume persistentvolumes pv cluster status deleted
  Node nodes no cluster status
  ResourceQuota resourcequotas quota status deleted
  LimitRange limitranges limits upsert
io.k8s.api.apps.v1 apps
  Deployment deployments deploy all status scale annotations
  ReplicaSet replicasets rs all status scale spec
  StatefulSet statefulsets sts all status scale spec
  DaemonSet daemonsets ds all status spec
io.k8s.api.discovery.v1 discovery.k8s.io
  EndpointSlice endpointslices - content
io.k8s.api.events.v1 events.k8s.io
  Event events ev upsert
io.k8s.api.coordination.v1 coordination.k8s.io
  Lease leases - versioned upsert
io.k8s.api.rbac.v1 rbac.authorization.k8s.io
  Role roles - segment upsert
  ClusterRole clusterroles - segment cluster upsert
  RoleBinding rolebindings - segment upsert
  ClusterRoleBinding clusterrolebindings - segment cluster upsert
io.k8s.api.admissionregistration.v1 admissionregistration.k8s.io
  ValidatingAdmissionPolicy validatingadmissionpolicies - cluster status spec versioned
  ValidatingAdmissionPolicyBinding validatingadmissionpolicybindings - cluster spec versioned
io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1 apiextensions.k8s.io
  CustomResourceDefinition customresourcedefinitions crd,crds cluster status spec versioned
io.k8s.api.batch.v1 batch
  Job jobs - all status spec deleted
  CronJob cronjobs cj all status spec
io.k8s.api.networking.v1 networking.k8s.io
  Ingress ingresses ing status spec
  IngressClass ingressclasses - cluster spec
  NetworkPolicy networkpolicies netpol spec
io.k8s.api.autoscaling.v2 autoscaling v2
  HorizontalPodAutoscaler horizontalpodautoscalers hpa all status
io.k8s.api.policy.v1 policy
  PodDisruptionBudget poddisruptionbudgets pdb status spec versioned
io.k8s.api.storage.v1 storage.k8s.io
  StorageClass storageclasses sc cluster deleted
io.k8s.api.scheduling.v1 scheduling.k8s.io
  PriorityClass priorityclasses pc cluster spec
`;

const involved = ['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath'];
const eventFields = [
  ...involved.map((field) => `involvedObject.${field}`),
  ...['reason', 'reportingComponent', 'source', 'type'],
];

/** What the words do not say, by the kind, and for a kind of two groups by its schema. */
const further: Readonly<Record<string, Partial<ApiResource>>> = {
  Namespace: { nameError: namespaceNameError, selectable: ['status.phase'] },
  Secret: { selectable: ['type'] },
  Service: {
    nameError: namespaceNameError,
    selectable: ['spec.clusterIP', 'spec.type'],
  },
  Deployment: { statusKeeps: ['labels'] },
  ValidatingAdmissionPolicy: { statusKeeps: 'all' },
  Pod: {
    statusKeeps: ['ownerReferences'],
    connects: [{ name: 'exec', kind: 'PodExecOptions' }],
    selectable: [
      ...['spec.nodeName', 'spec.restartPolicy', 'spec.schedulerName', 'spec.serviceAccountName'],
      ...['status.phase', 'status.podIP'],
    ],
    check: checkPodUpdate,
  },
  Node: { selectable: ['spec.unschedulable'] },
  Event: { selectable: eventFields },
  // The same objects with other field names. They are stored in the form of the core group, which kubectl reads.
  'io.k8s.api.events.v1.Event': {
    alias: {
      collection: '/events',
      apiVersion: 'v1',
      fields: {
        regarding: 'involvedObject',
        note: 'message',
        reportingController: 'reportingComponent',
        deprecatedSource: 'source',
        deprecatedFirstTimestamp: 'firstTimestamp',
        deprecatedLastTimestamp: 'lastTimestamp',
        deprecatedCount: 'count',
      },
    },
  },
  CustomResourceDefinition: {
    categories: ['api-extensions'],
    check: checkDefinition,
  },
};

const scale = {
  specReplicas: ['spec', 'replicas'],
  statusReplicas: ['status', 'replicas'],
  selector: ['spec', 'selector'],
};

/** The built-in kinds, for all servers of a process. */
const shared = readKinds().map((words) => ({ words, resource: resourceOf(words, prepares[words.kind]) }));

/** Returns the built-in kinds. Those of Services are of one server, which counts the addresses that it gives them. */
export function builtinResources(): readonly ApiResource[] {
  const ofServer = inSpec(createServiceSpec());
  return shared.map(({ words, resource }) => (words.kind === 'Service' ? resourceOf(words, ofServer) : resource));
}

function readKinds(): readonly Words[] {
  let [prefix = '', group = '', version = 'v1']: string[] = [];
  return kinds
    .trim()
    .split('\n')
    .flatMap((line) => {
      if (!line.startsWith(' ')) {
        [prefix = '', group = '', version = 'v1'] = line.split(' ');
        return [];
      }
      const [kind = '', ...words] = line.trim().split(' ');
      return [{ prefix, group, version, kind, words }];
    });
}

type Words = {
  readonly prefix: string;
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly words: readonly string[];
};

function resourceOf(
  { prefix, group, version, kind, words: [plural = '', short = '', ...words] }: Words,
  prepare: (typeof prepares)[string] | undefined,
): ApiResource {
  const has = (word: string): boolean => words.includes(word);
  const schemaName = `${prefix}.${kind}`;
  const more = { ...further[kind], ...further[schemaName] };
  return {
    group,
    version,
    kind,
    listKind: `${kind}List`,
    plural,
    singular: kind.toLowerCase(),
    shortNames: short === '-' ? [] : short.split(','),
    categories: has('all') ? ['all'] : [],
    namespaced: !has('cluster'),
    custom: false,
    schemaName,
    get schema() {
      return publishedSchemas.resolved(schemaName);
    },
    status: has('status'),
    statusKeeps: [],
    ...(has('scale') ? { scale } : {}),
    generation: has('annotations')
      ? 'spec-and-annotations'
      : has('content')
        ? 'content'
        : has('spec')
          ? 'spec'
          : 'none',
    columns: builtinColumns[kind] ?? plainColumns,
    selectable: [],
    needsVersion: has('versioned'),
    putCreates: has('upsert'),
    returnsDeleted: has('deleted'),
    ...(has('segment') ? { nameError: pathSegmentError } : {}),
    ...more,
    prepare: (object, old, subresource) => {
      const schema = publishedSchemas.resolved(schemaName);
      const filled = fillTypeDefaults(
        schema.properties?.spec === undefined ? object : { ...object, spec: object.spec ?? {} },
        schema,
      );
      const complete = isApiObject(filled) ? filled : object;
      return subresource === 'status' ? complete : (prepare?.(complete, old) ?? complete);
    },
    check: (object, old) => [
      ...checkContent(object, old, publishedSchemas.resolved(schemaName), 'content'),
      ...(more.check?.(object, old) ?? []),
    ],
    checkStatus: (object, old) => checkContent(object, old, publishedSchemas.resolved(schemaName), 'status'),
  };
}
