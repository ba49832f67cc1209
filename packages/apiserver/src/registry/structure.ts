// Checks that the schema of a CRD is structural: every value has a type, defaults are valid, rules compile.
// kube-apiserver rejects other schemas, so this server does too.
import { invalid } from '../checks/rule.ts';
import { getList, getMap, getString, isObject, type Json, type JsonObject } from '../json.ts';
import { isPattern } from '../schema/pattern.ts';
import { prune } from '../schema/prune.ts';
import { isTransition, ruleError } from '../schema/rule-fields.ts';
import { fieldSchema, type Schema } from '../schema/schema.ts';
import { validate } from '../schema/validate.ts';
import { type StatusCause, statusCause } from '../status-error.ts';

// The fields of the root object that rules can read.
const textSchema: Schema = { type: 'string' };
const rootFields = {
  apiVersion: textSchema,
  kind: textSchema,
  metadata: { type: 'object', properties: { name: textSchema, generateName: textSchema } },
} as const;

/** Returns the causes for the schema of one version. */
export function checkStructure(source: JsonObject, path: string): StatusCause[] {
  if (source.type === undefined) return [statusCause.required(`${path}.type`, 'must not be empty at the root')];
  return checkNode(source, path, true);
}

/** `apart` is the path of the list without keys around the node: nothing in it has an older self. */
function checkNode(source: JsonObject, path: string, root: boolean, apart = ''): StatusCause[] {
  const schema = schemaOf(source, root);
  const typeOptional =
    source['x-kubernetes-int-or-string'] === true || source['x-kubernetes-preserve-unknown-fields'] === true;
  const causes: StatusCause[] = [];
  if (source.type === undefined && !typeOptional) {
    causes.push(statusCause.required(`${path}.type`, 'must not be empty for specified object fields'));
  }
  causes.push(...checkKeywords(source, path), ...checkListType(source, path));
  causes.push(...['allOf', 'anyOf', 'oneOf', 'not'].flatMap((field) => checkChoices(source, field, path)));
  if (source.default !== undefined) {
    if (prune(source.default, schema).unknown.length > 0)
      causes.push(invalid(`${path}.default`, source.default, 'must not have unknown fields'));
    causes.push(...validate(source.default, undefined, schema, { path: '', root: `${path}.default` }));
  }
  for (const [index, rule] of getList(source, 'x-kubernetes-validations').entries())
    causes.push(...checkRule(getMap(rule), schema, `${path}.x-kubernetes-validations[${index}]`, apart));
  const children: [string, Json | undefined][] = [
    ...Object.entries(getMap(source, 'properties')).map(([name, value]): [string, Json] => [
      `properties[${name}]`,
      value,
    ]),
    ['items', source.items],
    ['additionalProperties', source.additionalProperties],
  ];
  for (const [step, value] of children) {
    if (!isObject(value)) continue;
    const isApart = step === 'items' && source['x-kubernetes-list-type'] !== 'map';
    const without = apart === '' && isApart ? path : apart;
    if (!(root && step === 'properties[metadata]')) causes.push(...checkNode(value, `${path}.${step}`, false, without));
    else if (Object.keys(getMap(value, 'properties')).some((name) => name !== 'name' && name !== 'generateName')) {
      const detail = 'must not specify anything other than name and generateName, but metadata is implicitly specified';
      causes.push(statusCause.forbidden(`${path}.${step}`, detail));
    }
  }
  return causes;
}

/** Returns whether a path may be that of a field. Only paths of plain names are looked up, such as `.size.least`. */
function isFieldPath(fieldPath: string, schema: Schema): boolean {
  if (!/^(\.[\w-]+)+$/.test(fieldPath)) return true;
  let at: Schema | undefined = schema;
  for (const name of fieldPath.slice(1).split('.')) {
    at = fieldSchema(at, name);
    if (at === undefined) return false;
  }
  return true;
}

function checkRule(rule: JsonObject, schema: Schema, at: string, apart: string): StatusCause[] {
  const { optionalOldSelf } = rule;
  const [text, fieldPath] = [getString(rule, 'rule'), getString(rule, 'fieldPath')];
  const causes: StatusCause[] = [];
  if (optionalOldSelf !== undefined && !isTransition(text))
    causes.push(invalid(`${at}.optionalOldSelf`, optionalOldSelf, 'may not be set if oldSelf is not used in rule'));
  if (apart !== '' && isTransition(text)) {
    const detail = `oldSelf cannot be used on the uncorrelatable portion of the schema within ${apart}`;
    causes.push(invalid(`${at}.rule`, text, detail));
  }
  const error = ruleError(text, schema);
  if (error !== undefined) causes.push(invalid(`${at}.rule`, rule, `compilation failed: ERROR: ${error}`));
  if (!isFieldPath(fieldPath, schema)) causes.push(invalid(`${at}.fieldPath`, fieldPath, 'must be a valid path'));
  return causes;
}

const onlyOutside: readonly string[] = ['type', 'default', 'title', 'description', 'nullable', 'additionalProperties'];

/** Checks that alternatives only restrict a value. An int-or-string may name its two types. */
function checkChoices(source: JsonObject, field: string, path: string): StatusCause[] {
  if (source['x-kubernetes-int-or-string'] === true) return [];
  const [given, at] = [source[field], `${path}.${field}`];
  if (isObject(given)) return checkRestriction(given, at);
  return getList(source, field).flatMap((one, index) => checkRestriction(getMap(one), `${at}[${index}]`));
}

function checkRestriction(one: JsonObject, path: string): StatusCause[] {
  const below = Object.entries(getMap(one, 'properties'));
  return [
    ...onlyOutside
      .filter((keyword) => one[keyword] !== undefined)
      .map((keyword) => statusCause.forbidden(`${path}.${keyword}`, 'must be empty to be structural')),
    ...below.flatMap(([name, schema]) => checkRestriction(getMap(schema), `${path}.properties[${name}]`)),
  ];
}

const types = ['array', 'boolean', 'integer', 'number', 'object', 'string'];

function checkKeywords(source: JsonObject, path: string): StatusCause[] {
  const { type, pattern, properties, additionalProperties, items, uniqueItems } = source;
  const causes: StatusCause[] = [];
  if (typeof type === 'string' && !types.includes(type)) {
    const supported = types.map((name) => JSON.stringify(name));
    causes.push(statusCause.notSupported(`${path}.type`, JSON.stringify(type), supported));
  }
  if (typeof pattern === 'string' && !isPattern(pattern)) {
    const detail = "must be a valid regular expression, but isn't";
    causes.push(invalid(`${path}.pattern`, pattern, detail));
  }
  if (type === 'array' && items === undefined) causes.push(statusCause.required(`${path}.items`, 'must be specified'));
  // An empty `properties` counts as none, and `additionalProperties: true` as no schema.
  const named = isObject(properties) && Object.keys(properties).length > 0;
  if (named && additionalProperties !== undefined && additionalProperties !== true) {
    const detail = 'additionalProperties and properties are mutual exclusive';
    causes.push(statusCause.forbidden(`${path}.additionalProperties`, detail));
  }
  if (uniqueItems === true) {
    const detail = 'uniqueItems cannot be set to true since the runtime complexity becomes quadratic';
    causes.push(statusCause.forbidden(`${path}.uniqueItems`, detail));
  }
  return causes;
}

function checkListType(source: JsonObject, path: string): StatusCause[] {
  const items = getMap(source, 'items');
  const listType = source['x-kubernetes-list-type'];
  if (listType === 'set' && items.type === 'object' && items['x-kubernetes-map-type'] !== 'atomic') {
    const detail = 'must be atomic as item of a list with x-kubernetes-list-type=set';
    return [invalid(`${path}.items.x-kubernetes-map-type`, items['x-kubernetes-map-type'], detail)];
  }
  if (listType !== 'map') return [];
  const keys = getList(source, 'x-kubernetes-list-map-keys').map(String);
  const at = `${path}.x-kubernetes-list-map-keys`;
  if (keys.length === 0) return [statusCause.required(at, 'must not be empty if x-kubernetes-list-type is map')];
  const properties = getMap(items, 'properties');
  if (keys.some((key) => !Object.hasOwn(properties, key)))
    return [invalid(at, keys, 'entries must all be names of item properties')];
  const detail = 'this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property';
  return keys
    .filter((key) => !getList(items, 'required').includes(key) && getMap(properties, key).default === undefined)
    .map((key) => statusCause.required(`${path}.items.properties[${key}].default`, detail));
}

/** Converts JSON to a schema. Decoding has checked the types of its keywords before. */
function schemaOf(source: JsonObject, root: boolean): Schema {
  const schema: Schema = JSON.parse(JSON.stringify(source));
  return root ? { ...schema, properties: { ...schema.properties, ...rootFields } } : schema;
}
