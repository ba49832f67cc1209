// The rules of Deployments, ReplicaSets, StatefulSets and DaemonSets, of HorizontalPodAutoscalers, and of
// PodDisruptionBudgets (validation.go of apps, autoscaling and policy).
import { getList, getMap, getString, isObject, type Json, type JsonObject, omitFields } from '../json.ts';
import { labelError, pathSegmentError } from '../registry/names.ts';
import { type StatusCause, statusCause } from '../status-error.ts';
import { atMostAll, containerResourceError, countOf, countOrPercent } from './container-rules.ts';
import { isSelector } from './pod-rules.ts';
import {
  all,
  among,
  anything,
  between,
  enterIf,
  nonNegative,
  type Place,
  positive,
  quantity,
  type Rule,
  required,
  requiredText,
  sameGo,
  shown,
  type TypeRules,
  text,
  unchanged,
  when,
} from './rule.ts';

/** The selector of a workload: not empty, and the template has its labels. `kind` is for the message. */
function selects(kind: string): Rule {
  return (value, { path, parent }) => {
    if (!isObject(value)) return [statusCause.required(path), ...templateLabels(value, parent)];
    const count = Object.keys(getMap(value, 'matchLabels')).length + getList(value, 'matchExpressions').length;
    if (count === 0) return [statusCause.invalid(path, '{}', `empty selector is invalid for ${kind}`)];
    return isSelector(value)
      ? templateLabels(value, parent)
      : [statusCause.invalid(path, shown(value), 'invalid label selector')];
  };
}

/** The selector of a DaemonSet. The template is checked whatever it is. */
const daemonSelector: Rule = (value, place) => {
  const causes = selects('daemonset')(value, place);
  return causes.filter(
    ({ reason, message }) => reason === 'FieldValueInvalid' && !message.endsWith('invalid label selector'),
  );
};

/** Requires that the pod template has the labels that a selector asks for. Without a selector it has none of them. */
export function templateLabels(selector: Json | undefined, spec: JsonObject): readonly StatusCause[] {
  const labels = getMap(spec, 'template', 'metadata', 'labels');
  if (!isObject(selector)) return [unselected(labels)];
  return selectsLabels(selector, labels) ? [] : [unselected(labels)];
}

/** Returns whether a label selector selects these labels. */
export function selectsLabels(selector: JsonObject, labels: JsonObject): boolean {
  const hasLabels = Object.entries(getMap(selector, 'matchLabels')).every(([key, value]) => labels[key] === value);
  return hasLabels && getList(selector, 'matchExpressions').every((one) => meets(labels, one));
}

function unselected(labels: JsonObject): StatusCause {
  return statusCause.invalid(
    'spec.template.metadata.labels',
    shown(labels),
    '`selector` does not match template `labels`',
  );
}

function meets(labels: JsonObject, requirement: Json): boolean {
  const value = labels[getString(requirement, 'key')];
  const isOne = value !== undefined && getList(requirement, 'values').includes(value);
  switch (getString(requirement, 'operator')) {
    case 'In':
      return isOne;
    case 'NotIn':
      return !isOne;
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
    default:
      return true;
  }
}

/** The template of a workload whose pods always restart, and have no deadline. */
const alwaysRestarts: Rule = (value, { path }) => {
  const { restartPolicy, activeDeadlineSeconds } = getMap(value, 'spec');
  const causes =
    restartPolicy === 'Always'
      ? []
      : [statusCause.notSupported(`${path}.spec.restartPolicy`, shown(restartPolicy), ['"Always"'])];
  if (activeDeadlineSeconds === undefined) return causes;
  return [
    ...causes,
    statusCause.forbidden(`${path}.spec.activeDeadlineSeconds`, 'activeDeadlineSeconds is not Supported'),
  ];
};

/** Kubernetes looks into a template only if the selector is one. */
const template = enterIf(({ selector }) => !isObject(selector) || isSelector(selector), alwaysRestarts);

/** A strategy by its type. An unknown type is refused at the strategy, as a whole. */
function strategy(
  types: readonly string[],
  ofType: (type: string, rolling: JsonObject | undefined, path: string) => readonly StatusCause[],
): Rule {
  return (value, { path }) => {
    const { type = '', rollingUpdate } = getMap(value);
    if (!types.includes(String(type))) return [statusCause.notSupported(path, shown(value), types.map(shown))];
    return ofType(String(type), isObject(rollingUpdate) ? rollingUpdate : undefined, `${path}.rollingUpdate`);
  };
}

const deploymentStrategy = strategy(['Recreate', 'RollingUpdate'], (type, rolling, path) => {
  if (type === 'Recreate') {
    const detail = "may not be specified when strategy `type` is 'Recreate'";
    return rolling === undefined ? [] : [statusCause.forbidden(path, detail)];
  }
  if (countOf(rolling?.maxUnavailable) !== 0 || countOf(rolling?.maxSurge) !== 0) return [];
  return [
    statusCause.invalid(`${path}.maxUnavailable`, shown(rolling?.maxUnavailable), 'may not be 0 when `maxSurge` is 0'),
  ];
});

const daemonSetStrategy = strategy(['RollingUpdate', 'OnDelete'], (type, rolling, path) => {
  if (type === 'OnDelete') return [];
  const [unavailable, surge] = [countOf(rolling?.maxUnavailable), countOf(rolling?.maxSurge)];
  if (unavailable !== 0 && surge !== 0)
    return [
      statusCause.invalid(
        `${path}.maxSurge`,
        shown(rolling?.maxSurge),
        'may not be set when maxUnavailable is non-zero',
      ),
    ];
  return unavailable === 0 && surge === 0
    ? [statusCause.required(`${path}.maxUnavailable`, 'cannot be 0 when maxSurge is 0')]
    : [];
});

const statefulSetStrategy: Rule = (value, { path }) => {
  const { type = '', rollingUpdate } = getMap(value);
  if (type === '') return [statusCause.required(path)];
  if (type === 'RollingUpdate') return [];
  if (type !== 'OnDelete') return [statusCause.invalid(path, shown(value), "must be 'RollingUpdate' or 'OnDelete'")];
  const detail = "only allowed for updateStrategy 'RollingUpdate'";
  return rollingUpdate === undefined
    ? []
    : [statusCause.invalid(`${path}.rollingUpdate`, shown(rollingUpdate), detail)];
};

/** What can change in the spec of a StatefulSet. */
const mutable = [
  ...['replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit'],
  ...['persistentVolumeClaimRetentionPolicy', 'minReadySeconds'],
];

const fixedStatefulSet: Rule = (value, { path, old }) => {
  if (old === undefined || sameGo(omitFields(getMap(value), ...mutable), omitFields(getMap(old, 'spec'), ...mutable)))
    return [];
  const listed = mutable.map((field) => `'${field}'`);
  const allowed = `${listed.slice(0, -1).join(', ')} and ${listed.at(-1)}`;
  return [statusCause.forbidden(path, `updates to statefulset spec for fields other than ${allowed} are forbidden`)];
};

const limitedCount = all(countOrPercent, atMostAll);

const retention = among('Retain', 'Delete');

const hasTime: Rule = (value, { path, parent }) => {
  const { minReadySeconds = 0 } = parent;
  if (typeof value !== 'number' || value > Number(minReadySeconds)) return [];
  return [statusCause.invalid(path, shown(value), 'must be greater than minReadySeconds')];
};

const metricTypes: Readonly<Record<string, string>> = {
  ContainerResource: 'containerResource',
  External: 'external',
  Object: 'object',
  Pods: 'pods',
  Resource: 'resource',
};

/** A metric has the source of its type, and no other. */
const oneMetric: Rule = (value, { path }) => {
  const type = getString(value, 'type');
  const expected = metricTypes[type];
  const given = ['object', 'external', 'pods', 'resource', 'containerResource'].filter(
    (field) => getMap(value)[field] !== undefined,
  );
  const causes: StatusCause[] = [];
  if (type === '') causes.push(statusCause.required(`${path}.type`, 'must specify a metric source type'));
  if (expected === undefined)
    causes.push(statusCause.notSupported(`${path}.type`, shown(type), Object.keys(metricTypes).map(shown)));
  else if (!given.includes(expected))
    causes.push(statusCause.required(`${path}.${expected}`, 'must populate information for the given metric source'));
  if (given.length === 1) return causes;
  const others = given.filter((field) => field !== expected);
  return [
    ...causes,
    ...others.map((field) => statusCause.forbidden(`${path}.${field}`, 'must populate the given metric source only')),
  ];
};

/** The targets of a metric source: one of two, and perhaps not both. */
function target(one: string, other: string, both?: string): Rule {
  return (value, { path }) => {
    const given = getMap(value, 'target');
    const [first, second] = [given[one] !== undefined, given[other] !== undefined];
    if (!first && !second) return [statusCause.required(`${path}.target.${one}`, 'must set a target value')];
    return first && second && both !== undefined
      ? [statusCause.forbidden(`${path}.target.${both}`, 'may not set both')]
      : [];
  };
}

const resourceTarget = target('averageUtilization', 'averageValue', 'averageValue');

const scalesToZero: Rule = (value, { path }) => {
  const types = getList(value, 'metrics').map((metric) => getString(metric, 'type'));
  if (getMap(value).minReplicas !== 0 || types.some((type) => type === 'Object' || type === 'External')) return [];
  return [
    statusCause.forbidden(
      `${path}.metrics`,
      'must specify at least one Object or External metric to support scaling to zero replicas',
    ),
  ];
};

const mostReplicas: Rule = (value = 0, { path, parent }) => {
  const { minReplicas = 1 } = parent;
  const causes: StatusCause[] = [];
  if (value === 0) causes.push(statusCause.required(path, 'must be set and greater than 0'));
  if (Number(value) < 0) causes.push(statusCause.invalid(path, shown(value), 'must be greater than or equal to 1'));
  if (Number(value) < Number(minReplicas))
    causes.push(statusCause.invalid(path, shown(value), 'must be greater than or equal to `minReplicas`'));
  return causes;
};

const apiVersion: Rule = (value = '', { path }) => {
  const parts = String(value).split('/');
  if (parts.length === 2) return [];
  const isCore = path.includes('describedObject') && parts.length === 1;
  return isCore ? [] : [statusCause.invalid(path, shown(value), 'apiVersion must specify API group')];
};

/** Refuses a budget of pods that must be there, and of those that may be missing. */
const oneBudget: Rule = (value, { path }) => {
  const { minAvailable, maxUnavailable } = getMap(value);
  if (minAvailable === undefined || maxUnavailable === undefined) return [];
  return [statusCause.invalid(path, shown(value), 'minAvailable and maxUnavailable cannot be both set')];
};

const counted: TypeRules = { replicas: nonNegative, minReadySeconds: nonNegative, revisionHistoryLimit: nonNegative };

/** Requires a number that is more than 0, and absent counts as 0. */
const counts: Rule = (value = 0, place: Place) => positive(value, place);

export const workloadRules: Readonly<Record<string, TypeRules>> = {
  DeploymentSpec: {
    ...counted,
    selector: all(selects('deployment'), unchanged('spec.selector')),
    template,
    strategy: deploymentStrategy,
    progressDeadlineSeconds: all(nonNegative, hasTime),
  },
  DeploymentStrategy: { type: () => [] },
  RollingUpdateDeployment: { maxUnavailable: limitedCount, maxSurge: countOrPercent },
  ReplicaSetSpec: { ...counted, selector: all(selects('replicaset'), unchanged('spec.selector')), template },
  StatefulSetSpec: {
    self: fixedStatefulSet,
    replicas: nonNegative,
    minReadySeconds: nonNegative,
    selector: selects('statefulset'),
    template,
    updateStrategy: statefulSetStrategy,
    serviceName: when((_, { old }) => old === undefined, text(labelError)),
    volumeClaimTemplates: enterIf((_, { old }) => old === undefined, anything),
    podManagementPolicy: all(required, (value, { path }) =>
      ['OrderedReady', 'Parallel', ''].includes(String(value))
        ? []
        : [statusCause.invalid(path, shown(value), "must be 'OrderedReady' or 'Parallel'")],
    ),
  },
  StatefulSetUpdateStrategy: { type: () => [] },
  RollingUpdateStatefulSetStrategy: { partition: nonNegative },
  StatefulSetPersistentVolumeClaimRetentionPolicy: { whenDeleted: retention, whenScaled: retention },
  StatefulSetOrdinals: { start: nonNegative },
  DaemonSetSpec: {
    ...counted,
    selector: all(daemonSelector, unchanged('spec.selector')),
    template: alwaysRestarts,
    updateStrategy: daemonSetStrategy,
  },
  DaemonSetUpdateStrategy: { type: () => [] },
  RollingUpdateDaemonSet: { maxUnavailable: limitedCount, maxSurge: limitedCount },
  HorizontalPodAutoscalerSpec: { self: scalesToZero, minReplicas: positive, maxReplicas: mostReplicas },
  CrossVersionObjectReference: {
    kind: requiredText(pathSegmentError),
    name: requiredText(pathSegmentError),
    apiVersion,
  },
  MetricSpec: { self: oneMetric, type: () => [] },
  ObjectMetricSource: { self: target('averageValue', 'value') },
  ExternalMetricSource: { self: target('averageValue', 'value', 'value') },
  PodsMetricSource: {
    self: (value, { path }) =>
      getMap(value, 'target').averageValue === undefined
        ? [statusCause.required(`${path}.target.averageValue`, 'must specify a positive target averageValue')]
        : [],
  },
  ResourceMetricSource: { self: resourceTarget },
  ContainerResourceMetricSource: {
    self: resourceTarget,
    name: requiredText(containerResourceError),
    container: requiredText(labelError),
  },
  MetricIdentifier: { name: requiredText(pathSegmentError), selector: enterIf(() => false, anything) },
  MetricTarget: {
    type: (value = '', { path }) => {
      if (['Utilization', 'Value', 'AverageValue'].includes(String(value))) return [];
      const invalid = statusCause.invalid(path, shown(value), 'must be either Utilization, Value, or AverageValue');
      return value === '' ? [statusCause.required(path, 'must specify a metric target type'), invalid] : [invalid];
    },
    value: quantity('more'),
    averageValue: quantity('more'),
    averageUtilization: positive,
  },
  HPAScalingRules: {
    stabilizationWindowSeconds: between(0, 3600),
    selectPolicy: among('Disabled', 'Max', 'Min'),
    policies: required,
    tolerance: quantity('zero'),
  },
  HPAScalingPolicy: {
    type: (value = '', place) => among('Percent', 'Pods')(value, place),
    value: counts,
    periodSeconds: (value = 0, place) => between(1, 1800)(value, place),
  },
  PodDisruptionBudgetSpec: {
    self: oneBudget,
    minAvailable: limitedCount,
    maxUnavailable: limitedCount,
    unhealthyPodEvictionPolicy: among('AlwaysAllow', 'IfHealthyBudget'),
  },
};
