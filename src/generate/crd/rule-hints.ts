// Hints for CEL rules. The API server may reject one for its cost, which it estimates from the largest value that the
// schema allows, with a message that names only the rule. A hint names the field that needs a bound. Hints are not
// errors, because only the API server has the estimate. Others name functions that only a real API server has.

import { missingFunctions } from '@outrigger/apiserver/schema/rules';
import { rulesKey } from '../../api/rule.ts';
import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts';

/**
 * Names the unbounded fields over which a rule runs, or for each item of which it runs: `spec.rules: bound it with
 * .max()`. Names the functions that the in-memory API server does not have.
 */
export function ruleHints(schema: JsonObject, path: string): readonly string[] {
  return [...new Set(hintsBelow(schema, path, []))];
}

function hintsBelow(schema: JsonObject, path: string, unbounded: readonly string[]): readonly string[] {
  const { properties, items, additionalProperties } = schema;
  const inside = isUnbounded(schema) && schema.type !== 'string' ? [...unbounded, path] : unbounded;
  return [
    ...(rulesOf(schema).length === 0
      ? []
      : unbounded.map((each) => `${each}: a rule runs for each of it; bound it with .max()`)),
    ...rulesOf(schema).flatMap((rule) => mentioned(rule, schema, path)),
    ...rulesOf(schema)
      .flatMap(missingFunctions)
      .map((name) => `${path}: a rule calls ${name}(), so dev and tests refuse its objects: their API server lacks it`),
    ...(isJsonObject(properties)
      ? Object.entries(properties).flatMap(([name, below]) => hintsIn(below, `${path}.${name}`, inside))
      : []),
    ...hintsIn(items, `${path}[]`, inside),
    ...hintsIn(additionalProperties, `${path}{}`, inside),
  ];
}

function hintsIn(schema: Json | undefined, path: string, unbounded: readonly string[]): readonly string[] {
  return isJsonObject(schema) ? hintsBelow(schema, path, unbounded) : [];
}

/** Names the unbounded strings, lists and maps in a rule's expression, one level below the rule. */
function mentioned(rule: string, schema: JsonObject, path: string): readonly string[] {
  const overItself = isUnbounded(schema) ? [`${path}: a rule runs over it; bound it with .max()`] : [];
  const { properties } = schema;
  if (!isJsonObject(properties)) return overItself;
  const fields = Object.entries(properties).filter(
    ([name, below]) => new RegExp(`\\bself\\.${name}\\b`).test(rule) && isJsonObject(below) && isUnbounded(below),
  );
  return [...overItself, ...fields.map(([name]) => `${path}.${name}: a rule runs over it; bound it with .max()`)];
}

function isUnbounded(schema: JsonObject): boolean {
  if (schema.type === 'array') return schema.maxItems === undefined;
  if (schema.type === 'string')
    return schema.maxLength === undefined && schema.enum === undefined && schema.format === undefined;
  return schema.additionalProperties !== undefined && schema.maxProperties === undefined;
}

function rulesOf(schema: JsonObject): readonly string[] {
  const rules = schema[rulesKey];
  return Array.isArray(rules) ? rules.map((one) => (isJsonObject(one) ? String(one.rule) : '')) : [];
}
