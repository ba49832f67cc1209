// Sets of fields, as `metadata.managedFields` writes them: a tree of path elements (`f:name`, `k:{"name":"a"}`, `v:"x"`), each of
// which may be in the set itself, lead to others, or both. The whole of server-side apply is arithmetic on these sets.
import { isObject, type JsonObject } from '../json.ts';

/** A set of fields below one place. */
export interface FieldSet {
  readonly members: ReadonlySet<string>;
  /** Never holds an empty set. */
  readonly children: ReadonlyMap<string, FieldSet>;
}

/** The set without fields. */
export const NO_FIELDS: FieldSet = { members: new Set(), children: new Map() };

/** Tells whether a set has no field at all. */
export function isEmpty({ members, children }: FieldSet): boolean {
  return members.size === 0 && children.size === 0;
}

/** Makes a set of its members and of what is below; empty sets below are left out. */
export function fieldSet(members: Iterable<string>, children: Iterable<readonly [string, FieldSet]>): FieldSet {
  return { members: new Set(members), children: new Map([...children].filter(([, below]) => !isEmpty(below))) };
}

/** Returns what is below one path element. */
export function below({ children }: FieldSet, element: string): FieldSet {
  return children.get(element) ?? NO_FIELDS;
}

/** Returns the fields of either set. */
export function union(a: FieldSet, b: FieldSet): FieldSet {
  if (isEmpty(a)) return b;
  if (isEmpty(b)) return a;
  const elements = new Set([...a.children.keys(), ...b.children.keys()]);
  return fieldSet(
    new Set([...a.members, ...b.members]),
    [...elements].map((element) => [element, union(below(a, element), below(b, element))]),
  );
}

/** Returns the fields of both sets. */
export function intersection(a: FieldSet, b: FieldSet): FieldSet {
  return fieldSet(
    [...a.members].filter((element) => b.members.has(element)),
    [...a.children].map(([element, set]) => [element, intersection(set, below(b, element))]),
  );
}

/** Returns the fields of `a` that are not in `b`. A field of `b` takes nothing away that is below it. */
export function difference(a: FieldSet, b: FieldSet): FieldSet {
  if (isEmpty(b)) return a;
  return fieldSet(
    [...a.members].filter((element) => !b.members.has(element)),
    [...a.children].map(([element, set]) => [element, difference(set, below(b, element))]),
  );
}

/** Reads the `fieldsV1` of an entry. */
export function readFields(fieldsV1: JsonObject): FieldSet {
  const members: string[] = [];
  const children: [string, FieldSet][] = [];
  for (const [element, value] of Object.entries(fieldsV1)) {
    if (element === '.' || !isObject(value)) continue;
    const fields = Object.keys(value);
    if (fields.length === 0 || fields.includes('.')) members.push(element);
    children.push([element, readFields(value)]);
  }
  return fieldSet(members, children);
}

/** Writes a set as the `fieldsV1` of an entry. */
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

/** Lists the fields as people read them: `.spec.parts[name="c"].count`, in order. */
export function paths({ members, children }: FieldSet): string[] {
  const elements = [...new Set([...members, ...children.keys()])].sort();
  return elements.flatMap((element) => {
    const here = readable(element);
    const set = children.get(element);
    return [
      ...(members.has(element) ? [here] : []),
      ...(set === undefined ? [] : paths(set).map((path) => `${here}${path}`)),
    ];
  });
}

/** Returns one path element as people read it. */
export function readable(element: string): string {
  const text = element.slice(2);
  if (element.startsWith('f:')) return `.${text}`;
  if (element.startsWith('v:')) return `[=${text}]`;
  if (!element.startsWith('k:')) return `[${text}]`;
  const keys = Object.entries<unknown>(JSON.parse(text));
  return `[${keys.map(([key, value]) => `${key}=${JSON.stringify(value)}`).join(',')}]`;
}
