// Finds fields in a CEL rule that its schema does not have. kube-apiserver type-checks rules against the schema. This
// server only looks up the fields of `self` and `oldSelf`, which finds the usual mistakes: a misspelt or renamed field.
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
  collectMissing(expression, schema, missing);
  const [first] = missing;
  return first === undefined ? undefined : `undefined field '${first}'`;
}

/** Collects the missing fields of an expression. Returns the schema of its value, if the value is that of a field. */
function collectMissing(expression: Expression, self: Schema, missing: string[]): Schema | undefined {
  const { exprKind } = expression;
  const each = (parts: readonly (Expression | undefined)[]): undefined => {
    for (const part of parts) if (part !== undefined) collectMissing(part, self, missing);
    return undefined;
  };
  switch (exprKind.case) {
    case 'identExpr':
      return exprKind.value.name === 'self' || exprKind.value.name === 'oldSelf' ? self : undefined;
    case 'selectExpr': {
      const { operand, field } = exprKind.value;
      const on = operand === undefined ? undefined : collectMissing(operand, self, missing);
      if (on === undefined) return undefined;
      return fieldOf(on, field, missing);
    }
    case 'callExpr':
      return each([exprKind.value.target, ...exprKind.value.args]);
    case 'listExpr':
      return each(exprKind.value.elements);
    case 'comprehensionExpr':
      // A variable called `self` inside the comprehension would hide the outer one. That case is not handled.
      return each([exprKind.value.iterRange, exprKind.value.loopStep, exprKind.value.result]);
    default:
      return undefined;
  }
}

function fieldOf(schema: Schema, escaped: string, missing: string[]): Schema | undefined {
  const field = unescapeField(escaped);
  const found = fieldSchema(schema, field);
  if (found === undefined && schema.properties !== undefined && !keepsUnknown(schema)) missing.push(field);
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
