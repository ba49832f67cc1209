// Built-in kinds that a user's controller may own or reconcile besides those of builtins.ts: batch, networking,
// scaling, quotas, storage and nodes. Their defaults are what a real kube-apiserver returns for the smallest object of
// each kind (test/conformance/further-kinds.test.ts).
import { isIPv4 } from 'node:net';
import { getMap, isList, isObject, type Json, type JsonObject } from '../json.ts';
import { type ApiObject, withMetadata } from '../object.ts';
import { statusCause } from '../status-error.ts';
import { allOf, checkSelector, immutableFields } from './builtin-checks.ts';
import { inSpec, podTemplate } from './builtin-defaults.ts';
import { subdomainError } from './names.ts';
import type { Check, ResourceDefinition } from './resource.ts';
import { checkTemplate, checkWorkload } from './workload-checks.ts';

const all = { categories: ['all'] };
const clusterScoped = { namespaced: false };
const withStatus = { status: true };

const jobSpec = (spec: JsonObject, { metadata }: ApiObject, old: ApiObject | undefined): JsonObject => {
  const counted = spec.completions === undefined && spec.parallelism === undefined ? { completions: 1 } : {};
  const manual = spec.manualSelector === true || old !== undefined;
  const given = getMap(spec, 'template');
  const labels = { ...getMap(given, 'metadata', 'labels'), ...jobLabels(metadata) };
  const templated = manual ? given : { ...given, metadata: { ...getMap(given, 'metadata'), labels } };
  const uid = metadata.uid ?? '';
  return {
    parallelism: 1,
    ...counted,
    backoffLimit: 6,
    completionMode: 'NonIndexed',
    manualSelector: false,
    podReplacementPolicy: 'TerminatingOrFailed',
    suspend: false,
    ...spec,
    ...(manual ? {} : { selector: { matchLabels: { 'batch.kubernetes.io/controller-uid': uid } } }),
    template: podTemplate(templated),
  };
};

/** The labels of a Job, which are also its pods'. */
function jobLabels({ uid = '', name = '' }: ApiObject['metadata']): Record<string, string> {
  return {
    'batch.kubernetes.io/controller-uid': uid,
    'batch.kubernetes.io/job-name': name,
    'controller-uid': uid,
    'job-name': name,
  };
}

/** Rejects hosts of rules that are no DNS names. */
const checkIngressHosts: Check = (object) => {
  const { rules } = getMap(object, 'spec');
  return (isList(rules) ? rules : []).flatMap((rule, index) => {
    const { host } = getMap({ rule }, 'rule');
    if (typeof host !== 'string' || host === '') return [];
    const error = isIPv4(host)
      ? 'must be a DNS name, not an IP address'
      : subdomainError(host.startsWith('*.') ? host.slice(2) : host);
    return error === undefined ? [] : [statusCause.invalid(`spec.rules[${index}].host`, JSON.stringify(host), error)];
  });
};

function prepareJob(object: ApiObject, old: ApiObject | undefined): ApiObject {
  const complete = inSpec(jobSpec, {})(object, old);
  if (old !== undefined || getMap(object, 'spec').manualSelector === true) return complete;
  return withMetadata(complete, { labels: { ...object.metadata.labels, ...jobLabels(object.metadata) } });
}

const cronJobSpec = (spec: JsonObject): JsonObject => {
  const job = getMap(spec, 'jobTemplate');
  const jobSpecOf = getMap(job, 'spec');
  return {
    concurrencyPolicy: 'Allow',
    failedJobsHistoryLimit: 1,
    successfulJobsHistoryLimit: 3,
    suspend: false,
    ...spec,
    ...(isObject(spec.jobTemplate)
      ? {
          jobTemplate: {
            metadata: {},
            ...job,
            spec: { ...jobSpecOf, template: podTemplate(getMap(jobSpecOf, 'template')) },
          },
        }
      : {}),
  };
};

const daemonSetSpec = (spec: JsonObject): JsonObject => ({
  revisionHistoryLimit: 10,
  updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1, maxSurge: 0 } },
  ...spec,
  template: podTemplate(getMap(spec, 'template')),
});

const networkPolicySpec = (spec: JsonObject): JsonObject => ({
  podSelector: {},
  // An empty list of rules is a policy of its own direction too.
  policyTypes: isList(spec.egress) && spec.egress.length > 0 ? ['Ingress', 'Egress'] : ['Ingress'],
  ...spec,
  ...Object.fromEntries(
    ['ingress', 'egress'].filter((field) => isList(spec[field])).map((field) => [field, rulesOf(spec[field] ?? [])]),
  ),
});

function rulesOf(rules: Json): Json[] {
  return listOf(rules).map((rule) => {
    if (!isObject(rule) || rule.ports === undefined) return rule;
    return { ...rule, ports: listOf(rule.ports).map((port) => (isObject(port) ? { protocol: 'TCP', ...port } : port)) };
  });
}

function listOf(value: Json): readonly Json[] {
  return isList(value) ? value : [];
}

const cpuMetric: JsonObject = {
  type: 'Resource',
  resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 80 } },
};

const claimSpec = (spec: JsonObject): JsonObject => ({ resources: {}, volumeMode: 'Filesystem', ...spec });

const volumeSpec = (spec: JsonObject): JsonObject => ({
  persistentVolumeReclaimPolicy: 'Retain',
  volumeMode: 'Filesystem',
  ...spec,
  ...(isObject(spec.hostPath) ? { hostPath: { type: '', ...spec.hostPath } } : {}),
});

const limitRangeSpec = (spec: JsonObject): JsonObject => ({
  ...spec,
  limits: listOf(spec.limits ?? []).map((limit) => {
    if (!isObject(limit) || limit.type !== 'Container' || !isObject(limit.default)) return limit;
    return { ...limit, defaultRequest: { ...limit.default, ...getMap(limit, 'defaultRequest') } };
  }),
});

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
  return { ...spec, taints: [...listOf(spec.taints ?? []), taint] };
};

const same = (spec: JsonObject): JsonObject => spec;

/** Kinds of the core group. */
export const furtherCoreKinds: readonly ResourceDefinition[] = [
  {
    kind: 'PersistentVolumeClaim',
    plural: 'persistentvolumeclaims',
    shortNames: ['pvc'],
    ...withStatus,
    prepare: inSpec(claimSpec, { phase: 'Pending' }),
    returnsDeleted: true,
  },
  {
    kind: 'PersistentVolume',
    plural: 'persistentvolumes',
    shortNames: ['pv'],
    ...clusterScoped,
    ...withStatus,
    prepare: inSpec(volumeSpec, { phase: 'Pending' }),
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
    prepare: inSpec(same, {}),
    returnsDeleted: true,
  },
  { kind: 'LimitRange', plural: 'limitranges', shortNames: ['limits'], prepare: inSpec(limitRangeSpec) },
];

const jobRestartPolicies = ['OnFailure', 'Never'];

/** DaemonSet, which has no scale subresource. */
export const daemonSetKind: ResourceDefinition = {
  kind: 'DaemonSet',
  plural: 'daemonsets',
  shortNames: ['ds'],
  ...all,
  ...withStatus,
  generation: 'spec',
  prepare: inSpec(daemonSetSpec, {
    ...{ currentNumberScheduled: 0, numberMisscheduled: 0, desiredNumberScheduled: 0, numberReady: 0 },
  }),
  check: allOf(
    checkWorkload('daemonset'),
    immutableFields('selector'),
    checkSelector,
    checkTemplate(['spec', 'template'], ['Always']),
  ),
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
        check: allOf(
          checkTemplate(['spec', 'template'], jobRestartPolicies),
          immutableFields('selector', 'template', 'completionMode'),
        ),
        returnsDeleted: true,
      },
      {
        kind: 'CronJob',
        plural: 'cronjobs',
        shortNames: ['cj'],
        ...all,
        ...withStatus,
        generation: 'spec',
        prepare: inSpec(cronJobSpec, {}),
        check: checkTemplate(['spec', 'jobTemplate', 'spec', 'template'], jobRestartPolicies),
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
        prepare: inSpec(same, { loadBalancer: {} }),
        check: checkIngressHosts,
      },
      { kind: 'IngressClass', plural: 'ingressclasses', ...clusterScoped, generation: 'spec', prepare: inSpec(same) },
      {
        kind: 'NetworkPolicy',
        plural: 'networkpolicies',
        shortNames: ['netpol'],
        generation: 'spec',
        prepare: inSpec(networkPolicySpec),
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
        prepare: inSpec((spec) => ({ minReplicas: 1, metrics: [cpuMetric], ...spec }), {
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
        plural: 'poddisruptionbudgets',
        shortNames: ['pdb'],
        ...withStatus,
        generation: 'spec',
        prepare: inSpec(same, { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 }),
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
        prepare: (object) => ({ reclaimPolicy: 'Delete', volumeBindingMode: 'Immediate', ...object }),
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
        prepare: (object) => ({ preemptionPolicy: 'PreemptLowerPriority', value: 0, ...object }),
      },
    ],
  },
];
