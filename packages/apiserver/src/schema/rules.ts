// `x-kubernetes-validations`: CEL rules, which run after the schema has accepted the value. Known gaps: what
// optionals.ts names, and macros with two variables, which fail with "unbound function".
import { celEnv, isCelError, plan } from '@bufbuild/cel';
import { strings } from '@bufbuild/cel/ext';
import { authorizerFunctions } from '../admission/authorizer.ts';
import { isList, isObject, type Json, sameJson } from '../json.ts';
import { type StatusCause, statusCause } from '../status-error.ts';
import { toCel } from './cel-values.ts';
import { listFunctions } from './list-functions.ts';
import { networkFunctions } from './network-functions.ts';
import { optionalMethods } from './optionals.ts';
import { parseRule } from './parse-rule.ts';
import { quantityFunctions } from './quantity-functions.ts';
import { callsOf, isTransition } from './rule-fields.ts';
import { fieldSchema, type Schema, type ValidationRule } from './schema.ts';
import { textFunctions } from './text-functions.ts';
import { matchByKey } from './validate.ts';

type Program = ReturnType<typeof plan>;

/** Evaluates rules. */
export type Rules = {
  /** Returns a cause for every rule that is not true. `old` is the value before an update. */
  check(value: Json, old: Json | undefined, schema: Schema, path?: string): StatusCause[];
};

const compileError = 'rule compile error';
const env = celEnv({
  funcs: [
    ...strings,
    ...optionalMethods,
    ...quantityFunctions,
    ...listFunctions,
    ...networkFunctions,
    ...textFunctions,
    ...authorizerFunctions,
  ],
});
const ruleReasons: readonly string[] = [
  'FieldValueInvalid',
  'FieldValueForbidden',
  'FieldValueRequired',
  'FieldValueDuplicate',
];

/** Compiles a rule, once for all servers of a process. */
export const compileRule: (expression: string) => Program | Error = createCompiler();

function createCompiler(): (expression: string) => Program | Error {
  const programs = new Map<string, Program | Error>();
  return (expression) => {
    let program = programs.get(expression);
    if (program === undefined) {
      try {
        program = plan(env, parseRule(expression));
      } catch (error) {
        program = error instanceof Error ? error : new Error(String(error));
      }
      programs.set(expression, program);
    }
    return program;
  };
}

/** Returns the functions that a rule calls and this server does not have, as those that optionals.ts names. */
export function missingFunctions(rule: string): readonly string[] {
  const missing = callsOf(rule).filter((names) => !names.some((name) => env.funcs.find(name)));
  return [...new Set(missing.map(([name]) => name))];
}

/** Creates an evaluator. */
export function createRules(): Rules {
  /** `old` is null for an optional oldSelf without a value. */
  const evaluate = (expression: string, value: Json, old: Json | undefined, schema: Schema): unknown => {
    const program = compileRule(expression);
    if (program instanceof Error) return program;
    const self = toCel(value, schema);
    return program(old === undefined ? { self } : { self, oldSelf: toCel(old, schema) });
  };
  const run = (
    rule: ValidationRule,
    value: Json,
    old: Json | undefined,
    schema: Schema,
    path: string,
  ): StatusCause[] => {
    const transition = isTransition(rule.rule);
    const isOptional = rule.optionalOldSelf === true;
    if (transition && old === undefined && !isOptional) return [];
    if (!transition && old !== undefined && sameJson(old, value)) return [];
    const oldSelf = isOptional ? (old ?? null) : old;
    const result = evaluate(rule.rule, value, oldSelf, schema);
    if (result === true) return [];
    const field = `${path === '' ? '<nil>' : path}`;
    if (result instanceof Error) {
      const detail = isCelError(result)
        ? `${result.message.replace(/^field not found:/, 'no such key:')} evaluating rule: ` +
          (rule.message ?? rule.rule.trim())
        : `${compileError}: ${result.message}`;
      return [statusCause.invalid(field, JSON.stringify(schema.type ?? ''), detail)];
    }
    const message =
      rule.messageExpression === undefined ? undefined : evaluate(rule.messageExpression, value, oldSelf, schema);
    const plain = rule.message ?? `failed rule: ${rule.rule.trim()}`;
    return [failure(rule, typeof message === 'string' ? message : plain, value, path)];
  };
  const check: Rules['check'] = (value, old, schema, path = '') => {
    if (value === null) return [];
    const causes = (schema['x-kubernetes-validations'] ?? []).flatMap((rule) => run(rule, value, old, schema, path));
    for (const one of schema.allOf ?? []) causes.push(...check(value, old, one, path));
    if (isObject(value)) {
      const before = isObject(old) ? old : {};
      for (const [field, content] of Object.entries(value)) {
        const below = fieldSchema(schema, field);
        const step =
          schema.properties?.[field] === undefined ? `${path}[${field}]` : path === '' ? field : `${path}.${field}`;
        if (below !== undefined) causes.push(...check(content, before[field], below, step));
      }
    }
    if (isList(value) && schema.items !== undefined) {
      const before = isList(old) ? old : [];
      const keys =
        schema['x-kubernetes-list-type'] === 'map' ? (schema['x-kubernetes-list-map-keys'] ?? []) : undefined;
      for (const [index, item] of value.entries()) {
        causes.push(...check(item, matchByKey(item, before, keys), schema.items, `${path}[${index}]`));
      }
    }
    return causes;
  };
  return { check };
}

function failure(
  { reason = 'FieldValueInvalid', fieldPath = '' }: ValidationRule,
  detail: string,
  value: Json,
  path: string,
): StatusCause {
  const field = path === '' ? fieldPath.replace(/^\./, '') || '<nil>' : `${path}${fieldPath}`;
  const shown = isObject(value) || isList(value) ? '' : `${JSON.stringify(value)}: `;
  switch (ruleReasons.includes(reason) ? reason : 'FieldValueInvalid') {
    case 'FieldValueForbidden':
      return statusCause.forbidden(field, detail);
    case 'FieldValueRequired':
      return statusCause.required(field, detail);
    case 'FieldValueDuplicate':
      return { reason, message: `Duplicate value: ${shown}${detail}`, field };
    default:
      return { reason: 'FieldValueInvalid', message: `Invalid value: ${shown}${detail}`, field };
  }
}
