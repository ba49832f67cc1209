// `x-kubernetes-validations`: CEL rules, run where the schema has nothing to complain about. Known gaps: @bufbuild/cel has no
// optional values (`.?`, optionalOldSelf), and of Kubernetes' own libraries only the strings: rules that call lists' isSorted,
// sum, min, max or indexOf, regex' find and findAll, or anything of url, ip, cidr, quantity, semver, format and sets fail with
// "unbound function".
import { celEnv, isCelError, parse, plan } from '@bufbuild/cel';
import { strings } from '@bufbuild/cel/ext';
import { isList, isObject, type Json, sameJson } from '../json.ts';
import { type Cause, cause } from '../status-error.ts';
import { toCel } from './cel-values.ts';
import { fieldSchema, type Rule, type Schema } from './schema.ts';
import { correlated } from '../../local/api-server/schema/validate.ts';

type Program = ReturnType<typeof plan>;

/** Runs rules; what it compiled it keeps for the next object. */
export interface Rules {
  /** Returns a cause for every rule that does not hold. `old` is the value before an update. */
  check(value: Json, old: Json | undefined, schema: Schema, path?: string): Cause[];
}

const MISUSED = 'rule compile error';
const REASONS: readonly string[] = [
  'FieldValueInvalid',
  'FieldValueForbidden',
  'FieldValueRequired',
  'FieldValueDuplicate',
];

/** Creates an evaluator. */
export function createRules(): Rules {
  const env = celEnv({ funcs: [...strings] });
  const programs = new Map<string, Program | Error>();
  const compiled = (expression: string): Program | Error => {
    let program = programs.get(expression);
    if (program === undefined) {
      try {
        program = plan(env, parse(expression));
      } catch (error) {
        program = error instanceof Error ? error : new Error(String(error));
      }
      programs.set(expression, program);
    }
    return program;
  };
  const evaluate = (expression: string, value: Json, old: Json | undefined, schema: Schema): unknown => {
    const program = compiled(expression);
    if (program instanceof Error) return program;
    const self = toCel(value, schema);
    return program(old === undefined ? { self } : { self, oldSelf: toCel(old, schema) });
  };
  const run = (rule: Rule, value: Json, old: Json | undefined, schema: Schema, path: string): Cause[] => {
    const transition = /\boldSelf\b/.test(rule.rule);
    if (transition && old === undefined) return [];
    if (!transition && old !== undefined && sameJson(old, value)) return [];
    const result = evaluate(rule.rule, value, old, schema);
    if (result === true) return [];
    const field = `${path === '' ? '<nil>' : path}`;
    if (result instanceof Error) {
      const what = isCelError(result)
        ? `${result.message} evaluating rule: ${said(rule)}`
        : `${MISUSED}: ${result.message}`;
      return [cause.invalid(field, JSON.stringify(schema.type ?? ''), what)];
    }
    const spoken =
      rule.messageExpression === undefined ? undefined : evaluate(rule.messageExpression, value, old, schema);
    return [failure(rule, typeof spoken === 'string' ? spoken : said(rule), value, path)];
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
        causes.push(...check(item, correlated(item, before, keys), schema.items, `${path}[${index}]`));
      }
    }
    return causes;
  };
  return { check };
}

function said({ message, rule }: Rule): string {
  return message ?? `failed rule: ${rule.trim()}`;
}

function failure(
  { reason = 'FieldValueInvalid', fieldPath = '' }: Rule,
  detail: string,
  value: Json,
  path: string,
): Cause {
  const field = path === '' ? fieldPath.replace(/^\./, '') || '<nil>' : `${path}${fieldPath}`;
  const shown = isObject(value) || isList(value) ? '' : `${JSON.stringify(value)}: `;
  switch (REASONS.includes(reason) ? reason : 'FieldValueInvalid') {
    case 'FieldValueForbidden':
      return cause.forbidden(field, detail);
    case 'FieldValueRequired':
      return cause.required(field, detail);
    case 'FieldValueDuplicate':
      return { reason, message: `Duplicate value: ${shown}${detail}`, field };
    default:
      return { reason: 'FieldValueInvalid', message: `Invalid value: ${shown}${detail}`, field };
  }
}
