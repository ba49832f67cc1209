// JSON merge patch (RFC 7396): objects merge, null removes, everything else replaces.
import { isObject, type Json } from '../../../apiserver/json.ts';

/** Returns `target` with a merge patch applied. */
export function mergePatch(target: Json | undefined, patch: Json): Json {
  if (!isObject(patch)) return patch;
  const merged: Record<string, Json> = isObject(target) ? { ...target } : {};
  for (const [field, value] of Object.entries(patch)) {
    if (value === null) delete merged[field];
    else merged[field] = mergePatch(merged[field], value);
  }
  return merged;
}
