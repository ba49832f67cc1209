// Validates the content of a built-in kind: walks it by its schema, and applies to each field the rules that the tables
// have for its type.
import { isList, isObject, type Json, type JsonObject } from '../json.ts';
import type { ApiObject } from '../object.ts';
import type { Schema } from '../schema/schema.ts';
import { type StatusCause, statusCause } from '../status-error.ts';
import { accessRules } from './access-rules.ts';
import { containerRules } from './container-rules.ts';
import { dataRules } from './data-rules.ts';
import { jobRules } from './job-rules.ts';
import { networkRules } from './network-rules.ts';
import { podRules } from './pod-rules.ts';
import { type Place, type Rule, type RuleTable, rule, unless, unsupported } from './rule.ts';
import { statusRules } from './status-rules.ts';
import { storageRules } from './storage-rules.ts';
import { volumeRules } from './volume-rules.ts';
import { workloadRules } from './workload-rules.ts';

/** The rules of types, by the part of the object: a type of a spec is not checked in a status. */
const rulesOf = {
  status: read(statusRules),
  content: read({
    ...accessRules,
    ...containerRules,
    ...dataRules,
    ...jobRules,
    ...networkRules,
    ...podRules,
    ...storageRules,
    ...volumeRules,
    ...workloadRules,
  }),
};

function read(tables: RuleTable): Readonly<Record<string, Readonly<Record<string, Rule>>>> {
  return Object.fromEntries(
    Object.entries(tables).map(([type, table]) => [
      type,
      Object.fromEntries(Object.entries(table).map(([field, words]) => [field, rule(words)])),
    ]),
  );
}

const anything = rule('none');

/** Types that Go holds as pointers although their fields are required: absent is missing, and not an empty object. */
const pointers: readonly string[] = ['LabelSelector', 'NodeSelector'];

/** Returns the causes of an object, or those of its status. `old` is undefined for a create. */
export function checkContent(
  object: ApiObject,
  old: ApiObject | undefined,
  schema: Schema,
  part: Place['part'],
): StatusCause[] {
  const { apiVersion: _a, kind: _k, metadata: _m, status = {}, ...content } = schema.properties ?? {};
  const properties = part === 'status' ? { status } : content;
  const place = { path: '', parent: object, root: object, old, part };
  return checkValue(object, { ...schema, properties }, place);
}

function checkValue(value: Json, schema: Schema, place: Place): StatusCause[] {
  if (isList(value)) {
    const { items = {} } = schema;
    return value.flatMap((item, index) => checkValue(item, items, { ...place, path: `${place.path}[${index}]` }));
  }
  if (!isObject(value)) return [];
  const rules = rulesOf[place.part][schema.typeName ?? ''] ?? {};
  const causes = [...(rules.self?.(value, place) ?? [])];
  if (causes.length > 0 && rules.self?.enters?.(value, place) === false) return causes;
  for (const [field, below] of Object.entries(schema.properties ?? {})) {
    const path = place.path === '' ? field : `${place.path}.${field}`;
    if (below.typeName === 'ObjectMeta') continue;
    // What a controller writes to a status is hardly checked.
    const isFree = place.part === 'status';
    const isRequired = !isFree && schema.required?.includes(field) === true;
    const own = rules[field] ?? (isFree ? anything : bySchema(below, isRequired));
    causes.push(...checkField(value, field, below, isRequired, own, { ...place, path, parent: value }));
  }
  return withoutRefused(causes);
}

function checkField(
  object: JsonObject,
  field: string,
  schema: Schema,
  isRequired: boolean,
  own: Rule,
  place: Place,
): readonly StatusCause[] {
  const value = object[field] ?? (isRequired && isStruct(schema) ? {} : undefined);
  const causes = own(value, place);
  if (value === undefined || own.enters?.(object, place) === false) return causes;
  return [...checkValue(value, schema, place), ...causes];
}

/**
 * Drops the causes within what is refused as a whole: a second volume source is not looked into. What is in a refused
 * item of a list is checked nevertheless, and so is a spec that may not change.
 */
function withoutRefused(causes: readonly StatusCause[]): StatusCause[] {
  const refused = causes.filter(
    ({ reason, field }) => wholeReasons.includes(reason) && field !== 'spec' && !field.endsWith(']'),
  );
  return causes.filter(
    ({ reason, field }) =>
      !refused.some(
        (whole) =>
          field.startsWith(`${whole.field}.`) ||
          (reason === 'FieldValueRequired' && whole.reason === 'FieldValueForbidden' && field === whole.field),
      ),
  );
}

const wholeReasons: readonly string[] = ['FieldValueForbidden', 'FieldValueNotSupported'];

/** Returns whether Go always has a value of a type: a struct, and no pointer to it. */
function isStruct({ properties, typeName = '' }: Schema): boolean {
  return properties !== undefined && !pointers.includes(typeName);
}

/**
 * The rule that a published schema says itself. Lists, numbers and booleans have a zero value in Go, so that the server
 * does not require them although the schema does.
 */
function bySchema(schema: Schema, isRequired: boolean): Rule {
  return (value, { path }) => {
    if (value === undefined || value === '') {
      const isChecked =
        schema.type === 'string' || (schema.type === 'object' && schema.additionalProperties === undefined);
      return isRequired && isChecked ? [statusCause.required(path)] : [];
    }
    const permitted = schema.enum?.map(String);
    return unless(
      permitted === undefined || permitted.includes(String(value)),
      unsupported(path, value, permitted ?? []),
    );
  };
}
