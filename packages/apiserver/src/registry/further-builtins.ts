// Built-in kinds that a user's controller may own or reconcile besides those of builtins.ts: batch, networking,
// scaling, quotas, storage and nodes. Their defaults are what a real kube-apiserver returns for the smallest object of
// each kind (test/conformance/further-kinds.test.ts).

import { jobLabels } from '../checks/job-rules.ts';
import { getMap, isList, type JsonObject } from '../json.ts';
import { type ApiObject, withMetadata } from '../object.ts';
import { inSpec, sameSpec } from './builtin-defaults.ts';
import type { ResourceDefinition } from './resource.ts';

const all = { categories: ['all'] };
const clusterScoped = { namespaced: false };
const withStatus = { status: true };

const uidLabel = 'batch.kubernetes.io/controller-uid';

const jobSpec = (spec: JsonObject, { metadata }: ApiObject, old: ApiObject | undefined): JsonObject => {
  const counted = spec.completions === undefined && spec.parallelism === undefined ? { completions: 1 } : {};
  const manual = spec.manualSelector === true || old !== undefined;
  const given = getMap(spec, 'template');
  const labels = { ...getMap(given, 'metadata', 'labels'), ...jobLabels(metadata) };
  const templated = manual ? given : { ...given, metadata: { ...getMap(given, 'metadata'), labels } };
  const uid = metadata.uid ?? '';
  const selector = getMap(spec, 'selector');
  return {
    parallelism: 1,
    ...counted,
    // With a limit for each index there is none for all.
    backoffLimit: spec.backoffLimitPerIndex === undefined ? 6 : 2_147_483_647,
    completionMode: 'NonIndexed',
    manualSelector: false,
    podReplacementPolicy: spec.podFailurePolicy === undefined ? 'TerminatingOrFailed' : 'Failed',
    suspend: false,
    ...spec,
    ...(manual
      ? {}
      : { selector: { ...selector, matchLabels: { ...getMap(selector, 'matchLabels'), [uidLabel]: uid } } }),
    template: templated,
  };
};

/** A Job without labels has those of its template. */
function withTemplateLabels(job: ApiObject, { metadata, spec }: ApiObject): ApiObject {
  const labels = getMap(spec ?? {}, 'template', 'metadata', 'labels');
  const isMissing = Object.keys(metadata.labels ?? {}).length === 0 && Object.keys(labels).length > 0;
  return isMissing ? withMetadata(job, { labels }) : job;
}

function prepareJob(object: ApiObject, old: ApiObject | undefined): ApiObject {
  const complete = withTemplateLabels(inSpec(jobSpec, {})(object, old), object);
  if (old !== undefined || getMap(object, 'spec').manualSelector === true) return complete;
  return withMetadata(complete, { labels: { ...complete.metadata.labels, ...jobLabels(object.metadata) } });
}

/** The source of a claim has an older field and a newer one. Each is filled in from the other. */
const bothSources = (spec: JsonObject): JsonObject => {
  const { dataSourceRef: given, dataSource, ...rest } = spec;
  // A source in another namespace is dropped without its feature gate.
  const dataSourceRef = getMap(given ?? {}).namespace === undefined ? given : undefined;
  const { kind, apiGroup = '' } = getMap(spec, 'dataSource');
  // The older field is dropped if it names neither a claim nor a snapshot.
  const isClaim = kind === 'PersistentVolumeClaim' && apiGroup === '';
  const isKnown = isClaim || (kind === 'VolumeSnapshot' && apiGroup === 'snapshot.storage.k8s.io');
  const source = isKnown || dataSourceRef !== undefined ? (dataSource ?? dataSourceRef) : undefined;
  if (source === undefined) return rest;
  return { ...rest, dataSource: source, dataSourceRef: dataSourceRef ?? source };
};

const emptyNode: JsonObject = {
  daemonEndpoints: { kubeletEndpoint: { Port: 0 } },
  nodeInfo: Object.fromEntries(
    [
      ...['machineID', 'systemUUID', 'bootID', 'kernelVersion', 'osImage', 'containerRuntimeVersion'],
      ...['kubeletVersion', 'kubeProxyVersion', 'operatingSystem', 'architecture'],
    ].map((field) => [field, '']),
  ),
};

/** A new node is not ready (the admission plugin TaintNodesByCondition). */
const nodeSpec = (spec: JsonObject, _: ApiObject, old: ApiObject | undefined): JsonObject => {
  if (old !== undefined) return spec;
  const taint = { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' };
  return { ...spec, taints: [...(isList(spec.taints) ? spec.taints : []), taint] };
};

/** Kinds of the core group. */
export const furtherCoreKinds: readonly ResourceDefinition[] = [
  {
    kind: 'PersistentVolumeClaim',
    plural: 'persistentvolumeclaims',
    shortNames: ['pvc'],
    ...withStatus,
    prepare: inSpec(bothSources, { phase: 'Pending' }),
    returnsDeleted: true,
  },
  {
    kind: 'PersistentVolume',
    plural: 'persistentvolumes',
    shortNames: ['pv'],
    ...clusterScoped,
    ...withStatus,
    prepare: inSpec(sameSpec, { phase: 'Pending' }),
    returnsDeleted: true,
  },
  {
    kind: 'Node',
    plural: 'nodes',
    shortNames: ['no'],
    ...clusterScoped,
    ...withStatus,
    selectable: ['spec.unschedulable'],
    prepare: inSpec(nodeSpec, emptyNode),
  },
  {
    kind: 'ResourceQuota',
    plural: 'resourcequotas',
    shortNames: ['quota'],
    ...withStatus,
    prepare: inSpec(sameSpec, {}),
    returnsDeleted: true,
  },
  { kind: 'LimitRange', plural: 'limitranges', shortNames: ['limits'], prepare: inSpec(sameSpec) },
];

/** DaemonSet, which has no scale subresource. */
export const daemonSetKind: ResourceDefinition = {
  kind: 'DaemonSet',
  plural: 'daemonsets',
  shortNames: ['ds'],
  ...all,
  ...withStatus,
  generation: 'spec',
  prepare: inSpec(sameSpec, {
    ...{ currentNumberScheduled: 0, numberMisscheduled: 0, desiredNumberScheduled: 0, numberReady: 0 },
  }),
};

/** Kinds of other groups. Their versions are v1 unless they name another. */
export const furtherGroups: readonly {
  readonly group: string;
  readonly schemas: string;
  readonly kinds: readonly ResourceDefinition[];
}[] = [
  {
    group: 'batch',
    schemas: 'io.k8s.api.batch.v1',
    kinds: [
      {
        kind: 'Job',
        plural: 'jobs',
        ...all,
        ...withStatus,
        generation: 'spec',
        prepare: prepareJob,
        returnsDeleted: true,
      },
      {
        kind: 'CronJob',
        plural: 'cronjobs',
        shortNames: ['cj'],
        ...all,
        ...withStatus,
        generation: 'spec',
        prepare: inSpec(sameSpec, {}),
      },
    ],
  },
  {
    group: 'networking.k8s.io',
    schemas: 'io.k8s.api.networking.v1',
    kinds: [
      {
        kind: 'Ingress',
        plural: 'ingresses',
        shortNames: ['ing'],
        ...withStatus,
        generation: 'spec',
        prepare: inSpec(sameSpec, { loadBalancer: {} }),
      },
      {
        kind: 'IngressClass',
        plural: 'ingressclasses',
        ...clusterScoped,
        generation: 'spec',
        prepare: inSpec(sameSpec),
      },
      {
        kind: 'NetworkPolicy',
        plural: 'networkpolicies',
        shortNames: ['netpol'],
        generation: 'spec',
        prepare: inSpec(sameSpec),
      },
    ],
  },
  {
    group: 'autoscaling',
    schemas: 'io.k8s.api.autoscaling.v2',
    kinds: [
      {
        kind: 'HorizontalPodAutoscaler',
        version: 'v2',
        plural: 'horizontalpodautoscalers',
        shortNames: ['hpa'],
        ...all,
        ...withStatus,
        prepare: inSpec(sameSpec, {
          desiredReplicas: 0,
          currentMetrics: null,
        }),
      },
    ],
  },
  {
    group: 'policy',
    schemas: 'io.k8s.api.policy.v1',
    kinds: [
      {
        kind: 'PodDisruptionBudget',
        needsVersion: true,
        plural: 'poddisruptionbudgets',
        shortNames: ['pdb'],
        ...withStatus,
        generation: 'spec',
        prepare: inSpec(sameSpec, { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 }),
      },
    ],
  },
  {
    group: 'storage.k8s.io',
    schemas: 'io.k8s.api.storage.v1',
    kinds: [
      {
        kind: 'StorageClass',
        plural: 'storageclasses',
        shortNames: ['sc'],
        ...clusterScoped,
        returnsDeleted: true,
      },
    ],
  },
  {
    group: 'scheduling.k8s.io',
    schemas: 'io.k8s.api.scheduling.v1',
    kinds: [
      {
        kind: 'PriorityClass',
        plural: 'priorityclasses',
        shortNames: ['pc'],
        ...clusterScoped,
        // It has a generation, which no change raises.
        generation: 'spec',
      },
    ],
  },
];
