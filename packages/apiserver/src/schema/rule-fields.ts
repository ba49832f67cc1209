// Finds fields in a CEL rule that its schema does not have, and the functions that it calls. kube-apiserver type-checks
// rules against the schema. This server only looks up the fields of `self`, of `oldSelf`, and of the items of their
// lists, which finds the usual mistakes: a misspelt or renamed field.
import { type ParsedRule, parseRule } from './parse-rule.ts';
import { fieldSchema, keepsUnknown, type Schema } from './schema.ts';

type Expression = NonNullable<ParsedRule['expr']>;

/** Returns the error of a rule on values of a schema, or undefined. */
export function ruleError(rule: string, schema: Schema): string | undefined {
  let expression: Expression;
  try {
    expression = parseRule(rule).expr;
  } catch (error) {
    return error instanceof Error ? `Syntax error: ${error.message}` : String(error);
  }
  const missing: string[] = [];
  const scope = new Map(['self', 'oldSelf'].map((name) => [name, schema]));
  if (expression !== undefined) collectMissing(expression, scope, missing);
  const [first] = missing;
  return first === undefined ? undefined : `undefined field '${first}'`;
}

/** Returns whether a rule compares a value with the one before an update. */
export function isTransition(rule: string): boolean {
  return /\boldSelf\b/.test(rule);
}

/**
 * Returns the possible names of each function that a rule calls, such as `['sets.contains', 'contains']`, without
 * operators. A rule that cannot be parsed has none.
 */
export function callsOf(rule: string): readonly (readonly [string, string])[] {
  const calls = (expression: Expression): readonly (readonly [string, string])[] => {
    const { exprKind } = expression;
    const below = partsOf(expression).flatMap(calls);
    if (exprKind.case !== 'callExpr' || !/^[a-z]/i.test(exprKind.value.function)) return below;
    const { function: name, target } = exprKind.value;
    const library = target?.exprKind.case === 'identExpr' ? target.exprKind.value.name : '';
    return [[library === '' ? name : `${library}.${name}`, name], ...below];
  };
  try {
    const { expr } = parseRule(rule);
    return expr === undefined ? [] : calls(expr);
  } catch {
    return [];
  }
}

/** The schemas of variables. */
type Scope = ReadonlyMap<string, Schema | undefined>;

/** Collects the missing fields of an expression. Returns the schema of its value, if the value is that of a field. */
function collectMissing(expression: Expression, scope: Scope, missing: string[]): Schema | undefined {
  const { exprKind } = expression;
  switch (exprKind.case) {
    case 'identExpr':
      return scope.get(exprKind.value.name);
    case 'selectExpr': {
      const { operand, field } = exprKind.value;
      const on = operand === undefined ? undefined : collectMissing(operand, scope, missing);
      if (on === undefined) return undefined;
      return fieldOf(on, field, missing);
    }
    case 'comprehensionExpr': {
      const { iterRange, iterVar, iterVar2, accuVar, loopStep, result } = exprKind.value;
      const range = iterRange === undefined ? undefined : collectMissing(iterRange, scope, missing);
      // With two variables the first one is an index, and of a map it is a key.
      const item = iterVar2 === '' ? range?.items : undefined;
      const inner = new Map(scope).set(iterVar, item).set(iterVar2, undefined).set(accuVar, undefined);
      for (const part of [loopStep, result]) if (part !== undefined) collectMissing(part, inner, missing);
      return undefined;
    }
    default: {
      const [first] = partsOf(expression).map((part) => collectMissing(part, scope, missing));
      const isIndex = exprKind.case === 'callExpr' && exprKind.value.function === '_[_]';
      return isIndex ? first?.items : undefined;
    }
  }
}

/** Returns the expressions that an expression consists of. */
function partsOf({ exprKind }: Expression): readonly Expression[] {
  const parts = (): readonly (Expression | undefined)[] => {
    switch (exprKind.case) {
      case 'selectExpr':
        return [exprKind.value.operand];
      case 'callExpr':
        return [exprKind.value.target, ...exprKind.value.args];
      case 'listExpr':
        return exprKind.value.elements;
      case 'structExpr':
        return exprKind.value.entries.flatMap(({ keyKind, value }) =>
          keyKind.case === 'mapKey' ? [keyKind.value, value] : [value],
        );
      case 'comprehensionExpr':
        return [exprKind.value.iterRange, exprKind.value.loopStep, exprKind.value.result];
      default:
        return [];
    }
  };
  return parts().filter((part) => part !== undefined);
}

function fieldOf(schema: Schema, escaped: string, missing: string[]): Schema | undefined {
  const field = unescapeField(escaped);
  const found = fieldSchema(schema, field);
  const isEmbedded = schema['x-kubernetes-embedded-resource'] === true;
  if (found === undefined && schema.properties !== undefined && !keepsUnknown(schema) && !isEmbedded)
    missing.push(field);
  return found;
}

/** Reverts the escaping of cel-values.ts. */
function unescapeField(name: string): string {
  return name
    .replaceAll('__dash__', '-')
    .replaceAll('__dot__', '.')
    .replaceAll('__slash__', '/')
    .replaceAll('__underscores__', '__')
    .replace(/^__([a-z]+)__$/, '$1');
}
