// The algorithm of server-side apply. It merges a configuration into an object, removes the fields that the manager
// applied before and no longer applies, and reports conflicts with fields of other managers, unless forced. It follows
// structured-merge-diff (merge/update.go).
import { type Json, setField } from '../json.ts';
import type { ApiObject } from '../object.ts';
import { isApiObject } from '../object.ts';
import type { Schema } from '../schema/schema.ts';
import { StatusError } from '../status-error.ts';
import { addedOrModified, compare } from './compare.ts';
import { childFields, difference, type FieldSet, intersection, isEmpty, noFields, paths, union } from './field-set.ts';
import { fieldsOf, withContainers } from './fields-of.ts';
import { isSameWriter, type Managed, managerId, type Writer } from './managers.ts';
import { mergeApplied } from './merge.ts';
import { content, ownable, recordUpdate, releaseOwnership } from './record-update.ts';
import { fieldShape, schemaBelow } from './shape.ts';

/** The arguments of an apply. */
export type ApplyRequest = {
  readonly schema: Schema;
  readonly writer: Writer;
  readonly force: boolean;
  readonly time: string;
};

/** The object and its entries after an apply. */
export type ApplyRecord = {
  readonly object: ApiObject;
  readonly entries: readonly Managed[];
};

/** The manager of all fields of an object before its first apply (skipnonapplied.go). */
const beforeFirstApply = 'before-first-apply';

/**
 * Applies `config` to `live`. The schema must have accepted `config`. Throws a 409 StatusError for a conflict, unless
 * forced.
 */
export function recordApply(
  before: readonly Managed[],
  live: ApiObject,
  config: ApiObject,
  { schema, writer, force, time }: ApplyRequest,
): ApplyRecord {
  const known = before.length > 0 ? before : entriesBeforeFirstApply(live, { schema, writer, time });
  const liveContent = content(live);
  const own = known.find((entry) => isSameWriter(entry, writer));
  const applied = { ...writer, time, fields: fieldsOf(config, schema) };
  const others = known.filter((entry) => entry !== own);
  const merged = mergeApplied(liveContent, content(config), schema);
  const next = prune(merged, own?.fields ?? noFields, [...others, applied], schema);
  if (!isApiObject(next)) throw new TypeError('the result of an apply is not an object');
  const differences = compare(liveContent, next, schema);
  if (!force) requireNoConflict(others, addedOrModified(differences));
  const entries = [...releaseOwnership(others, differences), { ...applied, fields: ownable(applied.fields) }];
  return { object: next, entries: entries.filter(({ fields }) => !isEmpty(fields)) };
}

function entriesBeforeFirstApply(
  live: ApiObject,
  { schema, writer, time }: Omit<ApplyRequest, 'force'>,
): readonly Managed[] {
  if (live.metadata.uid === undefined) return [];
  const manager: Writer = { ...writer, manager: beforeFirstApply, operation: 'Update', subresource: '' };
  return recordUpdate([], undefined, live, { schema, writer: manager, time });
}

/** Removes the fields that the manager owned and no longer applies, except those that another manager owns. */
function prune(merged: Json, last: FieldSet, entries: readonly Managed[], schema: Schema): Json {
  if (isEmpty(last)) return merged;
  const complete = (set: FieldSet): FieldSet => withContainers(set, schema);
  const remove = (set: FieldSet): Json => removeFields(merged, set, schema) ?? {};
  const all = complete(fieldsOf(merged, schema));
  const owned = complete(entries.map(({ fields }) => fields).reduce(union, noFields));
  const withoutLast = complete(fieldsOf(remove(complete(last)), schema));
  const withOwned = complete(fieldsOf(remove(difference(all, union(withoutLast, owned))), schema));
  return remove(intersection(difference(all, withOwned), complete(last)));
}

/** Throws a 409 StatusError if other managers own fields that an apply changes. */
export function requireNoConflict(others: readonly Managed[], changed: FieldSet): void {
  const conflicts = others
    .map((entry) => ({ managerName: managerId(entry), fields: paths(intersection(entry.fields, changed)) }))
    .filter(({ fields }) => fields.length > 0)
    .toSorted((a, b) => (a.managerName < b.managerName ? -1 : 1));
  const [first] = conflicts;
  if (first === undefined) return;
  const causes = conflicts.flatMap(({ managerName, fields }) =>
    fields.map((field) => ({ reason: 'FieldManagerConflict', message: `conflict with ${managerName}`, field })),
  );
  const listed = conflicts.map(
    ({ managerName, fields }) => `conflicts with ${managerName}:\n${fields.map((f) => `- ${f}`).join('\n')}`,
  );
  const message =
    causes.length === 1
      ? `Apply failed with 1 conflict: conflict with ${first.managerName}: ${first.fields[0]}`
      : `Apply failed with ${causes.length} conflicts: ${listed.join('\n')}`;
  throw new StatusError(409, 'Conflict', message, { causes });
}

/**
 * Returns a value without the fields of a set, or null if it becomes empty (typed/remove.go): the field itself stays,
 * and an owner of it keeps it.
 */
function removeFields(value: Json, set: FieldSet, schema: Schema): Json {
  if (isEmpty(set)) return value;
  const shape = fieldShape(value, schema);
  if (shape.is === 'leaf') return value;
  if (shape.is === 'items') {
    const left: Json[] = [];
    for (const item of shape.items) {
      const element = shape.element(item);
      if (set.members.has(element)) continue;
      left.push(removeFields(item, childFields(set, element), shape.schema));
    }
    return left.length === 0 ? null : left;
  }
  const left: Record<string, Json> = {};
  for (const [field, content] of Object.entries(shape.fields)) {
    const element = `f:${field}`;
    if (set.members.has(element)) continue;
    setField(left, field, removeFields(content, childFields(set, element), schemaBelow(schema, field)));
  }
  return Object.keys(left).length === 0 ? null : left;
}
