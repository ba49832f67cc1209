// The cells of the Tables of built-in kinds that are no plain field, as kube-apiserver's printers have them
// (pkg/printers/internalversion, printers.go).
import { getIn, getList, getMap, getNumber, getString, isList, isObject, type Json } from '../json.ts';
import type { ApiObject } from '../object.ts';
import { selectorText } from './selector-text.ts';

/** Returns what a cell shows. */
export type Cell = (object: ApiObject) => Json;

/** Of how many replicas of the spec a number is shown. */
export const ready: Cell = (object) =>
  `${getNumber(object, 'status', 'readyReplicas') ?? 0}/${getNumber(object, 'spec', 'replicas') ?? 0}`;

/** The hosts and metrics that a cell lists. */
const mostHosts = 3;
const mostMetrics = 2;

export function externalIps(object: ApiObject): string {
  const type = getString(object, 'spec', 'type');
  if (type === 'ExternalName') return getString(object, 'spec', 'externalName');
  const all = [...balancerAddresses(object), ...getList(object, 'spec', 'externalIPs')];
  return all.join(',') || (type === 'LoadBalancer' ? '<pending>' : '<none>');
}

export function ports(object: ApiObject): string {
  const parts = getList(object, 'spec', 'ports').map((port) => {
    const nodePort = getNumber(port, 'nodePort') ?? 0;
    const number = `${getNumber(port, 'port') ?? 0}${nodePort === 0 ? '' : `:${nodePort}`}`;
    return `${number}/${getString(port, 'protocol')}`;
  });
  return parts.length === 0 ? '<none>' : parts.join(',');
}

/** An Event of events.k8s.io has only the time of its first occurrence. */
export function firstSeen(object: ApiObject): Json {
  return (
    getString(object, 'firstTimestamp') || getString(object, 'eventTime') || (object.metadata.creationTimestamp ?? null)
  );
}

export function podReady(object: ApiObject): string {
  const statuses = getList(object, 'status', 'containerStatuses');
  const up = statuses.filter((status) => isObject(status) && status.ready === true).length;
  const sidecars = getList(object, 'spec', 'initContainers').filter(
    (one) => getString(one, 'restartPolicy') === 'Always',
  );
  return `${up}/${getList(object, 'spec', 'containers').length + sidecars.length}`;
}

export function restarts(object: ApiObject): string {
  const counts = getList(object, 'status', 'containerStatuses').map((one) => getNumber(one, 'restartCount') ?? 0);
  return String(counts.reduce((sum, count) => sum + count, 0));
}

export function phase(object: ApiObject): string {
  return object.metadata.deletionTimestamp === undefined ? getString(object, 'status', 'phase') : 'Terminating';
}

/** The names of the subjects of a kind. */
export function subjects(kind: string): Cell {
  return (object) =>
    getList(object, 'subjects')
      .filter((subject) => getString(subject, 'kind') === kind)
      .map((one) => `${kind === 'ServiceAccount' ? `${getString(one, 'namespace')}/` : ''}${getString(one, 'name')}`)
      .join(', ');
}

export const size = (...fields: readonly string[]): Cell => {
  return (object) => fields.reduce((sum, field) => sum + Object.keys(getMap(object, field)).length, 0);
};
export const selected = (...path: readonly string[]): Cell => {
  return (object) => selectorText(getMap(object, ...path)) || '<none>';
};
/** What a list has, with commas between, or another text if it is empty. */
export const listed = (field: string, shown: (item: Json) => readonly Json[]): Cell => {
  return (object) => getList(object, field).flatMap(shown).join(',') || '<unset>';
};
export const valueIn = (otherwise: string, ...path: readonly string[]): Cell => {
  return (object) => valueOr(otherwise, getIn(object, ...path));
};
export const isTrue =
  (...path: readonly string[]): Cell =>
  (object) =>
    getIn(object, ...path) === true;

/** A value as text, or another one without it. */
function valueOr(otherwise: string, value: Json | undefined): string {
  return value === undefined ? otherwise : String(value);
}

function conditionsOf(object: ApiObject): readonly string[] {
  return getList(object, 'status', 'conditions')
    .filter((condition) => getString(condition, 'status') === 'True')
    .map((condition) => getString(condition, 'type'));
}

const jobStates = ['Complete', 'Failed', 'Suspended', 'FailureTarget', 'SuccessCriteriaMet'];

export function jobStatus(object: ApiObject): string {
  const found = jobStates.find((state) => conditionsOf(object).includes(state));
  const isEnding = object.metadata.deletionTimestamp !== undefined && found !== 'Complete' && found !== 'Failed';
  return isEnding ? 'Terminating' : (found ?? 'Running');
}

export function completions(object: ApiObject): string {
  const done = getNumber(object, 'status', 'succeeded') ?? 0;
  const { completions: wanted, parallelism = 0 } = getMap(object, 'spec');
  if (wanted !== undefined) return `${done}/${wanted}`;
  return Number(parallelism) > 1 ? `${done}/1 of ${parallelism}` : `${done}/1`;
}

export function jobDuration(object: ApiObject): string {
  const [start, end] = [getString(object, 'status', 'startTime'), getString(object, 'status', 'completionTime')];
  if (start === '') return '';
  return age(start, end === '' ? new Date() : new Date(end));
}

export function hosts(object: ApiObject): string {
  const rules = getList(object, 'spec', 'rules');
  const found = rules.map((rule) => getString(rule, 'host')).filter((host) => host !== '');
  if (found.length === 0) return '*';
  const more = found.length >= mostHosts && rules.length > mostHosts ? ` + ${rules.length - mostHosts} more...` : '';
  return `${found.slice(0, mostHosts).join(',')}${more}`;
}

export const ingressAddress: Cell = (object) => [...balancerAddresses(object)].join(',');

function balancerAddresses(object: ApiObject): ReadonlySet<string> {
  const ingresses = getList(object, 'status', 'loadBalancer', 'ingress');
  return new Set(ingresses.map((one) => getString(one, 'ip') || getString(one, 'hostname')).sort());
}

export function parameters(object: ApiObject): string {
  const { kind, apiGroup, name } = getMap(object, 'spec', 'parameters');
  if (kind === undefined) return '<none>';
  return `${kind}${apiGroup === undefined ? '' : `.${apiGroup}`}/${name}`;
}

/** The value and the target of each metric. */
export function metrics(object: ApiObject): string {
  const current = getList(object, 'status', 'currentMetrics');
  const shown = getList(object, 'spec', 'metrics').map((metric, index) => metricText(metric, current[index]));
  if (shown.length === 0) return '<none>';
  const more = shown.length > mostMetrics ? ` + ${shown.length - mostMetrics} more...` : '';
  return `${shown.slice(0, mostMetrics).join(', ')}${more}`;
}

function metricText(metric: Json, status: Json | undefined): string {
  const type = getString(metric, 'type');
  const field = `${type.charAt(0).toLowerCase()}${type.slice(1)}`;
  const target = getMap(metric, field, 'target');
  const now = getMap(status ?? {}, field, 'current');
  const isResource = type === 'Resource' || type === 'ContainerResource';
  const prefix = isResource ? `${getString(metric, field, 'name')}: ` : '';
  if (target.averageValue !== undefined) {
    const suffix = isResource || type === 'Pods' ? '' : ' (avg)';
    return `${prefix}${valueOr('<unknown>', now.averageValue)}/${target.averageValue}${suffix}`;
  }
  if (!isResource) return `${valueOr('<unknown>', now.value)}/${target.value}`;
  const percent = (value: Json | undefined, otherwise: string) => (value === undefined ? otherwise : `${value}%`);
  return `${prefix}${percent(now.averageUtilization, '<unknown>')}/${percent(target.averageUtilization, '<auto>')}`;
}

const modeNames: Readonly<Record<string, string>> = {
  ReadWriteOnce: 'RWO',
  ReadOnlyMany: 'ROX',
  ReadWriteMany: 'RWX',
  ReadWriteOncePod: 'RWOP',
};

export function accessModes(modes: readonly Json[]): string {
  return Object.keys(modeNames)
    .filter((mode) => modes.includes(mode))
    .map((mode) => modeNames[mode])
    .join(',');
}

export const isBound = (object: ApiObject): boolean => getString(object, 'spec', 'volumeName') !== '';

/** The used and hard amounts of a quota, of limits or of all others. */
export function amounts(object: ApiObject, ofLimits: boolean): string {
  const used = getMap(object, 'status', 'used');
  return Object.entries(getMap(object, 'status', 'hard'))
    .filter(([name]) => name.startsWith('limits.') === ofLimits)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, hard]) => `${name}: ${used[name] ?? '0'}/${hard}`)
    .join(', ');
}

export function nodeStatus(object: ApiObject): string {
  const ready = getList(object, 'status', 'conditions').find((one) => getString(one, 'type') === 'Ready');
  const state = ready === undefined ? 'Unknown' : getString(ready, 'status') === 'True' ? 'Ready' : 'NotReady';
  return getMap(object, 'spec').unschedulable === true ? `${state},SchedulingDisabled` : state;
}

export function nodeRoles({ metadata }: ApiObject): string {
  const prefix = 'node-role.kubernetes.io/';
  const labels = Object.entries(metadata.labels ?? {});
  const roles = labels
    .map(([key, value]) =>
      key === 'kubernetes.io/role' ? value : key.startsWith(prefix) ? key.slice(prefix.length) : '',
    )
    .filter((role) => role !== '');
  return roles.sort().join(',') || '<none>';
}

export function nodeAddress(type: string): (object: ApiObject) => string {
  return (object) => {
    const found = getList(object, 'status', 'addresses').find((one) => getString(one, 'type') === type);
    return getString(found, 'address') || '<none>';
  };
}

export function kernel(object: ApiObject): string {
  const { kernelVersion = '', architecture = '' } = getMap(object, 'status', 'nodeInfo');
  return `${kernelVersion || '<unknown>'}${architecture === '' ? '' : ` (${architecture})`}`;
}

export function lastSeen(event: ApiObject): Json {
  return getString(event, 'series', 'lastObservedTime') || getString(event, 'lastTimestamp') || firstSeen(event);
}

export function involved(event: ApiObject): string {
  const { kind = '', name = '' } = getMap(event, 'involvedObject');
  return `${String(kind).toLowerCase()}/${name}`;
}

export function lastSchedule(object: ApiObject): string {
  const last = getString(object, 'status', 'lastScheduleTime');
  return last === '' ? '<none>' : age(last, new Date());
}

export function claimOf(object: ApiObject): string {
  const claim = getMap(object, 'spec').claimRef;
  return isObject(claim) ? `${getString(claim, 'namespace')}/${getString(claim, 'name')}` : '';
}

/**
 * Returns an age in kubectl's format: `45s`, `3m20s`, `5h`, `12d`, `2y10d` (k8s.io/apimachinery,
 * duration.HumanDuration).
 */
export function age(since: Json, now: Date): string {
  if (typeof since !== 'string') return isList(since) ? '' : '<unknown>';
  const seconds = Math.floor((now.getTime() - Date.parse(since)) / 1000);
  if (Number.isNaN(seconds)) return '<unknown>';
  if (seconds < -1) return '<invalid>';
  if (seconds < 0) return '0s';
  const two = (big: number, bigUnit: string, small: number, smallUnit: string): string =>
    small === 0 ? `${big}${bigUnit}` : `${big}${bigUnit}${small}${smallUnit}`;
  const [minutes, hours, days] = [Math.floor(seconds / 60), Math.floor(seconds / 3600), Math.floor(seconds / 86400)];
  if (seconds < 120) return `${seconds}s`;
  if (minutes < 10) return two(minutes, 'm', seconds % 60, 's');
  if (hours < 3) return `${minutes}m`;
  if (hours < 8) return two(hours, 'h', minutes % 60, 'm');
  if (hours < 48) return `${hours}h`;
  if (days < 8) return two(days, 'd', hours % 24, 'h');
  if (days < 365 * 2) return `${days}d`;
  if (days < 365 * 8) return two(Math.floor(days / 365), 'y', days % 365, 'd');
  return `${Math.floor(days / 365)}y`;
}
