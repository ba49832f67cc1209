// Whether a rule asks for fields that its schema does not have. kube-apiserver compiles rules against the schema's types; here
// the fields of `self` and `oldSelf` are looked up, which finds what is usually wrong: a name that was misspelt or renamed.
import { parse } from '@bufbuild/cel';
import { fieldSchema, keepsUnknown, type Schema } from './schema.ts';

type Expression = NonNullable<ReturnType<typeof parse>['expr']>;

/** Returns what is wrong with a rule on values of a schema, or undefined. */
export function ruleProblem(rule: string, schema: Schema): string | undefined {
  let expression: Expression;
  try {
    expression = parse(rule).expr;
  } catch (error) {
    return error instanceof Error ? `Syntax error: ${error.message}` : String(error);
  }
  const missing: string[] = [];
  look(expression, schema, missing);
  const [first] = missing;
  return first === undefined ? undefined : `undefined field '${first}'`;
}

/** Walks an expression and returns the schema of its value, as far as that is the value of a field. */
function look(expression: Expression, self: Schema, missing: string[]): Schema | undefined {
  const { exprKind } = expression;
  const each = (parts: readonly (Expression | undefined)[]): undefined => {
    for (const part of parts) if (part !== undefined) look(part, self, missing);
    return undefined;
  };
  switch (exprKind.case) {
    case 'identExpr':
      return exprKind.value.name === 'self' || exprKind.value.name === 'oldSelf' ? self : undefined;
    case 'selectExpr': {
      const { operand, field } = exprKind.value;
      const on = operand === undefined ? undefined : look(operand, self, missing);
      if (on === undefined) return undefined;
      return fieldOf(on, field, missing);
    }
    case 'callExpr':
      return each([exprKind.value.target, ...exprKind.value.args]);
    case 'listExpr':
      return each(exprKind.value.elements);
    case 'comprehensionExpr':
      // Inside it `self` may be hidden by a variable of the same name, which nobody does.
      return each([exprKind.value.iterRange, exprKind.value.loopStep, exprKind.value.result]);
    default:
      return undefined;
  }
}

function fieldOf(schema: Schema, escaped: string, missing: string[]): Schema | undefined {
  const field = plainName(escaped);
  const found = fieldSchema(schema, field);
  if (found === undefined && schema.properties !== undefined && !keepsUnknown(schema)) missing.push(field);
  return found;
}

/** Undoes what cel-values.ts does to names that CEL cannot spell. */
function plainName(name: string): string {
  return name
    .replaceAll('__dash__', '-')
    .replaceAll('__dot__', '.')
    .replaceAll('__slash__', '/')
    .replaceAll('__underscores__', '__')
    .replace(/^__([a-z]+)__$/, '$1');
}
