// Sets of fields in the form of `metadata.managedFields`: a tree of path elements (`f:name`, `k:{"name":"a"}`,
// `v:"x"`). An element can be a member of the set, have children in the set, or both. Server-side apply consists of
// operations on these sets.
import { isObject, type JsonObject } from '../json.ts';

/** A set of fields, relative to one path. */
export type FieldSet = {
  readonly members: ReadonlySet<string>;
  /** Contains no empty sets. */
  readonly children: ReadonlyMap<string, FieldSet>;
};

/** The empty set. */
export const noFields: FieldSet = { members: new Set(), children: new Map() };

/** Returns whether a set is empty. */
export function isEmpty({ members, children }: FieldSet): boolean {
  return members.size === 0 && children.size === 0;
}

/** Returns a set of members and children. Empty children are omitted. */
export function fieldSet(members: Iterable<string>, children: Iterable<readonly [string, FieldSet]>): FieldSet {
  return { members: new Set(members), children: new Map([...children].filter(([, child]) => !isEmpty(child))) };
}

/** Returns the children of one path element. */
export function childFields({ children }: FieldSet, element: string): FieldSet {
  return children.get(element) ?? noFields;
}

/** Returns the fields that are in either set. */
export function union(a: FieldSet, b: FieldSet): FieldSet {
  if (isEmpty(a)) return b;
  if (isEmpty(b)) return a;
  const elements = new Set([...a.children.keys(), ...b.children.keys()]);
  return fieldSet(
    new Set([...a.members, ...b.members]),
    [...elements].map((element) => [element, union(childFields(a, element), childFields(b, element))]),
  );
}

/** Returns the fields that are in both sets. */
export function intersection(a: FieldSet, b: FieldSet): FieldSet {
  return fieldSet(
    [...a.members].filter((element) => b.members.has(element)),
    [...a.children].map(([element, set]) => [element, intersection(set, childFields(b, element))]),
  );
}

/** Returns the fields of `a` that are not in `b`. A member of `b` does not remove its children from `a`. */
export function difference(a: FieldSet, b: FieldSet): FieldSet {
  if (isEmpty(b)) return a;
  return fieldSet(
    [...a.members].filter((element) => !b.members.has(element)),
    [...a.children].map(([element, set]) => [element, difference(set, childFields(b, element))]),
  );
}

/** Parses the `fieldsV1` of an entry. */
export function readFields(fieldsV1: JsonObject): FieldSet {
  const members: string[] = [];
  const children: [string, FieldSet][] = [];
  for (const [element, value] of Object.entries(fieldsV1)) {
    if (!/^[fkvi]:/.test(element) || !isObject(value)) continue;
    const fields = Object.keys(value);
    if (fields.length === 0 || fields.includes('.')) members.push(element);
    children.push([element, readFields(value)]);
  }
  return fieldSet(members, children);
}

/** Returns a set as the `fieldsV1` of an entry. */
export function writeFields({ members, children }: FieldSet): JsonObject {
  const elements = [...new Set([...members, ...children.keys()])].sort();
  return Object.fromEntries(
    elements.map((element) => {
      const set = children.get(element);
      if (set === undefined) return [element, {}];
      return [element, members.has(element) ? { '.': {}, ...writeFields(set) } : writeFields(set)];
    }),
  );
}

/**
 * Returns the paths of a set in the form of messages: `.spec.parts[name="c"].count`. Those of a level are before those
 * below it, as structured-merge-diff iterates (fieldpath/set.go).
 */
export function paths({ members, children }: FieldSet): string[] {
  const below = [...children].sort(([a], [b]) => (a < b ? -1 : 1));
  return [
    ...[...members].sort().map(formatElement),
    ...below.flatMap(([element, set]) => paths(set).map((path) => `${formatElement(element)}${path}`)),
  ];
}

/** Returns one path element in the form of messages. */
export function formatElement(element: string): string {
  const text = element.slice(2);
  if (element.startsWith('f:')) return `.${text}`;
  if (element.startsWith('v:')) return `[=${text}]`;
  if (!element.startsWith('k:')) return `[${text}]`;
  const keys = Object.entries<unknown>(JSON.parse(text));
  return `[${keys.map(([key, value]) => `${key}=${JSON.stringify(value)}`).join(',')}]`;
}
