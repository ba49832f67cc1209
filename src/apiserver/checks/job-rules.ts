// The rules of Jobs and CronJobs (validation.go of batch).
import { getList, getMap, getNumber, getString, isObject, type JsonObject } from '../json.ts';
import type { ApiObject } from '../object.ts';
import { qualifiedNameError } from '../registry/names.ts';
import { type StatusCause, statusCause } from '../status-error.ts';
import { isSelector } from './pod-rules.ts';
import {
  all,
  among,
  atMost,
  between,
  enterIf,
  exactText,
  nonNegative,
  type Rule,
  required,
  requiredText,
  shown,
  type TypeRules,
  unchanged,
  when,
} from './rule.ts';
import { domainPathError } from './texts.ts';
import { selectsLabels, templateLabels } from './workload-rules.ts';

const isIndexed = (spec: JsonObject): boolean => spec.completionMode === 'Indexed';

/** The restart policy of a Job's pods: never always, and never alone for a policy of failures. */
const restarts: Rule = (value, { path, parent }) => {
  const policy = getString(value, 'spec', 'restartPolicy');
  const at = `${path}.spec.restartPolicy`;
  if (policy === 'Always' || policy === '') return [statusCause.required(at, 'valid values: "OnFailure", "Never"')];
  if (policy !== 'OnFailure' && policy !== 'Never')
    return [statusCause.notSupported(at, shown(policy), ['"OnFailure"', '"Never"'])];
  return parent.podFailurePolicy !== undefined && policy !== 'Never'
    ? [statusCause.invalid(at, shown(policy), 'only "Never" is supported when podFailurePolicy is specified')]
    : [];
};

const indexes: Rule = (value, { path }) => {
  const spec = getMap(value);
  const { completions, maxFailedIndexes, backoffLimitPerIndex } = spec;
  const causes: StatusCause[] = [];
  if (maxFailedIndexes !== undefined && backoffLimitPerIndex === undefined)
    causes.push(statusCause.required(`${path}.backoffLimitPerIndex`, 'when maxFailedIndexes is specified'));
  if (isIndexed(spec)) {
    if (completions === undefined)
      causes.push(statusCause.required(`${path}.completions`, 'when completion mode is Indexed'));
    if (Number(maxFailedIndexes ?? 0) > Number(completions ?? Number.POSITIVE_INFINITY))
      causes.push(
        statusCause.invalid(
          `${path}.maxFailedIndexes`,
          shown(maxFailedIndexes),
          'must be less than or equal to completions',
        ),
      );
  }
  return causes;
};

/** Completions stay. Those of an indexed Job change together with its parallelism. */
const completions: Rule = (value, place) => {
  const { root, old } = place;
  const spec = getMap(value);
  if (old === undefined || root.kind !== 'Job' || spec.completions === getMap(old, 'spec').completions) return [];
  if (!isIndexed(spec)) return unchanged('spec.completions')(value, place);
  if (spec.completions === undefined || spec.completions === spec.parallelism) return [];
  return [
    statusCause.invalid('spec.completions', shown(spec.completions), 'can only be modified in tandem with parallelism'),
  ];
};

/** A Job whose selector is the server's has the labels of it. */
const generatedLabels: Rule = (value, { root }) => {
  const { selector, manualSelector } = getMap(value);
  if (root.kind !== 'Job' || manualSelector === true || !isObject(selector)) return [];
  const expected = jobLabels(root.metadata);
  const labels = getMap(value, 'template', 'metadata', 'labels');
  const causes = Object.entries(expected)
    .filter(([key, text]) => labels[key] !== text)
    .map(([key]) => {
      const at = `spec.template.metadata.labels[${key}]`;
      return labels[key] === undefined
        ? statusCause.required(at)
        : statusCause.invalid(at, shown(labels[key]), `must be '${expected[key]}'`);
    });
  if (!isSelector(selector) || selectsLabels(selector, expected)) return causes;
  return [...causes, statusCause.invalid('spec.selector', shown(selector), '`selector` not auto-generated')];
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

const forIndexed: Rule = when(
  ({ completionMode = 'NonIndexed' }) => completionMode === 'NonIndexed',
  (value, { path }) =>
    value === undefined ? [] : [statusCause.invalid(path, shown(value), 'requires indexed completion mode')],
);

const mostParallel = 100_000;

const replacement: Rule = (value, place) =>
  among(...(place.parent.podFailurePolicy === undefined ? ['Failed', 'TerminatingOrFailed'] : ['Failed']))(
    value,
    place,
  );

const failureRule: Rule = (value, { path }) => {
  const { onExitCodes } = getMap(value);
  const hasConditions = getList(value, 'onPodConditions').length > 0;
  if ((onExitCodes !== undefined) !== hasConditions) return [];
  const detail = hasConditions
    ? 'both OnExitCodes and OnPodConditions is not supported'
    : 'one of OnExitCodes and OnPodConditions is required';
  return [statusCause.invalid(path, 'null', `specifying ${detail}`)];
};

const failureActions = ['Count', 'FailIndex', 'FailJob', 'Ignore'];
const failureAction: Rule = (value, place) => {
  const job = specOfPolicy(place.root);
  if (value !== 'FailIndex' || job.backoffLimitPerIndex !== undefined)
    return all(required, (one, at) => (one === '' ? [] : among(...failureActions)(one, at)))(value, place);
  return [statusCause.invalid(place.path, shown(value), 'requires the backoffLimitPerIndex to be set')];
};

/** The spec of a Job, also of that in a CronJob. */
function specOfPolicy(root: JsonObject): JsonObject {
  const spec = getMap(root, 'spec');
  return isObject(spec.jobTemplate) ? getMap(spec.jobTemplate, 'spec') : spec;
}

const exitCodeContainer: Rule = (value, { path, root }) => {
  const pod = getMap(specOfPolicy(root), 'template', 'spec');
  const names = ['containers', 'initContainers'].flatMap((field) =>
    getList(pod, field).map((one) => getString(one, 'name')),
  );
  if (typeof value !== 'string' || names.includes(value)) return [];
  return [
    statusCause.invalid(path, shown(value), 'must be one of the container or initContainer names in the pod template'),
  ];
};

const exitCodes: Rule = (value, { path, parent }) => {
  const codes = Array.isArray(value) ? value : [];
  if (codes.length === 0) return [statusCause.invalid(path, '[]', 'at least one value is required')];
  const zero = parent.operator === 'In' ? codes.indexOf(0) : -1;
  const causes = zero < 0 ? [] : [statusCause.invalid(`${path}[${zero}]`, '0', 'must not be 0 for the In operator')];
  const isOrdered = codes.every((code, index) => index === 0 || Number(codes[index - 1]) <= Number(code));
  return isOrdered ? causes : [...causes, statusCause.invalid(path, shown(codes), 'must be ordered')];
};

/** A repeated 0 is a duplicate too. */
const differentCodes: Rule = (value, { path }) =>
  (Array.isArray(value) ? value : []).flatMap((code, index, codes) =>
    codes.indexOf(code) < index ? [statusCause.duplicate(`${path}[${index}]`, shown(code))] : [],
  );

/** The fields of a schedule: minute, hour, day, month, day of the week. */
const scheduleFields: readonly (readonly [number, number, readonly string[]])[] = [
  [0, 59, []],
  [0, 23, []],
  [1, 31, []],
  [1, 12, ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']],
  [0, 6, ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat']],
];
const named =
  /^@(yearly|annually|monthly|weekly|daily|midnight|hourly|every \d+(\.\d+)?(ns|us|µs|ms|s|m|h)(\d+(\.\d+)?(ns|us|µs|ms|s|m|h))*)$/;

/** Validates the schedule of a CronJob (robfig/cron, the standard parser). */
export function scheduleError(schedule: string): string | undefined {
  if (schedule.includes('TZ')) return 'cannot use TZ or CRON_TZ in schedule, use timeZone field instead';
  if (schedule.startsWith('@')) return named.test(schedule) ? undefined : `unrecognized descriptor: ${schedule}`;
  const fields = schedule.trim().split(/\s+/);
  if (fields.length !== scheduleFields.length)
    return `expected exactly 5 fields, found ${fields.length}: [${schedule}]`;
  const isValid = scheduleFields.every(([least, most, names], index) =>
    (fields[index] ?? '').split(',').every((part) => isScheduleRange(part, least, most, names)),
  );
  return isValid ? undefined : `failed to parse the schedule ${schedule}`;
}

function isScheduleRange(part: string, least: number, most: number, names: readonly string[]): boolean {
  const [, from = '', , to, , step = '1'] =
    /^([^-/]+)(-([^-/]+))?(\/(\d+))?$/.exec(part)?.map(String) === undefined
      ? []
      : (/^([^-/]+)((?:-)([^-/]+))?(\/(\d+))?$/.exec(part) ?? []);
  if (from === '' || Number(step) === 0) return false;
  if (from === '*' || from === '?') return to === undefined;
  const numberOf = (text: string): number =>
    names.includes(text.toLowerCase())
      ? names.indexOf(text.toLowerCase()) + least
      : /^\d+$/.test(text)
        ? Number(text)
        : Number.NaN;
  const [start, end] = [numberOf(from), numberOf(to ?? from)];
  return start >= least && end <= most && start <= end;
}

/** Validates the name of a time zone. */
export function timeZoneError(zone: string): string | undefined {
  if (zone === '') return 'timeZone must be nil or non-empty string';
  if (zone.toLowerCase() === 'local') return 'timeZone must be an explicit time zone';
  try {
    new Intl.DateTimeFormat('en', { timeZone: zone });
    return /^[A-Za-z]/.test(zone) ? undefined : `unknown time zone ${zone}`;
  } catch {
    return `unknown time zone ${zone}`;
  }
}

/** A Job that has a selector needs its labels in the template. */
const jobSelector: Rule = (value, { parent, path }) => {
  // The template of a CronJob has no selector.
  if (path.includes('jobTemplate'))
    return value === undefined ? [] : [statusCause.invalid(path, shown(value), '`selector` will be auto-generated')];
  const causes = isObject(value) ? [] : [statusCause.required(path)];
  return isObject(value) && !isSelector(value) ? causes : [...causes, ...templateLabels(value, parent)];
};

export const jobRules: Readonly<Record<string, TypeRules>> = {
  JobSpec: {
    self: all(
      indexes,
      completions,
      generatedLabels,
      ...[
        'selector',
        'template',
        'completionMode',
        'podFailurePolicy',
        'backoffLimitPerIndex',
        'managedBy',
        'successPolicy',
      ].map((field) => unchanged(`spec.${field}`)),
    ),
    parallelism: all(nonNegative, when(isIndexed, between(Number.NEGATIVE_INFINITY, mostParallel))),
    completions: nonNegative,
    activeDeadlineSeconds: nonNegative,
    backoffLimit: nonNegative,
    ttlSecondsAfterFinished: nonNegative,
    backoffLimitPerIndex: all(nonNegative, forIndexed),
    maxFailedIndexes: all(nonNegative, forIndexed, when(isIndexed, between(Number.NEGATIVE_INFINITY, mostParallel))),
    completionMode: among('Indexed', 'NonIndexed'),
    successPolicy: enterIf(isIndexed, (value, { parent, path }) =>
      value === undefined || isIndexed(parent)
        ? []
        : [statusCause.invalid(path, shown(value), 'requires indexed completion mode')],
    ),
    podReplacementPolicy: replacement,
    template: restarts,
    managedBy: exactText(domainPathError),
    selector: jobSelector,
    manualSelector: (value, { path }) =>
      value === true && path.includes('jobTemplate') ? [statusCause.notSupported(path, 'true', ['nil', 'false'])] : [],
  },
  PodFailurePolicy: { rules: atMost(20) },
  PodFailurePolicyRule: { self: failureRule, action: failureAction, onPodConditions: atMost(20) },
  PodFailurePolicyOnExitCodesRequirement: {
    containerName: exitCodeContainer,
    operator: all(required, (value, place) => (value === '' ? [] : among('In', 'NotIn')(value, place))),
    values: all(exitCodes, differentCodes, atMost(255)),
  },
  PodFailurePolicyOnPodConditionsPattern: {
    type: (value = '', place) => exactText(qualifiedNameError)(value, place),
    status: all(required, (value, place) => (value === '' ? [] : among('False', 'True', 'Unknown')(value, place))),
  },
  SuccessPolicy: { rules: all(required, atMost(20)) },
  SuccessPolicyRule: {
    self: (value, { path }) => {
      const { succeededCount, succeededIndexes } = getMap(value);
      return succeededCount === undefined && succeededIndexes === undefined
        ? [statusCause.required(path, 'at least one of succeededCount or succeededIndexes must be specified')]
        : [];
    },
    succeededCount: all(nonNegative, (value, { path, root }) => {
      const completions = getNumber(specOfPolicy(root), 'completions') ?? Number.POSITIVE_INFINITY;
      return Number(value ?? 0) > completions
        ? [statusCause.invalid(path, shown(value), `must be less than or equal to ${completions}`)]
        : [];
    }),
    succeededIndexes: exactText((text) =>
      /^(\d+(-\d+)?(,\d+(-\d+)?)*)?$/.test(text) ? undefined : 'error parsing succeededIndexes',
    ),
  },
  CronJobSpec: {
    schedule: requiredText(scheduleError),
    timeZone: exactText(timeZoneError),
    concurrencyPolicy: all(required, among('Allow', 'Forbid', 'Replace')),
    startingDeadlineSeconds: nonNegative,
    successfulJobsHistoryLimit: nonNegative,
    failedJobsHistoryLimit: nonNegative,
  },
};
