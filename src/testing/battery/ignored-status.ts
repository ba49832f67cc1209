// Fields of the status that the author does not want compared, because something outside of the controller counts or
// dates them, such as a version that each write to the outside system raises.
import { isCustomKind } from '../../api/custom-kind.ts';
import type { Kind } from '../../api/kind.ts';
import { preserveKey } from '../../api/rule.ts';
import { isJsonObject, isRecord, type Json } from '../../core/json.ts';
import { structuralSchema } from '../../generate/crd/schema.ts';

/**
 * Returns a function that takes the fields out of a status. A list or a map in a path stands for each of its items.
 * Throws TypeError for a field that the status of the kind does not have.
 */
export function ignoredStatus(kind: Kind, paths: readonly string[]): (status: unknown) => unknown {
  if (paths.length === 0) return (status) => status;
  if (!isCustomKind(kind)) throw new TypeError(`ignoreStatus: ${kind.kind} is not a kind of defineKind`);
  const schema = structuralSchema(kind.definition.status, 'status');
  for (const path of paths) {
    const missing = missingIn(schema, path.split('.'));
    if (missing === undefined) continue;
    throw new TypeError(`ignoreStatus: the status of ${kind.kind} has no field ${path} (there is no ${missing})`);
  }
  return (status) => paths.reduce((left, path) => omit(left, schema, path.split('.')), status);
}

/** The schema of the items, if it is one of a list or a map. */
function itemsOf(schema: Json | undefined): Json | undefined {
  if (!isJsonObject(schema)) return undefined;
  return schema.items ?? (isJsonObject(schema.additionalProperties) ? schema.additionalProperties : undefined);
}

function fieldOf(schema: Json | undefined, name: string): Json | undefined {
  return isJsonObject(schema) && isJsonObject(schema.properties) ? schema.properties[name] : undefined;
}

/** Returns the first name of a path that a schema does not have. */
function missingIn(schema: Json | undefined, [name, ...rest]: readonly string[]): string | undefined {
  if (name === undefined || (isJsonObject(schema) && schema[preserveKey] === true)) return undefined;
  const items = itemsOf(schema);
  if (items !== undefined) return missingIn(items, [name, ...rest]);
  const field = fieldOf(schema, name);
  return field === undefined ? name : missingIn(field, rest);
}

function omit(value: unknown, schema: Json | undefined, path: readonly string[]): unknown {
  const [name = '', ...rest] = path;
  const items = itemsOf(schema);
  if (Array.isArray(value)) return value.map((one) => omit(one, items, path));
  if (!isRecord(value)) return value;
  const entries = Object.entries(value);
  if (items !== undefined) return Object.fromEntries(entries.map(([key, one]) => [key, omit(one, items, path)]));
  return Object.fromEntries(
    entries.flatMap(([key, one]) => {
      if (key !== name) return [[key, one] as const];
      return rest.length === 0 ? [] : [[key, omit(one, fieldOf(schema, key), rest)] as const];
    }),
  );
}
