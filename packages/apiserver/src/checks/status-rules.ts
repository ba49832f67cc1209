// The rules of a status that is written to /status. A field without a rule may have any value of its type.
import { isIP } from 'node:net';
import { getList, getMap, getString, type Json, type JsonObject, sameJson } from '../json.ts';
import { matching, qualifiedNameError } from '../registry/names.ts';
import { nanosOf } from '../schema/quantity.ts';
import { type StatusCause, statusCause } from '../status-error.ts';
import {
  all,
  distinct,
  enterIf,
  entries,
  invalid,
  invalidFor,
  isEmpty,
  itemsOf,
  type Rule,
  type RuleTable,
  shown,
  unless,
} from './rule.ts';
import { quotaAmounts } from './storage-rules.ts';
import { textErrors } from './texts.ts';

/** A count that is not greater than another one. */
function atMost(other: string, shown = other): Rule {
  return (value = 0, { path, parent }) =>
    unless(Number(value) <= Number(parent[other] ?? 0), invalid(path, value, `cannot be greater than ${shown}`));
}

/** A count that is not smaller than before, nor absent if it was not. */
const grows: Rule = (value, { path, old }) => {
  const before = getMap(old, 'status')[path.replace('status.', '')];
  return unless(
    before === undefined || (value !== undefined && Number(value) >= Number(before)),
    invalid(path, value ?? 0, 'cannot be decremented'),
  );
};

/** A number that is not negative, with the detail for one that is. */
function natural(detail: string): Rule {
  return (value = 0, { path }) => unless(Number(value) >= 0, invalid(path, value, detail));
}

/** A text of so many bytes at most. */
function bytes(most: number): Rule {
  return (value = '', { path }) =>
    unless(Buffer.byteLength(String(value)) <= most, statusCause.tooLong(path, `may not be more than ${most} bytes`));
}

/** An amount that is not negative. Go shows it in whole numbers, away from zero. */
const capacity: Rule = (value, { path }) => {
  const nanos = nanosOf(String(value)) ?? 0n;
  const shownAmount = Number((nanos - 999_999_999n) / 1_000_000_000n);
  return unless(nanos >= 0n, invalid(path, shownAmount, 'must be a valid resource quantity'));
};

function counts(fields: string): Readonly<Record<string, string>> {
  return Object.fromEntries(fields.split(' ').map((field) => [field, '0..']));
}

const ofReplicas = all('0..', atMost('replicas', 'status.replicas'));
const collisionCount = all('0..', grows);
const replicaCounts = {
  ...counts('replicas observedGeneration terminatingReplicas unavailableReplicas'),
  readyReplicas: ofReplicas,
  availableReplicas: all(ofReplicas, atMost('readyReplicas')),
};

const address = {
  ip: 'ip',
  hostname: all('subdomain', (value, { path }) =>
    unless(isIP(String(value)) === 0, invalid(path, value, 'must be a DNS name, not an IP address')),
  ),
};

const isBalancer = (root: JsonObject): boolean => getString(root, 'spec', 'type') === 'LoadBalancer';
const onlyOfBalancer: Rule = (value, { path, root }) => {
  const detail = "may only be used when `spec.type` is 'LoadBalancer'";
  return unless(isBalancer(root) || isEmpty(value), statusCause.forbidden(path, detail));
};

const phaseOfNamespace: Rule = (value, { root }) => {
  const isDeleted = root.metadata.deletionTimestamp !== undefined;
  const [phase, is] = isDeleted ? ['Terminating', 'is not'] : ['Active', 'is'];
  const detail = `may only be '${phase}' if \`deletionTimestamp\` ${is} empty`;
  return unless(value === phase, invalid('status.Phase', value, detail));
};

const nonNegative = 'must be a non-negative integer';
const podConditions: readonly string[] = ['PodScheduled', 'Ready', 'Initialized'];
const podCondition: Rule = (value, { path }) => {
  const type = getString(value, 'type');
  return podConditions.includes(type) ? [] : invalidFor(`${path}.Type`, type, qualifiedNameError(type));
};

/** A container that has ended starts again only if its policy or that of the pod says so, or any rule might. */
const endedContainers: Rule = (value, { path, root, old }) => {
  const containers = getList(root, 'spec', 'containers');
  const hasRules = containers.some((one) => getMap(one).restartPolicyRules !== undefined);
  const hasEnded = (one: Json): boolean => getMap(one, 'state').terminated !== undefined;
  return getList(old, 'status', 'containerStatuses').flatMap((before, index) => {
    const isThis = (one: Json): boolean => getString(one, 'name') === getString(before, 'name');
    const now = itemsOf(value).find(isThis);
    const own = getString(containers.find(isThis) ?? {}, 'restartPolicy');
    const policy = own || getString(root, 'spec', 'restartPolicy');
    const mayStart =
      hasRules ||
      policy === 'Always' ||
      (policy === 'OnFailure' && getMap(before, 'state', 'terminated').exitCode !== 0);
    const isKept = !hasEnded(before) || mayStart || now === undefined || hasEnded(now);
    return unless(
      isKept,
      statusCause.forbidden(`${path}[${index}].state`, 'may not be transitioned to non-terminated state'),
    );
  });
};

const conditionReason = matching(
  /^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$/,
  'a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric ' +
    "characters or '_,:', and must end with an alphanumeric character or '_' (e.g. 'my_name',  or 'MY_NAME',  or " +
    "'MyName',  or 'ReasonA,ReasonB',  or 'ReasonA:ReasonB', regex used for validation is " +
    "'[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?')",
);

function isTrue(status: JsonObject, type: string): boolean {
  return getList(status, 'conditions').some((one) => getString(one, 'type') === type && getMap(one).status === 'True');
}

const excluding = [
  'Complete Failed',
  'Complete FailureTarget',
  'SuccessCriteriaMet Failed',
  'SuccessCriteriaMet FailureTarget',
];
const needing = ['Complete SuccessCriteriaMet', 'Failed FailureTarget'];
const lasting = ['Failed', 'Complete', 'FailureTarget', 'SuccessCriteriaMet'];

/**
 * The transitions of a Job: what a finished one must have and may not have, and what does not change any more. A rule
 * holds if one of its fields or conditions changes. The formats of indexes are not checked.
 */
const jobTransitions: Rule = (value, { root, old }) => {
  const [now, before, spec] = [getMap(value), getMap(old, 'status'), getMap(root, 'spec')];
  const is = (type = ''): boolean => isTrue(now, type);
  const was = (type = ''): boolean => isTrue(before, type);
  const count = (status: JsonObject, field: string): number => Number(status[field] ?? 0);
  const causes: StatusCause[] = [];
  const refuse = (field: string, detail: string): void =>
    void causes.push(statusCause.invalid(`status.${field}`, field === 'conditions' ? '' : shown(now[field]), detail));
  const changed = (...fields: readonly string[]): boolean =>
    fields.some((field) => !sameJson(now[field], before[field]));
  for (const [one, other] of excluding.map((pair) => pair.split(' ')))
    if (is(one) && is(other)) refuse('conditions', `cannot set ${one}=True and ${other}=true conditions`);
  for (const [one, other] of needing.map((pair) => pair.split(' ')))
    if (is(one) && !is(other) && (!was(one) || was(other)))
      refuse('conditions', `cannot set ${one}=True condition without the ${other}=true condition`);
  for (const type of lasting)
    if (was(type) && !is(type))
      refuse(
        'conditions',
        `cannot disable the ${type === 'SuccessCriteriaMet' ? '' : 'terminal '}${type}=True condition`,
      );
  const finished = is('Complete') || is('Failed');
  const finishes = finished && !was('Complete') && !was('Failed');
  const completes = is('Complete') !== was('Complete') || changed('completionTime');
  if (now.completionTime === undefined && is('Complete') && completes)
    causes.push(statusCause.required('status.completionTime', 'completionTime is required for Complete jobs'));
  if (now.completionTime !== undefined && !is('Complete') && completes)
    refuse('completionTime', 'cannot set completionTime when there is no Complete=True condition');
  if (now.completionTime !== undefined && before.completionTime !== undefined && changed('completionTime'))
    refuse('completionTime', 'field is immutable');
  if (getString(now, 'completionTime') < getString(now, 'startTime') && now.completionTime !== undefined)
    refuse('completionTime', 'must be equal to or after `startTime`');
  const isIdle = spec.suspend === true && spec.completions === 0;
  if (finished && now.startTime === undefined && (finishes || changed('startTime')) && !isIdle)
    causes.push(statusCause.required('status.startTime', 'startTime is required for finished job'));
  const isResumed = was('Suspended') && !is('Suspended');
  if (before.startTime !== undefined && changed('startTime') && spec.suspend !== true && !isResumed)
    refuse('startTime', 'field is immutable for unsuspended job once set');
  for (const field of ['active', 'terminating'])
    if (finished && count(now, field) > 0 && (finishes || changed(field)))
      refuse(field, `${field}>0 is invalid for finished job`);
  if (count(now, 'ready') > count(now, 'active') && changed('ready', 'active'))
    refuse('ready', 'cannot set more ready pods than active');
  const mayShrink = spec.completionMode === 'Indexed' && spec.completions === spec.parallelism;
  for (const field of mayShrink ? ['failed'] : ['failed', 'succeeded'])
    if (count(now, field) < count(before, field)) refuse(field, `cannot decrease the ${field} counter`);
  return causes;
};

export const statusRules: RuleTable = {
  DeploymentStatus: { ...replicaCounts, updatedReplicas: ofReplicas, collisionCount },
  ReplicaSetStatus: { ...replicaCounts, fullyLabeledReplicas: ofReplicas },
  StatefulSetStatus: {
    ...replicaCounts,
    currentReplicas: ofReplicas,
    updatedReplicas: ofReplicas,
    collisionCount,
    availableReplicas: all(ofReplicas, atMost('readyReplicas', 'status.readyReplicas')),
  },
  DaemonSetStatus: {
    ...counts('currentNumberScheduled numberMisscheduled desiredNumberScheduled numberReady observedGeneration'),
    ...counts('updatedNumberScheduled numberAvailable numberUnavailable'),
    collisionCount,
  },
  JobStatus: { self: jobTransitions, ...counts('active succeeded failed ready terminating') },
  HorizontalPodAutoscalerStatus: counts('currentReplicas desiredReplicas'),
  PodDisruptionBudgetStatus: {
    ...counts('disruptionsAllowed currentHealthy desiredHealthy expectedPods'),
    conditions: distinct((one) => getMap(one).type, '.type'),
  },
  ServiceStatus: { conditions: enterIf(() => false, 'none') },
  Condition: {
    type: 'qualified!',
    status: 'False|True|Unknown!',
    observedGeneration: natural('must be greater than or equal to zero'),
    lastTransitionTime: 'required',
    reason: all(
      (value = '', { path }) =>
        value === '' ? [statusCause.required(path)] : invalidFor(path, value, conditionReason(String(value))),
      bytes(1024),
    ),
    message: bytes(32_768),
  },
  LoadBalancerStatus: { ingress: enterIf((_, { root }) => isBalancer(root), onlyOfBalancer) },
  LoadBalancerIngress: { ...address, ipMode: 'Proxy|VIP' },
  IngressLoadBalancerIngress: address,
  NamespaceStatus: { phase: phaseOfNamespace },
  PodStatus: { observedGeneration: natural(nonNegative), containerStatuses: endedContainers },
  PodCondition: { self: podCondition, observedGeneration: natural(nonNegative) },
  PodIP: {
    self: (value, { path }) => invalidFor(path, getString(value, 'ip'), textErrors.ip?.(getString(value, 'ip'))),
  },
  PersistentVolumeClaimStatus: { capacity: entries(capacity) },
  ResourceQuotaStatus: { hard: quotaAmounts, used: quotaAmounts },
};
