// Whether a CRD's schema is structural: every value has a type, defaults fit, rules compile. kube-apiserver refuses the others,
// so a schema that only works here would be of no use.
import { isObject, type Json, type JsonObject, listAt, objectAt, textAt } from '../../../apiserver/json.ts';
import { ruleProblem } from '../../../apiserver/schema/rule-fields.ts';
import type { Schema } from '../../../apiserver/schema/schema.ts';
import { validate } from '../schema/validate.ts';
import { type Cause, cause } from '../../../apiserver/status-error.ts';

// What every object has at its root, for rules that look at it.
const TEXT: Schema = { type: 'string' };
const ROOT_FIELDS = {
  apiVersion: TEXT,
  kind: TEXT,
  metadata: { type: 'object', properties: { name: TEXT, generateName: TEXT } },
} as const;

/** Returns what is wrong with the schema of one version. */
export function checkStructure(written: JsonObject, path: string): Cause[] {
  if (written.type === undefined) return [cause.required(`${path}.type`, 'must not be empty at the root')];
  const below = checkNode(written, path, true);
  return below;
}

function checkNode(written: JsonObject, path: string, root: boolean): Cause[] {
  const schema = schemaOf(written, root);
  const free =
    written['x-kubernetes-int-or-string'] === true || written['x-kubernetes-preserve-unknown-fields'] === true;
  const causes: Cause[] = [];
  if (written.type === undefined && !free) {
    causes.push(cause.required(`${path}.type`, 'must not be empty for specified object fields'));
  }
  if (written.default !== undefined) {
    causes.push(...validate(written.default, undefined, schema, { path: '', root: `${path}.default` }));
  }
  for (const [index, rule] of listAt(written, 'x-kubernetes-validations').entries()) {
    const problem = ruleProblem(textAt(rule, 'rule'), schema);
    const at = `${path}.x-kubernetes-validations[${index}].rule`;
    if (problem !== undefined)
      causes.push(cause.invalid(at, JSON.stringify(rule), `compilation failed: ERROR: ${problem}`));
  }
  const below: [string, Json | undefined][] = [
    ...Object.entries(objectAt(written, 'properties')).map(([name, value]): [string, Json] => [
      `properties[${name}]`,
      value,
    ]),
    ['items', written.items],
    ['additionalProperties', written.additionalProperties],
  ];
  for (const [step, value] of below) {
    // What a CRD says about metadata is only about its name.
    if (isObject(value) && !(root && step === 'properties[metadata]'))
      causes.push(...checkNode(value, `${path}.${step}`, false));
  }
  return causes;
}

/** The edge where a definition's JSON becomes a schema. Decoding has checked the keywords' types. */
function schemaOf(written: JsonObject, root: boolean): Schema {
  const schema: Schema = JSON.parse(JSON.stringify(written));
  return root ? { ...schema, properties: { ...schema.properties, ...ROOT_FIELDS } } : schema;
}
