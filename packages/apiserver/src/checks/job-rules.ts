// The rules of Jobs and CronJobs (validation.go of batch).
import { getList, getMap, getNumber, getString, isObject, type JsonObject } from '../json.ts';
import type { ApiObject } from '../object.ts';
import { statusCause } from '../status-error.ts';
import { isSelector } from './pod-rules.ts';
import {
  all,
  distinct,
  enterIf,
  invalid,
  itemsOf,
  type Rule,
  type RuleTable,
  rule,
  shown,
  unless,
  unsupported,
  when,
} from './rule.ts';
import { selectsLabels, templateLabels } from './workload-rules.ts';

const isIndexed = (spec: JsonObject): boolean => spec.completionMode === 'Indexed';
const isPlain = ({ completionMode = 'NonIndexed' }: JsonObject): boolean => completionMode === 'NonIndexed';

/** The spec of a Job, also of that in a CronJob. */
function specOf(root: JsonObject): JsonObject {
  const spec = getMap(root, 'spec');
  return isObject(spec.jobTemplate) ? getMap(spec.jobTemplate, 'spec') : spec;
}

/** The restart policy of a Job's pods: never always, and only never with a policy of failures. */
const restarts: Rule = (value, { path, parent }) => {
  const policy = getString(value, 'spec', 'restartPolicy');
  const at = `${path}.spec.restartPolicy`;
  if (policy === 'Always' || policy === '') return [statusCause.required(at, 'valid values: "OnFailure", "Never"')];
  if (policy !== 'OnFailure' && policy !== 'Never') return [unsupported(at, policy, ['OnFailure', 'Never'])];
  const isRight = parent.podFailurePolicy === undefined || policy === 'Never';
  return unless(isRight, invalid(at, policy, 'only "Never" is supported when podFailurePolicy is specified'));
};

const indexes: Rule = (value, { path }) => {
  const spec = getMap(value);
  const { completions, maxFailedIndexes, backoffLimitPerIndex } = spec;
  const isFew = Number(maxFailedIndexes ?? 0) <= Number(completions ?? Number.POSITIVE_INFINITY);
  const limit = statusCause.required(`${path}.backoffLimitPerIndex`, 'when maxFailedIndexes is specified');
  const perIndex = unless(maxFailedIndexes === undefined || backoffLimitPerIndex !== undefined, limit);
  if (!isIndexed(spec)) return perIndex;
  return [
    ...perIndex,
    ...unless(
      completions !== undefined,
      statusCause.required(`${path}.completions`, 'when completion mode is Indexed'),
    ),
    ...unless(
      isFew,
      invalid(`${path}.maxFailedIndexes`, maxFailedIndexes, 'must be less than or equal to completions'),
    ),
  ];
};

/** Completions stay. Those of an indexed Job change together with its parallelism. */
const fixedCompletions: Rule = (value, place) => {
  const { parent, old, path } = place;
  if (!isIndexed(parent)) return rule('unchanged')(value, place);
  const isSame = old === undefined || path !== 'spec.completions' || value === getMap(old, 'spec').completions;
  const isBoth = value === undefined || value === parent.parallelism;
  return unless(isSame || isBoth, invalid(path, value, 'can only be modified in tandem with parallelism'));
};

/** The labels of a Job, which are also its pods'. */
export function jobLabels({ uid = '', name = '' }: ApiObject['metadata']): Record<string, string> {
  return {
    'batch.kubernetes.io/controller-uid': uid,
    'batch.kubernetes.io/job-name': name,
    'controller-uid': uid,
    'job-name': name,
  };
}

/** A Job whose selector is the server's has the labels of it. The template of a CronJob has no selector. */
const jobSelector: Rule = (value, { parent, path, root }) => {
  if (root.kind !== 'Job')
    return unless(value === undefined, invalid(path, value, '`selector` will be auto-generated'));
  const causes = [...unless(isObject(value), statusCause.required(path))];
  if (!isObject(value) || isSelector(value)) causes.push(...templateLabels(value, parent));
  if (!isObject(value) || parent.manualSelector === true) return causes;
  const expected = jobLabels(root.metadata);
  const labels = getMap(parent, 'template', 'metadata', 'labels');
  for (const [key, text] of Object.entries(expected)) {
    const at = `spec.template.metadata.labels[${key}]`;
    const found = labels[key];
    causes.push(...unless(found === text, found === undefined ? statusCause.required(at) : invalid(at, found, text)));
  }
  const isGenerated = !isSelector(value) || selectsLabels(value, expected);
  return [...causes, ...unless(isGenerated, invalid(path, value, '`selector` not auto-generated'))];
};

const failureRule: Rule = (value, { path }) => {
  const hasConditions = getList(value, 'onPodConditions').length > 0;
  const isOne = (getMap(value).onExitCodes !== undefined) !== hasConditions;
  return unless(isOne, invalid(path, undefined, 'must have one of onExitCodes and onPodConditions'));
};

const failureAction: Rule = (value, place) => {
  const isPossible = value !== 'FailIndex' || specOf(place.root).backoffLimitPerIndex !== undefined;
  const causes = rule('required Count|FailIndex|FailJob|Ignore')(value, place);
  return [...causes, ...unless(isPossible, invalid(place.path, value, 'requires the backoffLimitPerIndex to be set'))];
};

const exitCodeContainer: Rule = (value, { path, root }) => {
  const pod = getMap(specOf(root), 'template', 'spec');
  const containers = [...getList(pod, 'containers'), ...getList(pod, 'initContainers')];
  const isKnown = value === undefined || containers.some((one) => getString(one, 'name') === value);
  return unless(
    isKnown,
    invalid(path, value, 'must be one of the container or initContainer names in the pod template'),
  );
};

const exitCodes: Rule = (value, { path, parent }) => {
  const codes = itemsOf(value);
  if (codes.length === 0) return [invalid(path, [], 'at least one value is required')];
  const zero = parent.operator === 'In' ? codes.indexOf(0) : -1;
  const isOrdered = codes.every((code, index) => index === 0 || Number(codes[index - 1]) <= Number(code));
  return [
    ...unless(zero < 0, invalid(`${path}[${zero}]`, 0, 'must not be 0 for the In operator')),
    ...unless(isOrdered, invalid(path, value, 'must be ordered')),
  ];
};

const succeededRule: Rule = (value, { path, root }) => {
  const { succeededCount, succeededIndexes } = getMap(value);
  const most = getNumber(specOf(root), 'completions') ?? Number.POSITIVE_INFINITY;
  const isSet = succeededCount !== undefined || succeededIndexes !== undefined;
  const isFew = Number(succeededCount ?? 0) <= most;
  return [
    ...unless(isSet, statusCause.required(path, 'succeededCount or succeededIndexes must be specified')),
    ...unless(isFew, invalid(`${path}.succeededCount`, succeededCount, `must be less than or equal to ${most}`)),
  ];
};

/** The fields of a schedule: minute, hour, day, month, day of the week. */
const scheduleFields: readonly (readonly [number, number, string])[] = [
  [0, 59, ''],
  [0, 23, ''],
  [1, 31, ''],
  [1, 12, 'jan feb mar apr may jun jul aug sep oct nov dec'],
  [0, 6, 'sun mon tue wed thu fri sat'],
];
const duration = String.raw`(\d+(\.\d+)?(ns|us|µs|ms|s|m|h))+`;
const descriptor = new RegExp(`^@(yearly|annually|monthly|weekly|daily|midnight|hourly|every ${duration})$`);

/** The schedule of a CronJob (robfig/cron, the standard parser). */
const schedule: Rule = (value, { path }) => {
  const given = String(value ?? '');
  if (given === '') return [];
  const fields = given.trim().split(/\s+/);
  const isOfFields =
    fields.length === scheduleFields.length &&
    scheduleFields.every(([least, most, names], index) =>
      fields[index]?.split(',').every((part) => isScheduleRange(part, least, most, names.split(' '))),
    );
  const isParsed = given.startsWith('@') ? descriptor.test(given) : isOfFields;
  return [
    ...unless(isParsed, invalid(path, given, 'expected exactly 5 fields, or a descriptor such as @daily')),
    ...unless(
      !given.includes('TZ'),
      invalid(path, given, 'cannot use TZ or CRON_TZ in schedule, use timeZone instead'),
    ),
  ];
};

function isScheduleRange(part: string, least: number, most: number, names: readonly string[]): boolean {
  const [, from = '', , to, , step = '1'] = /^([^-/]+)(-([^-/]+))?(\/(\d+))?$/.exec(part) ?? [];
  if (from === '' || Number(step) === 0) return false;
  if (from === '*' || from === '?') return to === undefined;
  const numberOf = (text: string): number => {
    const name = names.indexOf(text.toLowerCase());
    return name < 0 || text === '' ? Number(/^\d+$/.exec(text)?.[0] ?? Number.NaN) : name + least;
  };
  const [start, end] = [numberOf(from), numberOf(to ?? from)];
  return start >= least && end <= most && start <= end;
}

const timeZone: Rule = (value, { path }) => {
  if (value === undefined) return [];
  const isZone = /^(?!local$)[A-Za-z]/i.test(String(value)) && isKnownZone(String(value));
  return unless(isZone, invalid(path, value, 'unknown time zone'));
};

function isKnownZone(zone: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: zone }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}

const onlyIndexed: Rule = (value, { path }) =>
  unless(value === undefined, invalid(path, value, 'requires indexed completion mode'));
const forIndexed = when(isPlain, onlyIndexed);

const manual: Rule = (value, { path, root }) =>
  unless(value !== true || root.kind === 'Job', unsupported(path, value, ['nil', 'false']));

const replaces = when(
  ({ podFailurePolicy }) => podFailurePolicy === undefined,
  'Failed|TerminatingOrFailed?',
  (value, { path }) => unless(value === undefined || value === 'Failed', unsupported(path, value, ['Failed'])),
);

export const jobRules: RuleTable = {
  JobSpec: {
    self: indexes,
    parallelism: all('0..', when(isIndexed, '-2147483648..100000')),
    completions: all('0..', fixedCompletions),
    activeDeadlineSeconds: '0..',
    backoffLimit: '0..',
    ttlSecondsAfterFinished: '0..',
    backoffLimitPerIndex: all('0.. unchanged', forIndexed),
    maxFailedIndexes: all('0..', forIndexed, when(isIndexed, '-2147483648..100000')),
    completionMode: 'Indexed|NonIndexed? unchanged',
    podFailurePolicy: 'unchanged',
    successPolicy: enterIf(isIndexed, all(when(isIndexed, 'none', onlyIndexed), 'unchanged')),
    podReplacementPolicy: replaces,
    template: all(restarts, 'unchanged'),
    managedBy: 'domainPath? unchanged',
    selector: enterIf((_, { root }) => root.kind === 'Job', all(jobSelector, 'unchanged')),
    manualSelector: manual,
  },
  PodFailurePolicy: { rules: 'max:20' },
  PodFailurePolicyRule: { self: failureRule, action: failureAction, onPodConditions: 'max:20' },
  PodFailurePolicyOnExitCodesRequirement: {
    containerName: exitCodeContainer,
    values: all(exitCodes, distinct(shown), 'max:255'),
  },
  PodFailurePolicyOnPodConditionsPattern: { type: 'qualified!', status: 'required False|True|Unknown' },
  SuccessPolicy: { rules: 'required max:20' },
  SuccessPolicyRule: { self: succeededRule, succeededCount: '0..', succeededIndexes: 'indexes?' },
  CronJobSpec: {
    schedule: all('required', schedule),
    timeZone,
    concurrencyPolicy: 'required Allow|Forbid|Replace',
    startingDeadlineSeconds: '0..',
    successfulJobsHistoryLimit: '0..',
    failedJobsHistoryLimit: '0..',
  },
};
