// What to claim after the API server has refused an apply with 422: a field that the controller neither set nor removed
// contradicts those that it applies, such as a defaulted sibling in a union (`rollingUpdate` beside `Recreate`) or a
// port of the same name. The causes of the error name it. No knowledge of a kind is needed, nor are the reasons: a
// Deployment's is Forbidden, a StatefulSet's is Invalid.
import { isRecord } from '../../core/json.ts';
import type { ApiError } from '../client/errors.ts';
import type { KubeObject } from '../client/object.ts';
import { isShared } from './exact-paths.ts';
import { type Claim, Ownership } from './ownership.ts';

/**
 * Returns the claims that change anything, one for each cause: what the desired object has nowhere, else the innermost
 * list around the field, else the outer ones, else the field. Of the spec as a whole only what the message mentions.
 */
export function claimsAfter(
  error: ApiError,
  live: KubeObject,
  desired: KubeObject,
  fieldManager: string,
): readonly Claim[] {
  const causes = error.body?.details?.causes ?? [];
  // A policy's cause has no field, and that of a rule on the whole object is `<nil>`.
  return causes.flatMap(({ field = '', message = '' }) => {
    const all = [...candidates(field, desired), ...mentioned(field, message, { live, desired })];
    const found = all.find((claim) => new Ownership(live, fieldManager).claim(claim, desired));
    return found === undefined ? [] : [found];
  });
}

function candidates(field: string, desired: KubeObject): readonly Claim[] {
  const { names, lists } = partsOf(field);
  const absent = names.findIndex((_, index) => !isGiven(desired, names.slice(0, index + 1)));
  const all: readonly Claim[] = [
    ...(absent < 0 ? [] : [{ path: names.slice(0, absent + 1), withUnowned: true }]),
    ...lists.map((path) => ({ path, withUnowned: false })),
    { path: names, withUnowned: false },
  ];
  return all.filter(({ path }) => path.length > 0 && !isShared(path));
}

/**
 * Returns the fields of others in the spec that a cause on the whole spec mentions and that are not desired, such as
 * those of a budget: "minAvailable and maxUnavailable cannot be both set".
 */
function mentioned(
  field: string,
  message: string,
  { live, desired }: { readonly live: KubeObject; readonly desired: KubeObject },
): readonly Claim[] {
  if (field !== 'spec' || !isRecord(live.spec)) return [];
  const words = new Set(message.match(/\w+/g));
  const names = Object.keys(live.spec).filter((name) => words.has(name) && !isGiven(desired, ['spec', name]));
  return names.map((name) => ({ path: ['spec', name], withUnowned: false })).filter(({ path }) => !isShared(path));
}

/**
 * Returns the names of a field such as `spec.ports[2].name`, and the lists in it, innermost first. The index is that of
 * the merged object, so a list stands for all its items. In brackets is also the key of a map.
 */
function partsOf(field: string): { readonly names: readonly string[]; readonly lists: readonly (readonly string[])[] } {
  const names: string[] = [];
  const lists: (readonly string[])[] = [];
  for (const [, name, key = ''] of field.matchAll(/([^.[\]]+)|\[([^\]]*)\]/g)) {
    if (name !== undefined) names.push(name);
    else if (/^\d+$/.test(key)) lists.unshift([...names]);
    else names.push(key);
  }
  return { names, lists };
}

/** Returns whether an item of the lists on a path has something there. */
function isGiven(value: unknown, path: readonly string[]): boolean {
  if (Array.isArray(value)) return value.some((item) => isGiven(item, path));
  const [name, ...rest] = path;
  if (name === undefined) return value !== undefined && value !== null;
  return isRecord(value) && Object.hasOwn(value, name) && isGiven(value[name], rest);
}
