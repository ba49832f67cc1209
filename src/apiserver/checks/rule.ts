// The language of the validation tables. A rule looks at the value of one field and returns the causes that
// kube-apiserver would return, with the same field paths and reasons. The tables of this folder name the rules of each
// field by the type that has it, as the published schemas name the types; check-content.ts walks an object by them.
import { getIn, getList, getMap, getString, isList, isObject, type Json, type JsonObject, sameJson } from '../json.ts';
import type { ApiObject } from '../object.ts';
import { labelValueError, qualifiedNameError } from '../registry/names.ts';
import { nanosOf } from '../schema/quantity.ts';
import { type StatusCause, statusCause } from '../status-error.ts';

/** Where a value is. */
export type Place = {
  readonly path: string;
  /** The object that has the field. */
  readonly parent: JsonObject;
  /** The whole object, and what it was before an update. */
  readonly root: ApiObject;
  readonly old: ApiObject | undefined;
};

/**
 * Returns the causes of a field. The value is undefined if the field is absent. `enters` says whether the content of the
 * value is checked too. It is unless the rule says otherwise.
 */
export type Rule = {
  (value: Json | undefined, place: Place): readonly StatusCause[];
  readonly enters?: (parent: JsonObject, place: Place) => boolean;
};

/**
 * The rules of a type by its fields. `self` is for the object as a whole. A field without a rule has that of its schema:
 * a required text is not empty, and a value is one of the enum.
 */
export type TypeRules = { readonly [field: string]: Rule };

/** Returns a value as messages show it. */
export function shown(value: Json | undefined): string {
  return JSON.stringify(value ?? null);
}

/** Returns whether a value is Go's zero value of its type, which is the same as an absent field. */
export function isEmpty(value: Json | undefined): boolean {
  if (isList(value)) return value.length === 0;
  return value === undefined || value === null || value === '' || value === 0;
}

/** Applies several rules. */
export function all(...rules: readonly Rule[]): Rule {
  return (value, place) => rules.flatMap((rule) => rule(value, place));
}

/** Applies a rule, and checks the content of the value only on a condition of the object around it. */
export function enterIf(enters: (parent: JsonObject, place: Place) => boolean, rule: Rule): Rule {
  const guarded = (value: Json | undefined, place: Place): readonly StatusCause[] => rule(value, place);
  return Object.assign(guarded, { enters });
}

/** Applies a rule only if a condition of the object around the field holds. */
export function when(condition: (parent: JsonObject, place: Place) => boolean, rule: Rule): Rule {
  return (value, place) => (condition(place.parent, place) ? rule(value, place) : []);
}

/** The field has a rule of its own type only, and none of its schema. */
export const anything: Rule = () => [];

/** Requires a value that is not empty. */
export const required: Rule = (value, { path }) => (isEmpty(value) ? [statusCause.required(path)] : []);

/** Requires that the field is absent. */
export function forbidden(detail: string): Rule {
  return (value, { path }) => (isEmpty(value) ? [] : [statusCause.forbidden(path, detail)]);
}

/** Requires that the field is absent, with the reason Invalid. */
export function unset(detail: string): Rule {
  return (value, { path }) => (isEmpty(value) ? [] : [statusCause.invalid(path, shown(value), detail)]);
}

/** Checks a text that is not empty by a function that returns an error. */
export function text(errorOf: (value: string) => string | undefined): Rule {
  return (value, place) => (value === '' ? [] : exactText(errorOf)(value, place));
}

/** Checks a text, also an empty one. */
export function exactText(errorOf: (value: string) => string | undefined): Rule {
  return (value, { path }) => {
    const error = typeof value === 'string' ? errorOf(value) : undefined;
    return error === undefined ? [] : [statusCause.invalid(path, shown(value), error)];
  };
}

/** Requires a text, and checks it. */
export function requiredText(errorOf: (value: string) => string | undefined): Rule {
  return all(required, text(errorOf));
}

/** Permits some values. An empty text is none of them. */
export function among(...permitted: readonly string[]): Rule {
  return (value, { path }) =>
    value === undefined || permitted.includes(String(value))
      ? []
      : [statusCause.notSupported(path, shown(value), permitted.map(shown))];
}

/** Permits some values, with the reason Invalid for others. */
export function amongOrInvalid(...permitted: readonly string[]): Rule {
  return exactText((value) => (permitted.includes(value) ? undefined : `must be one of ${permitted.join(', ')}`));
}

/** Permits numbers from the least to the most. */
export function between(least: number, most: number): Rule {
  const detail =
    most === Number.POSITIVE_INFINITY
      ? `must be greater than or equal to ${least}`
      : `must be between ${least} and ${most}, inclusive`;
  return (value, { path }) =>
    typeof value !== 'number' || (value >= least && value <= most)
      ? []
      : [statusCause.invalid(path, shown(value), detail)];
}

/** Permits numbers from the least on. */
export function atLeast(least: number): Rule {
  return between(least, Number.POSITIVE_INFINITY);
}

export const nonNegative = atLeast(0);
export const positive = atLeast(1);

/** Checks each item of a list at its index. */
export function each(rule: Rule): Rule {
  return (value, place) =>
    (isList(value) ? value : []).flatMap((item, index) => rule(item, { ...place, path: `${place.path}[${index}]` }));
}

/** Checks each item of a list at the path of the list, as some of Kubernetes' functions do. */
export function eachAtList(rule: Rule): Rule {
  return (value, place) => (isList(value) ? value : []).flatMap((item) => rule(item, place));
}

/** Checks each value of a map at its key. */
export function values(rule: Rule): Rule {
  return (value, place) =>
    Object.entries(getMap(value)).flatMap(([key, content]) =>
      rule(content, { ...place, path: `${place.path}[${key}]` }),
    );
}

/** Checks each key of a map at its key. */
export function keys(errorOf: (value: string) => string | undefined): Rule {
  return (value, place) =>
    Object.keys(getMap(value)).flatMap((key) => exactText(errorOf)(key, { ...place, path: `${place.path}[${key}]` }));
}

/** Permits at most so many items. */
export function atMost(most: number): Rule {
  return (value, { path }) =>
    isList(value) && value.length > most ? [statusCause.tooMany(path, value.length, most)] : [];
}

/** Requires that a field of the items of a list differs. Without a field the items themselves differ. Empty is no value. */
export function unique(field?: string, at = field === undefined ? '' : `.${field}`): Rule {
  return (value, { path }) => {
    const seen = (isList(value) ? value : []).map((item) =>
      field === undefined ? item : (getMap(item)[field] ?? null),
    );
    return seen.flatMap((one, index) =>
      isEmpty(one) || seen.findIndex((other) => sameJson(other, one)) === index
        ? []
        : [statusCause.duplicate(`${path}[${index}]${at}`, shown(one))],
    );
  };
}

/** Labels: each key is a qualified name and each value a label value, both at the path of the map. */
export const labels: Rule = (value, { path }) =>
  Object.entries(getMap(value)).flatMap(([key, content]) => {
    const errors = [
      [key, qualifiedNameError(key)],
      [String(content), labelValueError(String(content))],
    ] as const;
    return errors.flatMap(([one, error]) =>
      error === undefined ? [] : [statusCause.invalid(path, shown(one), error)],
    );
  });

/** Requires a quantity of at least 0, or more than 0. */
export function quantity(least: 'zero' | 'more'): Rule {
  return (value, { path }) => {
    const nanos = isEmpty(value) ? undefined : nanosOf(String(value));
    if (nanos === undefined || nanos > 0n || (nanos === 0n && least === 'zero')) return [];
    const detail = least === 'zero' ? 'must be greater than or equal to 0' : 'must be greater than zero';
    return [statusCause.invalid(path, shown(value), detail)];
  };
}

/**
 * Of these fields of an object one at most has a value, and one at least if `missing` says what is. The first one counts:
 * the others are refused as a whole.
 */
export function oneOf(fields: readonly string[], tooMany: string, missing?: string): Rule {
  return (value, { path }) => {
    const [first, ...others] = fields.filter((field) => getMap(value)[field] !== undefined);
    if (first === undefined) return missing === undefined ? [] : [statusCause.required(path, missing)];
    return others.map((field) => statusCause.forbidden(`${path}.${field}`, tooMany));
  };
}

/** Requires that a field of the whole object is not changed, at a path that an error can name differently. */
export function unchanged(
  path: string,
  refuse: (path: string, value: string) => StatusCause = isImmutable,
  at = path,
): Rule {
  const steps = path.split('.');
  return (_, { root, old }) => {
    if (old === undefined || sameGo(getIn(root, ...steps), getIn(old, ...steps))) return [];
    return [refuse(at, shown(getIn(root, ...steps)))];
  };
}

function isImmutable(path: string, value: string): StatusCause {
  return statusCause.invalid(path, value, 'field is immutable');
}

/** Returns whether two values are equal as Go compares them: an empty list or map equals an absent one. */
export function sameGo(a: Json | undefined, b: Json | undefined): boolean {
  const isNone = (value: Json | undefined): boolean =>
    value === undefined ||
    (isList(value) && value.length === 0) ||
    (isObject(value) && Object.keys(value).length === 0);
  return sameJson(a, b) || (isNone(a) && isNone(b));
}

/** Returns a condition: the field of the object around it is one of the texts. An absent field is the empty text. */
export function whose(field: string, ...texts: readonly string[]): (parent: JsonObject) => boolean {
  return (parent) => texts.includes(getString(parent, field));
}

/** Returns a condition: the list of the object around it has an item. */
export function having(field: string): (parent: JsonObject) => boolean {
  return (parent) => getList(parent, field).length > 0;
}
