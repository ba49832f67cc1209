// Compares the desired fields with the fields that the controller owns, to avoid an apply without a difference. Values
// are compared as they are, and lists in their order. Only where the API server stores a field of a built-in kind in
// another form (field-types.ts), or omits its zero value, another one is equal too.
//
// Caveat: a default that is in no table, or what a webhook changes, looks like a difference. The apply then changes
// nothing, once in a process (known-applies.ts).
import { isRecord } from '../../core/json.ts';
import { isControllerManager } from '../../core/names.ts';
import type { KubeObject } from '../client/object.ts';
import { hasInexact } from '../client/wire-text.ts';
import { type FieldTypes, TypedField, typesAt } from './field-types.ts';
import { ownedFields } from './managed-fields.ts';
import { sameQuantity } from './quantity.ts';

type Fields = Readonly<Record<string, unknown>>;

/** What is known of the values. */
export type Comparison = {
  /** Whether they are of a built-in kind, whose zero values the API omits. */
  readonly isBuiltIn: boolean;
  readonly types?: FieldTypes | undefined;
  /**
   * The live object, or the part of it. It tells whether a list that is desired empty is empty, which managedFields do
   * not show, and whether a null that is desired is there.
   */
  readonly live?: unknown;
};

/** Fields that managedFields never list: they identify the object or are set by the server, and have no manager. */
const identityFields = [
  'name',
  'namespace',
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'managedFields',
];

/** Returns whether an object (or a part of one) is equal to the result of ownedFields, so that no apply is needed. */
export function ownedEqual(desired: Fields, owned: Fields | undefined, comparison: Comparison): boolean {
  return ownedDifference(desired, owned, comparison) === undefined;
}

/** Returns the dotted path of the first field in which an object differs from the result of ownedFields, if any. */
export function ownedDifference(
  desired: Fields,
  owned: Fields | undefined,
  comparison: Comparison,
): string | undefined {
  if (owned === undefined) return 'metadata.managedFields';
  const path = differenceOf(desiredFields(desired), owned, comparison);
  return path?.slice('.'.length);
}

/** Returns the fields of a desired object that can have a manager. */
export function desiredFields({ apiVersion: _, kind: __, metadata, ...rest }: Fields): Fields {
  if (!isRecord(metadata)) return rest;
  const kept = Object.entries(metadata).filter(
    ([name, value]) => !identityFields.includes(name) && value !== undefined,
  );
  return kept.length === 0 ? rest : { ...rest, metadata: Object.fromEntries(kept) };
}

/** Returns the path of the first difference of two values: '' for the values themselves, undefined without one. */
export function differenceOf(desired: unknown, owned: unknown, comparison: Comparison): string | undefined {
  if (desired === owned) return undefined;
  if (Array.isArray(desired)) {
    if (!Array.isArray(owned)) return comparison.isBuiltIn && owned === null && desired.length === 0 ? undefined : '';
    return differenceInList(desired, owned, comparison);
  }
  if (isRecord(desired) && isRecord(owned)) return differenceInFields(desired, owned, comparison);
  // The field is owned but absent: it was applied as the zero value of its type, which the API omits.
  if (owned === null && comparison.isBuiltIn) return isZero(desired) ? undefined : '';
  const { types } = comparison;
  return types instanceof TypedField && isSame(desired, owned, types) ? undefined : '';
}

function differenceInList(
  desired: readonly unknown[],
  owned: readonly unknown[],
  { isBuiltIn, types, live }: Comparison,
): string | undefined {
  if (desired.length !== owned.length) return '';
  // Items of other managers would move the live ones to other indexes.
  const items: readonly unknown[] = Array.isArray(live) && live.length === owned.length ? live : [];
  for (let index = 0; index < desired.length; index += 1) {
    const path = differenceOf(desired[index], owned[index], { isBuiltIn, types, live: items[index] });
    if (path !== undefined) return `[${index}]${path}`;
  }
  return undefined;
}

function differenceInFields(
  desired: Fields,
  owned: Fields,
  { isBuiltIn, types, live }: Comparison,
): string | undefined {
  for (const name of Object.keys(desired)) {
    const value = desired[name];
    if (value === undefined || (value === null && isBuiltIn)) continue;
    const there = isRecord(live) && Object.hasOwn(live, name) ? live[name] : undefined;
    if (Object.hasOwn(owned, name)) {
      if (value === owned[name]) continue;
      const path = differenceOf(value, owned[name], { isBuiltIn, types: typesAt(types, name), live: there });
      if (path !== undefined) return `.${name}${path}`;
    } else if (!isNothing(value, there, isRecord(live), isBuiltIn)) {
      return `.${name}`;
    }
  }
  const dropped = Object.keys(owned).find((name) => {
    const value = desired[name];
    const isDesired = Object.hasOwn(desired, name) && value !== undefined && (value !== null || !isBuiltIn);
    return !isDesired && !(value === null && owned[name] === null) && !isDefault(typesAt(types, name), owned[name]);
  });
  return dropped === undefined ? undefined : `.${dropped}`;
}

/** Returns whether a value that is not owned makes no difference: a null or an empty list that is there. */
function isNothing(desired: unknown, live: unknown, isLiveKnown: boolean, isBuiltIn: boolean): boolean {
  if (desired === null) return live === undefined || live === null;
  if (!isEmptyList(desired) || !isLiveKnown) return false;
  return isEmptyList(live) || (isBuiltIn && live === undefined);
}

function isDefault(types: FieldTypes | undefined, value: unknown): boolean {
  if (!(types instanceof TypedField) || types.fallback === undefined) return false;
  return JSON.stringify(types.fallback) === JSON.stringify(value);
}

function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}

function isZero(value: unknown): boolean {
  if (value === null || value === false || value === 0 || value === '') return true;
  if (Array.isArray(value)) return value.length === 0;
  return isRecord(value) && Object.values(value).every(isZero);
}

function isSame(desired: unknown, owned: unknown, { type }: TypedField): boolean {
  switch (type) {
    case 'quantity':
      return sameQuantity(desired, owned);
    case 'base64':
      // Go's decoder skips line breaks.
      return String(desired).replaceAll(/[\r\n]/g, '') === owned;
    case 'time':
      return sameTime(desired, owned, 0);
    case 'microTime':
      return sameTime(desired, owned, 6);
    case undefined:
      return false;
  }
}

/** Compares times as texts: a Date has milliseconds, and a MicroTime is stored with six digits. */
function sameTime(a: unknown, b: unknown, digits: number): boolean {
  const [first, second] = [a, b].map((time) => {
    const [, seconds = '', fraction = '', zone = ''] = /^(.*?)(?:\.(\d+))?(Z|[+-]\d\d:\d\d)$/i.exec(String(time)) ?? [];
    const ms = Date.parse(`${seconds}${zone}`);
    return Number.isNaN(ms) ? undefined : `${ms}.${fraction.padEnd(digits, '0').slice(0, digits)}`;
  });
  return first !== undefined && first === second;
}

/**
 * Omits from a status the fields that another Outrigger controller owns with an equal value, and those of any client
 * with a number that was read and cannot be sent. Conditions are kept, because each controller owns its own.
 */
export function dropForeignFields(status: Fields, object: KubeObject, fieldManager: string): Fields {
  const managers = (object.metadata.managedFields ?? []).flatMap(({ manager = '' }) =>
    manager !== fieldManager && isControllerManager(manager) ? [manager] : [],
  );
  const ownedBy = (manager: string): Fields => {
    const owned = ownedFields(object, manager, 'status')?.status;
    return isRecord(owned) ? owned : {};
  };
  const [others, ours] = [managers.map(ownedBy), ownedBy(fieldManager)];
  const isIn = (other: unknown, field: string, value: unknown) =>
    isRecord(other) && field in other && differenceOf(value, other[field], { isBuiltIn: false }) === undefined;
  const isRepeated = ([field, value]: readonly [string, unknown]) =>
    !['conditions', 'observedGeneration'].includes(field) &&
    (others.some((other) => isIn(other, field, value)) ||
      (hasInexact(value) && !(field in ours) && isIn(object.status, field, value)));
  return Object.fromEntries(Object.entries(status).filter((entry) => !isRepeated(entry)));
}
