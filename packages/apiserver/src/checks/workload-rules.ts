// The rules of Deployments, ReplicaSets, StatefulSets and DaemonSets, of HorizontalPodAutoscalers, and of
// PodDisruptionBudgets (validation.go of apps, autoscaling and policy).
import { getList, getMap, getString, isObject, type Json, type JsonObject, omitFields } from '../json.ts';
import { type StatusCause, statusCause } from '../status-error.ts';
import { countOf, countOrPercent, resourceName } from './container-rules.ts';
import { isSelector } from './pod-rules.ts';
import { all, enterIf, invalid, type Rule, type RuleTable, rule, sameGo, unless, unsupported, when } from './rule.ts';

/** The selector of a workload: not empty, and the template has its labels. `kind` is for the message. */
function selects(kind: string): Rule {
  return (value, { path, parent }) => {
    if (!isObject(value)) return [statusCause.required(path), ...templateLabels(value, parent)];
    const count = Object.keys(getMap(value, 'matchLabels')).length + getList(value, 'matchExpressions').length;
    if (count === 0) return [statusCause.invalid(path, '{}', `empty selector is invalid for ${kind}`)];
    return isSelector(value) ? templateLabels(value, parent) : [invalid(path, value, 'invalid label selector')];
  };
}

/** The selector of a DaemonSet. The template is checked whatever it is. */
const daemonSelector: Rule = (value, place) =>
  selects('daemonset')(value, place).filter(
    ({ reason, message }) => reason === 'FieldValueInvalid' && !message.endsWith('invalid label selector'),
  );

/** Requires that the pod template has the labels that a selector asks for. Without a selector it has none of them. */
export function templateLabels(selector: Json | undefined, spec: JsonObject): readonly StatusCause[] {
  const labels = getMap(spec, 'template', 'metadata', 'labels');
  const isSelected = isObject(selector) && selectsLabels(selector, labels);
  const detail = '`selector` does not match template `labels`';
  return unless(isSelected, invalid('spec.template.metadata.labels', labels, detail));
}

/** Returns whether a label selector selects these labels. */
export function selectsLabels(selector: JsonObject, labels: JsonObject): boolean {
  const hasLabels = Object.entries(getMap(selector, 'matchLabels')).every(([key, value]) => labels[key] === value);
  return hasLabels && getList(selector, 'matchExpressions').every((one) => meets(labels, one));
}

function meets(labels: JsonObject, requirement: Json): boolean {
  const value = labels[getString(requirement, 'key')];
  const isOne = value !== undefined && getList(requirement, 'values').includes(value);
  const results: Readonly<Record<string, boolean>> = {
    In: isOne,
    NotIn: !isOne,
    Exists: value !== undefined,
    DoesNotExist: value === undefined,
  };
  return results[getString(requirement, 'operator')] ?? true;
}

/** The template of a workload whose pods always restart, and have no deadline. */
const alwaysRestarts: Rule = (value, { path }) => {
  const { restartPolicy, activeDeadlineSeconds } = getMap(value, 'spec');
  const at = `${path}.spec.activeDeadlineSeconds`;
  return [
    ...unless(restartPolicy === 'Always', unsupported(`${path}.spec.restartPolicy`, restartPolicy, ['Always'])),
    ...unless(activeDeadlineSeconds === undefined, statusCause.forbidden(at, 'is not supported')),
  ];
};

/** Kubernetes looks into a template only if the selector is one. */
const isSelected = ({ selector }: JsonObject): boolean => !isObject(selector) || isSelector(selector);
const template = enterIf(isSelected, when(isSelected, alwaysRestarts));

const deploymentStrategy: Rule = (value, { path }) => {
  const { type, rollingUpdate } = getMap(value);
  const at = `${path}.rollingUpdate`;
  if (type === 'Recreate')
    return unless(
      rollingUpdate === undefined,
      statusCause.forbidden(at, "may not be specified when `type` is 'Recreate'"),
    );
  if (type !== 'RollingUpdate') return [unsupported(path, value, ['Recreate', 'RollingUpdate'])];
  const { maxUnavailable, maxSurge } = getMap(rollingUpdate ?? {});
  const moves = countOf(maxUnavailable) !== 0 || countOf(maxSurge) !== 0;
  return unless(moves, invalid(`${at}.maxUnavailable`, maxUnavailable, 'may not be 0 when `maxSurge` is 0'));
};

const daemonSetStrategy: Rule = (value, { path }) => {
  const { type, rollingUpdate } = getMap(value);
  if (type === 'OnDelete') return [];
  if (type !== 'RollingUpdate') return [unsupported(path, value, ['RollingUpdate', 'OnDelete'])];
  const { maxUnavailable, maxSurge } = getMap(rollingUpdate ?? {});
  const [unavailable, surge] = [countOf(maxUnavailable), countOf(maxSurge)];
  const at = `${path}.rollingUpdate`;
  return [
    ...unless(
      unavailable === 0 || surge === 0,
      invalid(`${at}.maxSurge`, maxSurge, 'may not be set beside maxUnavailable'),
    ),
    ...unless(
      unavailable + surge !== 0,
      statusCause.required(`${at}.maxUnavailable`, 'cannot be 0 when maxSurge is 0'),
    ),
  ];
};

const statefulSetStrategy: Rule = (value, { path }) => {
  const { type = '', rollingUpdate } = getMap(value);
  if (type === '') return [statusCause.required(path)];
  if (type === 'RollingUpdate') return [];
  if (type !== 'OnDelete') return [invalid(path, value, "must be 'RollingUpdate' or 'OnDelete'")];
  const detail = "only allowed for updateStrategy 'RollingUpdate'";
  return unless(rollingUpdate === undefined, invalid(`${path}.rollingUpdate`, rollingUpdate, detail));
};

/** What can change in the spec of a StatefulSet. */
const mutable = [
  ...['replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit'],
  ...['persistentVolumeClaimRetentionPolicy', 'minReadySeconds'],
];

const fixedStatefulSet: Rule = (value, { path, old }) => {
  const isSame = sameGo(omitFields(getMap(value), ...mutable), omitFields(getMap(old, 'spec'), ...mutable));
  const listed = mutable.map((field) => `'${field}'`);
  const allowed = `${listed.slice(0, -1).join(', ')} and ${listed.at(-1)}`;
  const detail = `updates to statefulset spec for fields other than ${allowed} are forbidden`;
  return unless(old === undefined || isSame, statusCause.forbidden(path, detail));
};

const hasTime: Rule = (value, { path, parent }) => {
  const isLater = typeof value !== 'number' || value > Number(parent.minReadySeconds ?? 0);
  return unless(isLater, invalid(path, value, 'must be greater than minReadySeconds'));
};

/** A count that is not negative, or a percentage of no more than 100. */
const share = all(countOrPercent, (value, { path }) => {
  const isTooMuch = /^\d+%$/.test(String(value)) && Number.parseInt(String(value), 10) > 100;
  return unless(!isTooMuch, invalid(path, value, 'must not be greater than 100%'));
});

/** Refuses a budget of pods that must be there, and of those that may be missing. */
const oneBudget: Rule = (value, { path }) => {
  const { minAvailable, maxUnavailable } = getMap(value);
  const isOne = minAvailable === undefined || maxUnavailable === undefined;
  return unless(isOne, invalid(path, value, 'minAvailable and maxUnavailable cannot be both set'));
};

const sources = ['object', 'external', 'pods', 'resource', 'containerResource'];

/** A metric has the source of its type, and no other. */
const oneMetric: Rule = (value, { path }) => {
  const type = getString(value, 'type');
  const expected = sources.find((field) => `${field.charAt(0).toUpperCase()}${field.slice(1)}` === type);
  const given = sources.filter((field) => getMap(value)[field] !== undefined);
  const others = given.length === 1 ? [] : given.filter((field) => field !== expected);
  const missing = expected !== undefined && !given.includes(expected);
  return [
    ...unless(type !== '', statusCause.required(`${path}.type`, 'must specify a metric source type')),
    ...unless(expected !== undefined, unsupported(`${path}.type`, type, sources)),
    ...unless(!missing, statusCause.required(`${path}.${expected}`, 'must be given for the metric source')),
    ...others.map((field) => statusCause.forbidden(`${path}.${field}`, 'must populate the given metric source only')),
  ];
};

/** The target of a metric source is one of two, and perhaps not both. */
function target(one: string, other: string, both?: string): Rule {
  return (value, { path }) => {
    const given = getMap(value, 'target');
    const count = [one, other].filter((field) => given[field] !== undefined).length;
    if (count === 0) return [statusCause.required(`${path}.target.${one}`, 'must set a target value')];
    return unless(
      count === 1 || both === undefined,
      statusCause.forbidden(`${path}.target.${both}`, 'may not set both'),
    );
  };
}

const scalesToZero: Rule = (value, { path }) => {
  const hasOutside = getList(value, 'metrics').some((metric) =>
    ['Object', 'External'].includes(getString(metric, 'type')),
  );
  const detail = 'must specify at least one Object or External metric to support scaling to zero replicas';
  return unless(getMap(value).minReplicas !== 0 || hasOutside, statusCause.forbidden(`${path}.metrics`, detail));
};

const mostReplicas: Rule = (value = 0, { path, parent }) => [
  ...unless(value !== 0, statusCause.required(path, 'must be set and greater than 0')),
  ...unless(Number(value) >= Number(parent.minReplicas ?? 1), invalid(path, value, 'must be at least `minReplicas`')),
  ...unless(Number(value) >= 0, invalid(path, value, 'must be greater than or equal to 1')),
];

const apiVersion: Rule = (value = '', { path }) => {
  const isGroup = /^[^/]+\/[^/]*$/.test(String(value));
  const isCore = path.includes('describedObject') && !String(value).includes('/');
  return unless(isGroup || isCore, invalid(path, value, 'apiVersion must specify API group'));
};

const metricType: Rule = (value = '', place) => [
  ...rule('required')(value, place),
  ...unless(
    ['Utilization', 'Value', 'AverageValue'].includes(String(value)),
    invalid(place.path, value, 'must be either Utilization, Value, or AverageValue'),
  ),
];

const podManagement: Rule = (value, { path }) => {
  const isKnown = ['OrderedReady', 'Parallel', ''].includes(String(value));
  return unless(isKnown, invalid(path, value, "must be 'OrderedReady' or 'Parallel'"));
};

const counted = { replicas: '0..', minReadySeconds: '0..', revisionHistoryLimit: '0..' };
const resourceTarget = target('averageUtilization', 'averageValue', 'averageValue');

export const workloadRules: RuleTable = {
  DeploymentSpec: {
    ...counted,
    selector: all(selects('deployment'), 'unchanged'),
    template,
    strategy: deploymentStrategy,
    progressDeadlineSeconds: all('0..', hasTime),
  },
  DeploymentStrategy: { type: 'none' },
  RollingUpdateDeployment: { maxUnavailable: share, maxSurge: countOrPercent },
  ReplicaSetSpec: { ...counted, selector: all(selects('replicaset'), 'unchanged'), template },
  StatefulSetSpec: {
    self: fixedStatefulSet,
    replicas: '0..',
    minReadySeconds: '0..',
    selector: selects('statefulset'),
    template: enterIf(isSelected, alwaysRestarts),
    updateStrategy: statefulSetStrategy,
    serviceName: when((_, { old }) => old === undefined, 'label'),
    volumeClaimTemplates: enterIf((_, { old }) => old === undefined, 'none'),
    podManagementPolicy: all('required', podManagement),
  },
  StatefulSetUpdateStrategy: { type: 'none' },
  RollingUpdateStatefulSetStrategy: { partition: '0..' },
  StatefulSetPersistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain|Delete?', whenScaled: 'Retain|Delete?' },
  StatefulSetOrdinals: { start: '0..' },
  DaemonSetSpec: {
    ...counted,
    selector: all(daemonSelector, 'unchanged'),
    template: alwaysRestarts,
    updateStrategy: enterIf((spec) => getMap(spec, 'updateStrategy').type !== 'OnDelete', daemonSetStrategy),
  },
  DaemonSetUpdateStrategy: { type: 'none' },
  RollingUpdateDaemonSet: { maxUnavailable: share, maxSurge: share },
  HorizontalPodAutoscalerSpec: { self: scalesToZero, minReplicas: '1..', maxReplicas: mostReplicas },
  CrossVersionObjectReference: { kind: 'required segment', name: 'required segment', apiVersion },
  MetricSpec: { self: oneMetric, type: 'none' },
  ObjectMetricSource: { self: target('averageValue', 'value') },
  ExternalMetricSource: { self: target('averageValue', 'value', 'value') },
  PodsMetricSource: { self: target('averageValue', 'averageValue') },
  ResourceMetricSource: { self: resourceTarget },
  ContainerResourceMetricSource: { self: resourceTarget, name: resourceName, container: 'required label' },
  MetricIdentifier: { name: 'required segment', selector: enterIf(() => false, 'none') },
  MetricTarget: { type: metricType, value: 'quantity>0', averageValue: 'quantity>0', averageUtilization: '1..' },
  HPAScalingRules: {
    stabilizationWindowSeconds: '0..3600',
    selectPolicy: 'Disabled|Max|Min?',
    policies: 'required',
    tolerance: 'quantity>=0',
  },
  HPAScalingPolicy: { type: 'Percent|Pods!', value: '1..!', periodSeconds: '1..1800!' },
  PodDisruptionBudgetSpec: {
    self: oneBudget,
    minAvailable: share,
    maxUnavailable: share,
    unhealthyPodEvictionPolicy: 'AlwaysAllow|IfHealthyBudget?',
  },
};
