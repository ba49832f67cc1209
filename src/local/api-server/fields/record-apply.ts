// Server-side apply: lays what an applier says over the object, takes away what it said before and says no more, and refuses
// what another manager owns, unless forced. The algorithm is structured-merge-diff's (merge/update.go), set by set.
import type { Json } from '../../../apiserver/json.ts';
import type { ApiObject } from '../../../apiserver/object.ts';
import { isApiObject } from '../../../apiserver/object.ts';
import type { Schema } from '../../../apiserver/schema/schema.ts';
import { StatusError } from '../../../apiserver/status-error.ts';
import { compare, written } from '../../../apiserver/fields/compare.ts';
import { difference, type FieldSet, intersection, isEmpty, NO_FIELDS, paths, union } from '../../../apiserver/fields/field-set.ts';
import { fieldsOf, withContainers } from '../../../apiserver/fields/fields-of.ts';
import { isSameWriter, type Managed, named, type Writer } from '../../../apiserver/fields/managers.ts';
import { mergeApplied } from '../../../apiserver/fields/merge.ts';
import { content, ownable, recordUpdate, surrender } from '../../../apiserver/fields/record-update.ts';
import { removeFields } from './remove.ts';

/** Who applies, to what, and how. */
export interface ApplyRequest {
  readonly schema: Schema;
  readonly writer: Writer;
  readonly force: boolean;
  readonly time: string;
}

/** What an apply makes of an object. */
export interface Applied {
  readonly object: ApiObject;
  readonly entries: readonly Managed[];
}

/** Who owns the fields of an object that nobody had applied before (skipnonapplied.go). */
const BEFORE_FIRST_APPLY = 'before-first-apply';

/** Applies `config`, which the schema has accepted, to `live`. Throws a 409 StatusError when it conflicts and is not forced. */
export function recordApply(
  before: readonly Managed[],
  live: ApiObject,
  config: ApiObject,
  { schema, writer, force, time }: ApplyRequest,
): Applied {
  const known = before.length > 0 ? before : ownersBeforeFirstApply(live, { schema, writer, time });
  const bare = content(live);
  const own = known.find((entry) => isSameWriter(entry, writer));
  const claimed = { ...writer, time, fields: fieldsOf(config, schema) };
  const others = known.filter((entry) => entry !== own);
  const merged = mergeApplied(bare, content(config), schema);
  const next = prune(merged, own?.fields ?? NO_FIELDS, [...others, claimed], schema);
  if (!isApiObject(next)) throw new TypeError('an apply left no object');
  const differences = compare(bare, next, schema);
  if (!force) refuseConflicts(others, written(differences));
  const entries = [...surrender(others, differences), { ...claimed, fields: ownable(claimed.fields) }];
  return { object: next, entries: entries.filter(({ fields }) => !isEmpty(fields)) };
}

function ownersBeforeFirstApply(
  live: ApiObject,
  { schema, writer, time }: Omit<ApplyRequest, 'force'>,
): readonly Managed[] {
  if (live.metadata.uid === undefined) return [];
  const manager: Writer = { ...writer, manager: BEFORE_FIRST_APPLY, operation: 'Update', subresource: '' };
  return recordUpdate([], undefined, live, { schema, writer: manager, time });
}

/** Removes what the applier owned and no longer says, unless somebody else owns it, or it never was the applier's. */
function prune(merged: Json, last: FieldSet, entries: readonly Managed[], schema: Schema): Json {
  if (isEmpty(last)) return merged;
  const whole = (set: FieldSet): FieldSet => withContainers(set, schema);
  const remove = (set: FieldSet): Json => removeFields(merged, set, schema) ?? {};
  const all = whole(fieldsOf(merged, schema));
  const owned = whole(entries.map(({ fields }) => fields).reduce(union, NO_FIELDS));
  const withoutLast = whole(fieldsOf(remove(whole(last)), schema));
  const withOwned = whole(fieldsOf(remove(difference(all, union(withoutLast, owned))), schema));
  return remove(intersection(difference(all, withOwned), whole(last)));
}

function refuseConflicts(others: readonly Managed[], changed: FieldSet): void {
  const conflicts = others
    .map((entry) => ({ who: named(entry), fields: paths(intersection(entry.fields, changed)) }))
    .filter(({ fields }) => fields.length > 0)
    .toSorted((a, b) => (a.who < b.who ? -1 : 1));
  const [first] = conflicts;
  if (first === undefined) return;
  const causes = conflicts.flatMap(({ who, fields }) =>
    fields.map((field) => ({ reason: 'FieldManagerConflict', message: `conflict with ${who}`, field })),
  );
  const listed = conflicts.map(
    ({ who, fields }) => `conflicts with ${who}:\n${fields.map((f) => `- ${f}`).join('\n')}`,
  );
  const message =
    causes.length === 1
      ? `Apply failed with 1 conflict: conflict with ${first.who}: ${first.fields[0]}`
      : `Apply failed with ${causes.length} conflicts: ${listed.join('\n')}`;
  throw new StatusError(409, 'Conflict', message, { causes });
}
