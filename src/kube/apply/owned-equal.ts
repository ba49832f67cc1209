// Compares the desired fields with the fields that the controller owns, to avoid an apply without a difference. For a
// built-in kind the API server does not return exactly what was applied. It rewrites quantities, omits zero values and
// fills in defaults, even inside atomic values that one manager owns. It rewrites nothing in a custom resource.
//
// Caveats: two cases always look like a difference. They are a default inside an atomic value that is not in
// `defaultedFields` (for example in a custom resource's list without list-map keys), and a map applied empty that the
// server fills with defaults. The apply then changes nothing and is counted as a no-op, once for each version of the
// object (apply-all.ts).
import { isRecord } from '../../core/json.ts';
import { isControllerManager } from '../../core/names.ts';
import type { KubeObject } from '../client/object.ts';
import { ownedFields } from './managed-fields.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Values inside these fields are quantities. Elsewhere "1k" and "1000" are different strings, as in an env value. */
const quantityFields = new Set([
  'requests',
  'limits',
  'capacity',
  'overhead',
  'hard',
  'sizeLimit',
  'divisor',
  'averageValue',
]);

/** Defaults inside atomic values: ports of a NetworkPolicy, fieldRef, volumeClaimTemplates, projected volumes. */
const defaultedFields: ReadonlyMap<string, readonly string[]> = new Map([
  ['protocol', ['"TCP"']],
  ['volumeMode', ['"Filesystem"']],
  ['apiVersion', ['"v1"']],
  ['kind', ['"PersistentVolumeClaim"']],
  ['status', ['{"phase":"Pending"}']],
  ['divisor', ['"0"']],
  ['expirationSeconds', ['3600']],
  ['creationTimestamp', ['null']],
]);

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

const binarySuffixes: Readonly<Record<string, number>> = { Ki: 1, Mi: 2, Gi: 3, Ti: 4, Pi: 5, Ei: 6 };
const decimalSuffixes: Readonly<Record<string, number>> = {
  n: -9,
  u: -6,
  m: -3,
  '': 0,
  k: 3,
  M: 6,
  G: 9,
  T: 12,
  P: 15,
  E: 18,
};

/** How values are compared: of a custom resource, of a built-in kind, or inside one of the `quantityFields`. */
type Comparison = 'exact' | 'built-in' | 'quantity';

/**
 * Returns whether an object (or a part of one) is equal to the result of ownedFields, so that no apply is needed. Lists
 * are compared in order, because an apply in another order reorders them. The live object tells whether a list that is
 * desired empty is empty: managedFields do not list an empty list that is merged by key.
 */
export function ownedEqual(
  desired: Fields,
  owned: Fields | undefined,
  { isBuiltIn, live }: { readonly isBuiltIn: boolean; readonly live?: unknown },
): boolean {
  return owned !== undefined && isEqual(withoutIdentity(desired), owned, isBuiltIn ? 'built-in' : 'exact', live);
}

/**
 * Returns whether a stored null is desired as another value. To ownedEqual the null of a nullable field looks like a
 * field that the API omits, which is equal to a zero value (`0`, `''`, `false`, an empty list).
 */
export function replacesNull(desired: unknown, live: unknown): boolean {
  if (live === null) return desired !== null && desired !== undefined;
  if (Array.isArray(desired))
    return (
      // With items of other managers the index says nothing.
      Array.isArray(live) &&
      live.length === desired.length &&
      desired.some((one, index) => replacesNull(one, live[index]))
    );
  if (!isRecord(desired) || !isRecord(live)) return false;
  return Object.entries(desired).some(([name, value]) => Object.hasOwn(live, name) && replacesNull(value, live[name]));
}

/** Returns whether two values are equal quantities. Returns false if one is not a quantity. */
export function sameQuantity(a: unknown, b: unknown): boolean {
  const first = nanoUnits(a);
  return first !== undefined && first === nanoUnits(b);
}

/**
 * Omits from a status the fields that another Outrigger controller owns with an equal value. Conditions are kept,
 * because each controller owns its own.
 */
export function dropForeignFields(status: Fields, object: KubeObject, fieldManager: string): Fields {
  const managers = (object.metadata.managedFields ?? []).flatMap(({ manager = '' }) =>
    manager !== fieldManager && isControllerManager(manager) ? [manager] : [],
  );
  const others = managers.flatMap((manager) => {
    const owned = ownedFields(object, manager, 'status')?.status;
    return isRecord(owned) ? [owned] : [];
  });
  const isRepeated = ([field, value]: readonly [string, unknown]) =>
    !['conditions', 'observedGeneration'].includes(field) &&
    others.some((other) => field in other && isEqual(value, other[field], 'exact', undefined));
  return Object.fromEntries(Object.entries(status).filter((entry) => !isRepeated(entry)));
}

function withoutIdentity({ apiVersion: _, kind: __, metadata, ...rest }: Fields): Record<string, unknown> {
  if (!isRecord(metadata)) return rest;
  const kept = Object.entries(metadata).filter(
    ([name, value]) => !identityFields.includes(name) && value !== undefined,
  );
  return kept.length === 0 ? rest : { ...rest, metadata: Object.fromEntries(kept) };
}

function isEqual(desired: unknown, owned: unknown, comparison: Comparison, live: unknown): boolean {
  if (desired === owned) return true;
  // The field is owned but absent: it was applied as the zero value of its type, which the API omits.
  if (owned === null) return isZero(desired);
  if (Array.isArray(desired)) {
    if (!Array.isArray(owned) || desired.length !== owned.length) return false;
    // Items of other managers would move the live ones to other indexes.
    const items: readonly unknown[] = Array.isArray(live) && live.length === owned.length ? live : [];
    return desired.every((item, index) => isEqual(item, owned[index], comparison, items[index]));
  }
  if (isRecord(desired)) return isRecord(owned) && hasEqualFields(desired, owned, comparison, live);
  return comparison === 'quantity' && sameQuantity(desired, owned);
}

function hasEqualFields(desired: Fields, owned: Fields, comparison: Comparison, live: unknown): boolean {
  const names = Object.keys(desired).filter((name) => desired[name] !== undefined && desired[name] !== null);
  return (
    names.every((name) => {
      const there = isRecord(live) && Object.hasOwn(live, name) ? live[name] : undefined;
      const orAbsent = comparison === 'exact' ? there : (there ?? []);
      if (!Object.hasOwn(owned, name)) return isRecord(live) && isEmptyList(desired[name]) && isEmptyList(orAbsent);
      const inside = comparison === 'built-in' && quantityFields.has(name) ? 'quantity' : comparison;
      return isEqual(desired[name], owned[name], inside, there);
    }) &&
    Object.keys(owned).every((name) => names.includes(name) || isIgnorable(name, desired, owned[name], comparison))
  );
}

/** Returns whether an owned field that is not desired makes no difference: a default, or a field desired as null. */
function isIgnorable(name: string, desired: Fields, value: unknown, comparison: Comparison): boolean {
  if (desired[name] === null) return value === null;
  return comparison !== 'exact' && defaultedFields.get(name)?.includes(JSON.stringify(value)) === true;
}

function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}

function isZero(value: unknown): boolean {
  if (value === null || value === false || value === 0 || value === '') return true;
  if (Array.isArray(value)) return value.length === 0;
  return isRecord(value) && Object.values(value).every(isZero);
}

/** Returns a quantity in billionths, rounded up as in Kubernetes, or undefined if the value is not a quantity. */
function nanoUnits(value: unknown): bigint | undefined {
  if (typeof value !== 'string' && typeof value !== 'number') return undefined;
  const match = /^([+-]?)(\d{0,30})(?:\.(\d{0,30}))?(?:([KMGTPE]i)|([numkMGTPE])|[eE]([+-]?\d{1,2}))?$/.exec(
    String(value),
  );
  if (match === null) return undefined;
  const [, sign = '', whole = '', fraction = '', binary, decimal, exponent] = match;
  if (whole === '' && fraction === '') return undefined;
  const power =
    (exponent === undefined ? (decimalSuffixes[decimal ?? ''] ?? 0) : Number(exponent)) + 9 - fraction.length;
  const scaled = BigInt(whole + fraction) * 1024n ** BigInt(binary === undefined ? 0 : (binarySuffixes[binary] ?? 0));
  const size = power >= 0 ? scaled * 10n ** BigInt(power) : divideUp(scaled, 10n ** BigInt(-power));
  return sign === '-' ? -size : size;
}

function divideUp(value: bigint, by: bigint): bigint {
  return (value + by - 1n) / by;
}
