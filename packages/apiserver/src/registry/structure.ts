// Checks that the schema of a CRD is structural: every value has a type, defaults are valid, rules compile.
// kube-apiserver rejects other schemas, so this server does too.
import { invalid } from '../checks/rule.ts';
import { getList, getMap, getString, isObject, type Json, type JsonObject } from '../json.ts';
import { isPattern } from '../schema/pattern.ts';
import { ruleError } from '../schema/rule-fields.ts';
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

function checkNode(source: JsonObject, path: string, root: boolean): StatusCause[] {
  const schema = schemaOf(source, root);
  const typeOptional =
    source['x-kubernetes-int-or-string'] === true || source['x-kubernetes-preserve-unknown-fields'] === true;
  const causes: StatusCause[] = [];
  if (source.type === undefined && !typeOptional) {
    causes.push(statusCause.required(`${path}.type`, 'must not be empty for specified object fields'));
  }
  causes.push(...checkKeywords(source, path), ...checkListType(source, path));
  if (source.default !== undefined) {
    causes.push(...validate(source.default, undefined, schema, { path: '', root: `${path}.default` }));
  }
  for (const [index, rule] of getList(source, 'x-kubernetes-validations').entries()) {
    const error = ruleError(getString(rule, 'rule'), schema);
    const at = `${path}.x-kubernetes-validations[${index}]`;
    if (error !== undefined) causes.push(invalid(`${at}.rule`, rule, `compilation failed: ERROR: ${error}`));
    const fieldPath = getString(rule, 'fieldPath');
    if (!isFieldPath(fieldPath, schema)) causes.push(invalid(`${at}.fieldPath`, fieldPath, 'must be a valid path'));
  }
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
    if (!(root && step === 'properties[metadata]')) causes.push(...checkNode(value, `${path}.${step}`, false));
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
