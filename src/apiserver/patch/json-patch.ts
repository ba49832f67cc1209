// JSON patch (RFC 6902) as evanphx/json-patch does it for kube-apiserver, which lets `replace` make what was not there.
import { isList, isObject, type Json, sameJson, textAt } from '../json.ts';

/** Says why a patch does not fit the object. */
export class JsonPatchError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'JsonPatchError';
  }
}

/** Returns `target` with the operations applied in order. Throws a JsonPatchError for the first that does not fit. */
export function jsonPatch(target: Json, operations: readonly Json[]): Json {
  return operations.reduce<Json>((document, operation) => {
    const path = pointer(textAt(operation, 'path'));
    const value = isObject(operation) && operation.value !== undefined ? operation.value : null;
    switch (textAt(operation, 'op')) {
      case 'add':
        return edit(document, path, (_, place) => insert(place, value));
      case 'replace':
        return edit(document, path, (_, place) => put(place, value));
      case 'remove':
        return edit(document, path, (_, place) => remove(place));
      case 'move': {
        const from = pointer(textAt(operation, 'from'));
        const moved = read(document, from);
        return edit(
          edit(document, from, (_, place) => remove(place)),
          path,
          (_, place) => insert(place, moved),
        );
      }
      case 'copy': {
        const copied = read(document, pointer(textAt(operation, 'from')));
        return edit(document, path, (_, place) => insert(place, copied));
      }
      case 'test':
        if (sameJson(read(document, path, null), value)) return document;
        throw new JsonPatchError(`testing value ${textAt(operation, 'path')} failed: test failed`);
      default:
        throw new JsonPatchError(`Unexpected kind: ${textAt(operation, 'op')}`);
    }
  }, target);
}

interface Place {
  readonly container: Json;
  readonly step: string;
}

function pointer(text: string): string[] {
  if (text === '') return [];
  return text
    .slice(1)
    .split('/')
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** Replaces the container of the last step by what `change` makes of it. */
function edit(document: Json, path: readonly string[], change: (document: Json, place: Place) => Json): Json {
  const [step, ...rest] = path;
  if (step === undefined) return change(document, { container: { '': document }, step: '' });
  if (rest.length === 0) return change(document, { container: document, step });
  const below = read(document, [step]);
  return put({ container: document, step }, edit(below, rest, change));
}

function read(document: Json, path: readonly string[], fallback?: Json): Json {
  let found: Json | undefined = document;
  for (const step of path) {
    found = isList(found) ? found[indexOf(found, step)] : isObject(found) ? found[step] : undefined;
    if (found === undefined) {
      if (fallback !== undefined) return fallback;
      throw new JsonPatchError(`doc is missing path: /${path.join('/')}: missing value`);
    }
  }
  return found;
}

function insert({ container, step }: Place, value: Json): Json {
  if (isList(container)) {
    const index = step === '-' ? container.length : indexOf(container, step);
    if (index > container.length)
      throw new JsonPatchError(`Unable to access invalid index: ${index}: invalid index referenced`);
    return container.toSpliced(index, 0, value);
  }
  return put({ container, step }, value);
}

function put({ container, step }: Place, value: Json): Json {
  if (isList(container)) return container.with(indexOf(container, step), value);
  if (!isObject(container)) throw new JsonPatchError(`doc is missing path: ${step}: missing value`);
  return { ...container, [step]: value };
}

function remove({ container, step }: Place): Json {
  if (isList(container)) {
    const index = indexOf(container, step);
    if (index >= container.length)
      throw new JsonPatchError(`Unable to access invalid index: ${index}: invalid index referenced`);
    return container.toSpliced(index, 1);
  }
  if (!isObject(container) || container[step] === undefined) {
    throw new JsonPatchError(`Unable to remove nonexistent key: ${step}: missing value`);
  }
  const { [step]: _, ...rest } = container;
  return rest;
}

function indexOf(list: readonly Json[], step: string): number {
  const index = Number(step);
  if (!Number.isInteger(index))
    throw new JsonPatchError(`strconv.Atoi: parsing ${JSON.stringify(step)}: invalid syntax`);
  return index < 0 ? list.length + index : index;
}
