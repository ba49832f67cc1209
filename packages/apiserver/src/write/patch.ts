// PATCH with a JSON patch, a merge patch or a strategic merge patch, by media type. Server-side apply is in apply.ts.
import { isList, isObject, type Json, parseJsonValue } from '../json.ts';
import type { ApiObject } from '../object.ts';
import { JsonPatchError, jsonPatch, mergePatch } from '../patch/json-patch.ts';
import { strategicMerge } from '../patch/strategic-merge.ts';
import type { ApiResource } from '../registry/resource.ts';
import type { ObjectTarget, ServerState, WriteOptions } from '../server-state.ts';
import { badRequest, invalid, StatusError, statusCause, unsupportedMediaType } from '../status-error.ts';
import { cannotHandle, pathMatches, readObject } from './read-object.ts';
import { updateObject } from './update.ts';

/** The media type of server-side apply. */
export const applyPatchType = 'application/apply-patch+yaml';
const jsonPatchType = 'application/json-patch+json';
const mergePatchType = 'application/merge-patch+json';
const strategicPatchType = 'application/strategic-merge-patch+json';

/** A patch as received. */
export type PatchBody = {
  readonly contentType: string;
  readonly text: string;
};

/** Throws a 415 StatusError for a patch type that the kind does not support. */
export function requirePatchType(contentType: string, { custom }: Pick<ApiResource, 'custom'>): void {
  const accepted = [jsonPatchType, mergePatchType, ...(custom ? [] : [strategicPatchType]), applyPatchType];
  if (!accepted.includes(contentType)) throw unsupportedMediaType(accepted);
}

/** Patches an object or its status. Throws StatusErrors: 400, 404, 409, 422. */
export function patchObject(
  state: ServerState,
  target: ObjectTarget,
  subresource: string,
  patch: PatchBody,
  options: WriteOptions,
): ApiObject {
  const { resource } = target;
  const parsed = parsePatch(patch);
  const change = (live: ApiObject) => {
    const patched = applyPatch(live, parsed, patch.contentType, resource);
    return { object: pathMatches(readPatched(state, patched, resource, options), target) };
  };
  return updateObject(state, target, subresource, change, options);
}

/**
 * Reads a patched object. A value that a built-in kind cannot hold, and with strict field validation an unknown field,
 * is a 422 with a cause at `patch`.
 */
function readPatched(state: ServerState, patched: Json, resource: ApiResource, options: WriteOptions): ApiObject {
  const unknown: string[] = [];
  const isStrict = options.fieldValidation === 'Strict';
  const validation = isStrict
    ? { fieldValidation: 'Warn' as const, warn: (text: string) => void unknown.push(text) }
    : options;
  try {
    const object = readObject(state, patched, resource, validation);
    if (unknown.length > 0) throw invalidPatch(patched, `strict decoding error: ${unknown.join(', ')}`);
    return object;
  } catch (error) {
    if (resource.custom || !(error instanceof StatusError) || error.code !== 400) throw error;
    throw invalidPatch(patched, error.message.replace(cannotHandle(resource, ''), ''));
  }
}

/** Returns a 422 with a cause at `patch`, for a patch whose result is no object of the kind. */
export function invalidPatch(patched: Json, reason: string): StatusError {
  const cause = statusCause.invalid('patch', JSON.stringify(JSON.stringify(patched)), reason);
  return invalid({ group: '', kind: '' }, '', [cause]);
}

/** Parses a patch. Throws a 400 StatusError for a malformed one. */
export function parsePatch({ contentType, text }: PatchBody): Json {
  let parsed: Json;
  try {
    parsed = parseJsonValue(text);
  } catch (error) {
    throw badRequest(`error decoding patch: ${error instanceof Error ? error.message : String(error)}`);
  }
  if (contentType === jsonPatchType ? !isList(parsed) : !isObject(parsed)) {
    throw badRequest('error decoding patch: json: cannot unmarshal into Go value');
  }
  return parsed;
}

/** Returns the patched object. Throws a 422 StatusError for a JSON patch that cannot be applied. */
export function applyPatch(live: Json, patch: Json, contentType: string, resource: ApiResource): Json {
  switch (contentType) {
    case jsonPatchType:
      return withInvalidError(() => jsonPatch(live, isList(patch) ? patch : []));
    case strategicPatchType:
      return strategicMerge(live, patch, resource.schema);
    default:
      return mergePatch(live, patch);
  }
}

function withInvalidError(patched: () => Json): Json {
  try {
    return patched();
  } catch (error) {
    if (!(error instanceof JsonPatchError)) throw error;
    // kube-apiserver does not report the reason.
    throw new StatusError(422, 'Invalid', 'the server rejected our request due to an error in our request', {});
  }
}
