// The language of the validation tables. A table names the rules of each field by the type that has it, as the
// published schemas name the types. A rule is a text of words, or a function for what the words do not say. Each
// returns the causes that kube-apiserver returns, with the same field paths and reasons. check-content.ts walks an
// object by the tables.
import { getIn, getMap, getString, isList, isObject, type Json, type JsonObject, sameJson } from '../json.ts';
import type { ApiObject } from '../object.ts';
import { labelValueError, qualifiedNameError } from '../registry/names.ts';
import { nanosOf } from '../schema/quantity.ts';
import { type StatusCause, statusCause } from '../status-error.ts';
import { textErrors } from './texts.ts';

/** Where a value is. */
export type Place = {
  readonly path: string;
  /** The object that has the field. */
  readonly parent: JsonObject;
  /** The whole object, and what it was before an update. */
  readonly root: ApiObject;
  readonly old: ApiObject | undefined;
  /** The part of the object that is checked. */
  readonly part: 'content' | 'status';
};

/**
 * Returns the causes of a field. The value is undefined if the field is absent. `enters` says whether the content of
 * the value is checked too. It is unless the rule says otherwise.
 */
export type Rule = {
  (value: Json | undefined, place: Place): readonly StatusCause[];
  readonly enters?: (parent: JsonObject, place: Place) => boolean;
};

/**
 * The rules of a type by its fields. `self` is for the object as a whole. A field without a rule has that of its
 * schema: a required text is not empty, and a value is one of the enum.
 *
 * The words of a rule:
 *
 * | word | permits |
 * | --- | --- |
 * | `none` | anything, whatever the schema says |
 * | `required` | a value that is not empty |
 * | `label`, `ip`, `portName` and the other names in texts.ts | such a text |
 * | `A\|B` | one of these texts |
 * | `1..100`, `0..` | numbers in this range |
 * | `quantity>0`, `quantity>=0` | such quantities |
 * | `max:3` | so many items |
 * | `unique`, `unique:name` | items that differ, or whose field differs |
 * | `labels` | labels |
 * | `unchanged` | what it was before an update |
 *
 * A text or number that is empty is not checked. After a `?` it is, and after a `!` it is also if it is absent. A `*`
 * before the word checks each item of a list, and a `@` does so at the path of the list.
 */
export type RuleTable = Readonly<Record<string, Readonly<Record<string, string | Rule>>>>;

/** Returns a value as messages show it. */
export const shown = (value: Json | undefined): string => JSON.stringify(value ?? null);

/** Returns a cause with the value. */
export const invalid = (path: string, value: Json | undefined, detail: string): StatusCause =>
  statusCause.invalid(path, shown(value), detail);

/** Returns a cause with the value, if it has an error. */
export const invalidFor = (path: string, value: Json | undefined, error: string | undefined): readonly StatusCause[] =>
  error === undefined ? [] : [invalid(path, value, error)];

/** Returns a cause with the values that are permitted. */
export const unsupported = (path: string, value: Json | undefined, permitted: readonly string[]): StatusCause =>
  statusCause.notSupported(path, shown(value), permitted.map(shown));

/** Returns these causes unless a condition holds. */
export const unless = (isValid: boolean, ...causes: readonly StatusCause[]): readonly StatusCause[] =>
  isValid ? [] : causes;

/** Returns the items of a list, and none for another value. */
export const itemsOf = (value: Json | undefined): readonly Json[] => (isList(value) ? value : []);

/** Returns whether a value is Go's zero value of its type, which is the same as an absent field. */
export function isEmpty(value: Json | undefined): boolean {
  if (isList(value)) return value.length === 0;
  return value === undefined || value === null || value === '' || value === 0;
}

/** Returns whether two values are equal as Go compares them: an empty list or map equals an absent one. */
export function sameGo(a: Json | undefined, b: Json | undefined): boolean {
  const isNone = (value: Json | undefined): boolean =>
    isObject(value) ? Object.keys(value).length === 0 : value === undefined || (isList(value) && value.length === 0);
  return sameJson(a, b) || (isNone(a) && isNone(b));
}

/** Reads the words of a rule. Throws an Error for an unknown word. */
export function rule(text: string | Rule): Rule {
  if (typeof text !== 'string') return text;
  const [first, ...others] = text.split(' ').map(readWord);
  return first === undefined || others.length > 0 ? all(...(first === undefined ? [] : [first]), ...others) : first;
}

/** Applies several rules. */
export function all(...rules: readonly (string | Rule)[]): Rule {
  const read = rules.map(rule);
  return (value, place) => read.flatMap((one) => one(value, place));
}

/** Applies one rule on a condition of the object around the field, and another one otherwise. */
export function when(
  condition: (parent: JsonObject, place: Place) => boolean,
  words: string | Rule,
  otherwise: string | Rule = 'none',
): Rule {
  const [one, other] = [rule(words), rule(otherwise)];
  return (value, place) => (condition(place.parent, place) ? one : other)(value, place);
}

/** Applies a rule, and checks the content of the value only on a condition of the object around it. */
export function enterIf(enters: (parent: JsonObject, place: Place) => boolean, words: string | Rule): Rule {
  const one = rule(words);
  const guarded = (value: Json | undefined, place: Place): readonly StatusCause[] => one(value, place);
  return Object.assign(guarded, { enters });
}

/** Refuses a value that is not empty, for this reason. */
export function forbidden(detail: string): Rule {
  return (value, { path }) => unless(isEmpty(value), statusCause.forbidden(path, detail));
}

/** Refuses a value that is not empty, as invalid. */
export function unset(detail: string): Rule {
  return (value, { path }) => unless(isEmpty(value), invalid(path, value, detail));
}

/** Checks each value of a map at its key, and the key. */
export function entries(words: string | Rule, keyError: (key: string) => string | undefined = () => undefined): Rule {
  const ofValue = rule(words);
  return (value, place) =>
    Object.entries(getMap(value)).flatMap(([key, content]) => {
      const at = { ...place, path: `${place.path}[${key}]` };
      return [...invalidFor(at.path, key, keyError(key)), ...ofValue(content, at)];
    });
}

/**
 * Of these fields of an object exactly one has a value. The first one counts: the others are refused as a whole.
 */
export function oneOf(fields: readonly string[], tooMany: string, missing: string): Rule {
  return (value, { path }) => {
    const [first, ...others] = fields.filter((field) => getMap(value)[field] !== undefined);
    if (first === undefined) return [statusCause.required(path, missing)];
    return others.map((field) => statusCause.forbidden(`${path}.${field}`, tooMany));
  };
}

/** Returns a condition: the field of the object is one of these texts. An absent field is the empty text. */
export function whose(field: string, ...texts: readonly string[]): (object: JsonObject) => boolean {
  return (object) => texts.includes(getString(object, field));
}

/** Refuses items of a list with the identity of one before. `at` is the path of the cause in the item. */
export function distinct(idOf: (item: Json) => Json | undefined, at = ''): Rule {
  return (value, { path }) => {
    const ids = itemsOf(value).map((item) => idOf(item) ?? null);
    return ids.flatMap((id, index) =>
      unless(
        ids.findIndex((other) => sameJson(other, id)) === index || isEmpty(id),
        statusCause.duplicate(`${path}[${index}]${at}`, shown(id)),
      ),
    );
  };
}

const plainWords: Readonly<Record<string, Rule>> = {
  none: () => [],
  required: (value, { path }) => unless(!isEmpty(value), statusCause.required(path)),
  labels: (value, { path }) =>
    Object.entries(getMap(value)).flatMap(([key, content]) => [
      ...invalidFor(path, key, qualifiedNameError(key)),
      ...invalidFor(path, String(content), labelValueError(String(content))),
    ]),
  unique: distinct((item) => item),
  unchanged: (value, { path, root, old }) =>
    unless(
      // The template of another object within this one may change.
      old === undefined ||
        path.includes('.spec.') ||
        sameGo(getIn(root, ...path.split('.')), getIn(old, ...path.split('.'))),
      invalid(path, value, 'field is immutable'),
    ),
};

function readWord(word: string): Rule {
  const [, items = '', name = '', mode = ''] = /^([*@]?)(.*?)([?!]?)$/.exec(word) ?? [];
  if (items !== '') {
    const one = readWord(word.slice(1));
    const at = (path: string, index: number): string => (items === '*' ? `${path}[${index}]` : path);
    return (value, place) =>
      itemsOf(value).flatMap((item, index) => one(item, { ...place, path: at(place.path, index) }));
  }
  const check = plainWords[name] ?? readList(name);
  if (check !== undefined) return check;
  const [zero, causesOf] = readScalar(name);
  return (value, { path }) => {
    const given = mode === '!' ? (value ?? zero) : value;
    return given === undefined || (mode === '' && given === '') ? [] : causesOf(given, path);
  };
}

/** The words about a list. */
function readList(name: string): Rule | undefined {
  const [kind, argument = ''] = name.split(':');
  if (kind === 'unique') return distinct((item) => getMap(item)[argument], `.${argument}`);
  if (kind !== 'max') return undefined;
  return (value, { path }) => {
    const count = itemsOf(value).length;
    return unless(count <= Number(argument), statusCause.tooMany(path, count, Number(argument)));
  };
}

/** The words about a text or a number: what an absent value counts as, and the causes of a value. */
function readScalar(name: string): readonly [Json, (value: Json, path: string) => readonly StatusCause[]] {
  const errorOf = textErrors[name];
  if (errorOf !== undefined)
    return ['', (value, path) => (typeof value === 'string' ? invalidFor(path, value, errorOf(value)) : [])];
  const range = /^(-?\d+)\.\.(\d*)$/.exec(name);
  if (range !== null) {
    const [least, most] = [Number(range[1]), range[2] === '' ? Number.POSITIVE_INFINITY : Number(range[2])];
    const detail =
      range[2] === '' ? `must be greater than or equal to ${least}` : `must be between ${least} and ${most}, inclusive`;
    return [
      0,
      (value, path) =>
        unless(typeof value !== 'number' || (value >= least && value <= most), invalid(path, value, detail)),
    ];
  }
  const quantity = /^quantity(>=?)0$/.exec(name);
  if (quantity !== null) {
    const least = quantity[1] === '>' ? 1n : 0n;
    const detail = least === 1n ? 'must be greater than zero' : 'must be greater than or equal to 0';
    return ['0', (value, path) => unless((nanosOf(String(value)) ?? least) >= least, invalid(path, value, detail))];
  }
  const permitted = name.split('|');
  if (permitted.length === 1) throw new Error(`no rule ${name}`);
  return ['', (value, path) => unless(permitted.includes(String(value)), unsupported(path, value, permitted))];
}
