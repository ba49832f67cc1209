// Events outside of the cluster that trigger reconciles, as an author declares them. A wake is a hint: an event may be
// lost, repeated or late, so the controller still reconciles periodically.
import { SchemaError } from '../core/errors.ts';
import { isRecord, type JsonObject } from '../core/json.ts';

/** An event of EventBridge (Amazon EventBridge, "Events"). */
export type OutsideEvent = {
  /** The same for every repetition of the event. */
  readonly id: string;
  /** The `source` of the event. */
  readonly source: string;
  /** The `detail-type` of the event. */
  readonly detailType: string;
  /** Whatever its sender wrote. Parse it. */
  readonly detail: unknown;
};

/**
 * The key of a primary, and the cluster that has it. Without a cluster it is every cluster of the clusters table.
 * `undefined` counts as absent, as a zod schema with optional fields returns it.
 */
export type WakeKey = {
  /** The name of the object. */
  readonly name: string;
  /** Its namespace; absent for a kind without. */
  readonly namespace?: string | undefined;
  /** Its cluster; absent: every cluster. */
  readonly cluster?: string | undefined;
};

/** The values that a field of `detail` may have. */
type Values = readonly (string | number | boolean | null)[];
/** The fields of `detail` that are compared: lists of values, in objects as deep as those of the event. */
export type DetailPattern = { readonly [field: string]: Values | DetailPattern };

/** The events that wake an object. Every given field must match. */
export type WakePattern = {
  /** The `source` of the events. */
  readonly source: string;
  /** The `detail-type` of the events. */
  readonly detailType: string;
  /** What `detail` has. Absent: anything. */
  readonly detail?: DetailPattern;
};

/** A pattern, and the function that maps an event to keys of primaries. */
export type Wake = WakePattern & {
  /** Returns the keys of the objects to reconcile, at most 100. It calls nothing. */
  readonly mapToKeys: (event: OutsideEvent) => readonly WakeKey[];
};

/**
 * Declares events that trigger reconciles: an entry of `wakes`. `mapToKeys` is pure, and returns at most 100 keys.
 * @throws SchemaError for a pattern that EventBridge would refuse or that is not a list of values
 * @example wakes: [wake({ source: 'plant', detailType: 'LevelChanged' }, ({ detail }) => [Tank.parse(detail)])]
 */
export function wake(pattern: WakePattern, mapToKeys: Wake['mapToKeys']): Wake {
  if (!isRecord(pattern)) throw new SchemaError('wake', 'give an object with source and detailType');
  for (const name of ['source', 'detailType'] as const) {
    if (typeof pattern[name] !== 'string' || pattern[name].trim() === '')
      throw new SchemaError(`wake.${name}`, 'is empty; name the events');
  }
  if (pattern.detail !== undefined) checkDetail(pattern.detail, 'wake.detail');
  return { ...pattern, mapToKeys };
}

/** Returns the pattern of a rule of EventBridge ("Event patterns"). */
export function eventPatternOf({ source, detailType, detail }: WakePattern): JsonObject {
  return { source: [source], 'detail-type': [detailType], detail };
}

/** Returns whether a rule with the pattern matches the event. */
export function matchesWake({ source, detailType, detail = {} }: WakePattern, event: OutsideEvent): boolean {
  return event.source === source && event.detailType === detailType && matchesDetail(detail, event.detail);
}

function matchesDetail(pattern: DetailPattern, value: unknown): boolean {
  return Object.entries(pattern).every(([field, wanted]) => {
    const found = isRecord(value) ? value[field] : undefined;
    if (!isValues(wanted)) return matchesDetail(wanted, found);
    // A list of the event matches if one of its values does.
    return (Array.isArray(found) ? found : [found]).some((one) => wanted.includes(one));
  });
}

function isValues(pattern: Values | DetailPattern): pattern is Values {
  return Array.isArray(pattern);
}

function checkDetail(pattern: unknown, path: string): void {
  if (Array.isArray(pattern)) {
    if (pattern.length === 0) throw new SchemaError(path, 'is an empty list; it matches no event');
    const other = pattern.find((value) => typeof value === 'object' && value !== null);
    if (other !== undefined) throw new SchemaError(path, `${JSON.stringify(other)} is not a value; give values only`);
    return;
  }
  if (!isRecord(pattern)) throw new SchemaError(path, 'give a list of values, or an object of such lists');
  if (Object.keys(pattern).length === 0) throw new SchemaError(path, 'is empty; leave it out');
  for (const [field, one] of Object.entries(pattern)) checkDetail(one, `${path}.${field}`);
}
