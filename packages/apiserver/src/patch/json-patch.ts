// JSON patch (RFC 6902) and JSON merge patch (RFC 7396). JSON patch behaves as evanphx/json-patch in kube-apiserver,
// where `replace` also creates a missing field. Strategic merge patch is in strategic-merge.ts.
import { getIn, getString, isList, isObject, type Json, ownField, sameJson, setField } from '../json.ts';

/** Thrown for a patch that cannot be applied to an object. */
export class JsonPatchError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'JsonPatchError';
  }
}

/** Returns `target` with the operations applied in order. Throws a JsonPatchError for the first that fails. */
export function jsonPatch(target: Json, operations: readonly Json[]): Json {
  return operations.reduce<Json>((document, operation) => {
    const value = isObject(operation) && operation.value !== undefined ? operation.value : null;
    const op = getString(operation, 'op');
    const isWhole = getIn(operation, 'path') === '';
    // Of the operations only `replace` and `test` may have an empty path, the whole document (evanphx/json-patch).
    if (op === 'replace' && isWhole) return value;
    const path = op === 'test' && isWhole ? [] : pointer(getString(operation, 'path'));
    switch (op) {
      case 'add':
        return edit(document, path, (_, location) => insert(location, value));
      case 'replace':
        return edit(document, path, (_, location) => put(location, value));
      case 'remove':
        return edit(document, path, (_, location) => remove(location));
      case 'move': {
        const from = pointer(getString(operation, 'from'));
        const moved = read(document, from);
        return edit(
          edit(document, from, (_, location) => remove(location)),
          path,
          (_, location) => insert(location, moved),
        );
      }
      case 'copy': {
        const copied = read(document, pointer(getString(operation, 'from')));
        return edit(document, path, (_, location) => insert(location, copied));
      }
      case 'test':
        if (sameJson(read(document, path, null), value)) return document;
        throw new JsonPatchError(`testing value ${getString(operation, 'path')} failed: test failed`);
      default:
        throw new JsonPatchError(`Unexpected kind: ${op}`);
    }
  }, target);
}

/** Returns `target` with a merge patch applied: objects merge, null removes a field, other values replace. */
export function mergePatch(target: Json | undefined, patch: Json): Json {
  if (!isObject(patch)) return patch;
  const merged: Record<string, Json> = isObject(target) ? { ...target } : {};
  for (const [field, value] of Object.entries(patch)) {
    if (value === null) delete merged[field];
    else setField(merged, field, mergePatch(ownField(merged, field), value));
  }
  return merged;
}

type Location = {
  readonly container: Json;
  readonly step: string;
};

function pointer(text: string): string[] {
  if (!text.startsWith('/')) throw new JsonPatchError(`Unexpected path: ${text}`);
  return text
    .slice(1)
    .split('/')
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** Returns `document` with the container of the last step of `path` replaced by the result of `change`. */
function edit(document: Json, path: readonly string[], change: (document: Json, location: Location) => Json): Json {
  const [step, ...rest] = path;
  if (step === undefined) throw new JsonPatchError('doc is missing path: missing value');
  if (rest.length === 0) return change(document, { container: document, step });
  const child = read(document, [step]);
  return put({ container: document, step }, edit(child, rest, change));
}

function read(document: Json, path: readonly string[], fallback?: Json): Json {
  let found: Json | undefined = document;
  for (const step of path) {
    found = isList(found) ? found[indexOf(found, step)] : isObject(found) ? ownField(found, step) : undefined;
    if (found === undefined) {
      if (fallback !== undefined) return fallback;
      throw new JsonPatchError(`doc is missing path: /${path.join('/')}: missing value`);
    }
  }
  return found;
}

function insert({ container, step }: Location, value: Json): Json {
  if (isList(container)) {
    // From the end of the list with the new item: -1 is behind the last one (evanphx/json-patch).
    const index = step === '-' ? container.length : indexOf([...container, value], step);
    if (index > container.length) throw invalidIndex(index);
    return container.toSpliced(index, 0, value);
  }
  return put({ container, step }, value);
}

function put({ container, step }: Location, value: Json): Json {
  if (isList(container)) {
    const index = indexOf(container, step);
    if (index >= container.length) throw invalidIndex(index);
    return container.with(index, value);
  }
  if (!isObject(container)) throw new JsonPatchError(`doc is missing path: ${step}: missing value`);
  return { ...container, [step]: value };
}

function remove({ container, step }: Location): Json {
  if (isList(container)) {
    const index = indexOf(container, step);
    if (index >= container.length) throw invalidIndex(index);
    return container.toSpliced(index, 1);
  }
  if (!isObject(container) || !Object.hasOwn(container, step)) {
    throw new JsonPatchError(`Unable to remove nonexistent key: ${step}: missing value`);
  }
  const { [step]: _, ...rest } = container;
  return rest;
}

function indexOf(list: readonly Json[], step: string): number {
  const index = Number(step);
  if (!Number.isInteger(index))
    throw new JsonPatchError(`strconv.Atoi: parsing ${JSON.stringify(step)}: invalid syntax`);
  if (index < -list.length) throw invalidIndex(index);
  return index < 0 ? list.length + index : index;
}

function invalidIndex(index: number): JsonPatchError {
  return new JsonPatchError(`Unable to access invalid index: ${index}: invalid index referenced`);
}
