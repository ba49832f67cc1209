// Whether what we would apply is what we already own. The API server does not give back what it was given: it rewrites
// quantities, leaves out zero values and fills in defaults even inside values that one manager owns whole.
//
// Caveats: a default inside an atomic value that is not in DEFAULTS (a custom resource's list without list-map keys, say), a
// map applied empty that the server fills with defaults, and a Secret's stringData look like a difference every time; the
// apply then changes nothing and is counted as such.

import { sameQuantity } from './quantity.ts';
import { isRecord } from './record.ts';

/** Below a field of one of these names, values are quantities. Elsewhere "1k" and "1000" are two texts (an env value, say). */
const QUANTITIES = new Set([
  'requests',
  'limits',
  'capacity',
  'overhead',
  'hard',
  'sizeLimit',
  'divisor',
  'averageValue',
]);

/** Defaults that the server fills into atomic values: ports of a NetworkPolicy, fieldRef, volumeClaimTemplates, projections. */
const DEFAULTS: Readonly<Record<string, readonly string[]>> = {
  protocol: ['"TCP"'],
  volumeMode: ['"Filesystem"'],
  apiVersion: ['"v1"'],
  kind: ['"PersistentVolumeClaim"'],
  status: ['{"phase":"Pending"}'],
  divisor: ['"0"'],
  expirationSeconds: ['3600'],
  creationTimestamp: ['null'],
};

/** What managedFields never list: they say which object it is, and are not owned by anybody. */
const IDENTITY = ['name', 'namespace', 'uid', 'resourceVersion', 'generation', 'creationTimestamp', 'managedFields'];

/**
 * Compares an object (or a part of one) that we would apply with what ownedBy returned. False means: apply. Lists are
 * compared in order, because applying in another order reorders them.
 */
export function sameOwned(
  desired: Readonly<Record<string, unknown>>,
  owned: Readonly<Record<string, unknown>> | undefined,
): boolean {
  return owned !== undefined && same(withoutIdentity(desired), owned, false);
}

function withoutIdentity({
  apiVersion: _,
  kind: __,
  metadata,
  ...rest
}: Readonly<Record<string, unknown>>): Record<string, unknown> {
  if (!isRecord(metadata)) return rest;
  const kept = Object.entries(metadata).filter(([name, value]) => !IDENTITY.includes(name) && value !== undefined);
  return kept.length === 0 ? rest : { ...rest, metadata: Object.fromEntries(kept) };
}

function same(desired: unknown, owned: unknown, quantity: boolean): boolean {
  if (desired === owned) return true;
  // Owned, and not shown: it was applied as the zero value of its type, which the API leaves out.
  if (owned === null) return isZero(desired);
  if (Array.isArray(desired)) {
    if (!Array.isArray(owned) || desired.length !== owned.length) return false;
    return desired.every((item, index) => same(item, owned[index], quantity));
  }
  if (isRecord(desired)) return isRecord(owned) && sameFields(desired, owned, quantity);
  return quantity && sameQuantity(desired, owned);
}

function sameFields(
  desired: Readonly<Record<string, unknown>>,
  owned: Readonly<Record<string, unknown>>,
  quantity: boolean,
): boolean {
  const wanted = Object.keys(desired).filter((name) => desired[name] !== undefined && desired[name] !== null);
  return (
    wanted.every((name) => {
      const inside = quantity || QUANTITIES.has(name);
      return Object.hasOwn(owned, name) ? same(desired[name], owned[name], inside) : false;
    }) && Object.keys(owned).every((name) => wanted.includes(name) || isAllowed(name, desired, owned[name]))
  );
}

/** Whether what is there beyond what we want may be: a default, or what we asked for as null. */
function isAllowed(name: string, desired: Readonly<Record<string, unknown>>, value: unknown): boolean {
  if (desired[name] === null) return value === null;
  return DEFAULTS[name]?.includes(JSON.stringify(value)) === true;
}

function isZero(value: unknown): boolean {
  if (value === null || value === false || value === 0 || value === '') return true;
  if (Array.isArray(value)) return value.length === 0;
  return isRecord(value) && Object.values(value).every(isZero);
}
