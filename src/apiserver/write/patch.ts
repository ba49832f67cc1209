// PATCH, by media type: merge, JSON and strategic merge patches change the live object; apply has a file of its own.
import { isList, isObject, type Json, parseJson } from '../json.ts';
import type { ApiObject } from '../object.ts';
import { JsonPatchError, jsonPatch } from '../patch/json-patch.ts';
import { mergePatch } from '../../local/api-server/patch/merge-patch.ts';
import { strategicMerge } from '../patch/strategic-merge.ts';
import type { Resource } from '../registry/resource.ts';
import { badRequest, cause, invalid, StatusError, unsupportedMediaType } from '../status-error.ts';
import type { Target, World, WriteOptions } from '../server-state.ts';
import { atTarget, readObject } from './read-object.ts';
import { updateObject } from './update.ts';

/** The media type of server-side apply. */
export const APPLY_PATCH = 'application/apply-patch+yaml';
const JSON_PATCH = 'application/json-patch+json';
const MERGE_PATCH = 'application/merge-patch+json';
const STRATEGIC_PATCH = 'application/strategic-merge-patch+json';

/** A patch as it came. */
export interface PatchBody {
  readonly contentType: string;
  readonly text: string;
}

/** Throws a 415 StatusError for a patch that the kind does not take. */
export function requirePatchType(contentType: string, { custom }: Pick<Resource, 'custom'>): void {
  const accepted = [JSON_PATCH, MERGE_PATCH, ...(custom ? [] : [STRATEGIC_PATCH]), APPLY_PATCH];
  if (!accepted.includes(contentType)) throw unsupportedMediaType(accepted);
}

/** Patches an object or its status. Throws StatusErrors: 400, 404, 409, 422. */
export function patchObject(
  world: World,
  target: Target,
  subresource: string,
  patch: PatchBody,
  options: WriteOptions,
): ApiObject {
  const { resource } = target;
  const parsed = parsePatch(patch);
  const make = (live: ApiObject) => {
    const patched = applyPatch(live, parsed, patch.contentType, resource);
    return { object: atTarget(readPatched(world, patched, resource, options), target) };
  };
  return updateObject(world, target, subresource, make, options);
}

/** Unknown fields of a patched object are the patch's fault, so they are refused as Invalid at `patch`. */
function readPatched(world: World, patched: Json, resource: Resource, options: WriteOptions): ApiObject {
  if (options.fieldValidation !== 'Strict') return readObject(world, patched, resource, options);
  const unknown: string[] = [];
  const object = readObject(world, patched, resource, { fieldValidation: 'Warn', warn: (text) => unknown.push(text) });
  if (unknown.length === 0) return object;
  const wrong = cause.invalid(
    'patch',
    JSON.stringify(JSON.stringify(patched)),
    `strict decoding error: ${unknown.join(', ')}`,
  );
  throw invalid({ group: '', kind: '' }, '', [wrong]);
}

/** Reads a patch. Throws a 400 StatusError for what is none. */
export function parsePatch({ contentType, text }: PatchBody): Json {
  let parsed: Json;
  try {
    parsed = parseJson(text);
  } catch (error) {
    throw badRequest(`error decoding patch: ${error instanceof Error ? error.message : String(error)}`);
  }
  if (contentType === JSON_PATCH ? !isList(parsed) : !isObject(parsed)) {
    throw badRequest('error decoding patch: json: cannot unmarshal into Go value');
  }
  return parsed;
}

/** Returns what a patch makes of an object. Throws a 422 StatusError for a JSON patch that does not fit. */
export function applyPatch(live: Json, patch: Json, contentType: string, resource: Resource): Json {
  switch (contentType) {
    case JSON_PATCH:
      return fitting(() => jsonPatch(live, isList(patch) ? patch : []));
    case STRATEGIC_PATCH:
      return strategicMerge(live, patch, resource.schema);
    default:
      return mergePatch(live, patch);
  }
}

function fitting(patched: () => Json): Json {
  try {
    return patched();
  } catch (error) {
    if (!(error instanceof JsonPatchError)) throw error;
    // kube-apiserver keeps the reason to itself.
    throw new StatusError(422, 'Invalid', 'the server rejected our request due to an error in our request', {});
  }
}
