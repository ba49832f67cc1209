// Checks that the schema of a CRD is structural: every value has a type, defaults are valid, rules compile.
// kube-apiserver rejects other schemas, so this server does too.
import { getList, getMap, getString, isObject, type Json, type JsonObject } from '../json.ts';
import { ruleError } from '../schema/rule-fields.ts';
import type { Schema } from '../schema/schema.ts';
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
  if (source.default !== undefined) {
    causes.push(...validate(source.default, undefined, schema, { path: '', root: `${path}.default` }));
  }
  for (const [index, rule] of getList(source, 'x-kubernetes-validations').entries()) {
    const error = ruleError(getString(rule, 'rule'), schema);
    const at = `${path}.x-kubernetes-validations[${index}].rule`;
    if (error !== undefined)
      causes.push(statusCause.invalid(at, JSON.stringify(rule), `compilation failed: ERROR: ${error}`));
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
    // A CRD can only restrict the name in metadata, so its schema is not checked.
    if (isObject(value) && !(root && step === 'properties[metadata]'))
      causes.push(...checkNode(value, `${path}.${step}`, false));
  }
  return causes;
}

/** Converts JSON to a schema. Decoding has checked the types of its keywords before. */
function schemaOf(source: JsonObject, root: boolean): Schema {
  const schema: Schema = JSON.parse(JSON.stringify(source));
  return root ? { ...schema, properties: { ...schema.properties, ...rootFields } } : schema;
}
