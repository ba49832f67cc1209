// Optional values of CEL (`self.?field.orValue(0)`, `labels[?'key']`), which @bufbuild/cel does not have: their syntax
// is rewritten to methods, and none is null. A plain `.field` directly after an optional one is optional. Missing:
// optional.of, optional.none, ofNonZeroValue, or, optMap, optFlatMap, optional entries of literals, an optional
// index that is no literal text, a plain index after an optional value, and has() of an optional value.
import { type CelFunc, CelScalar, isCelMap } from '@bufbuild/cel';
import { methodOf } from './cel-method.ts';

const { DYN, BOOL, STRING } = CelScalar;

/** The methods of optional values. */
export const optionalMethods: readonly CelFunc[] = [
  methodOf(DYN, 'optional', [STRING], DYN, (self, field) => (isCelMap(self) ? (self.get(field) ?? null) : null)),
  methodOf(DYN, 'orValue', [DYN], DYN, (self, other) => self ?? other),
  methodOf(DYN, 'hasValue', [], BOOL, (self) => self !== null),
  methodOf(DYN, 'value', [], DYN, (self) => {
    if (self === null) throw new Error('optional.none() dereference');
    return self;
  }),
];

// A text is matched first, because a pattern in it may look like the syntax. A name before a bracket is a method's.
const syntax =
  /(r?'(?:\\.|[^'\\])*'|r?"(?:\\.|[^"\\])*")|(?:\.\?\s*(\w+)|\[\?\s*('[^']*'|"[^"]*")\s*\])((?:\s*\.\w+\b(?!\s*\())*)/g;

/** Rewrites the syntax of optional values in an expression to calls of the methods. */
export function withoutOptionals(expression: string): string {
  return expression.replaceAll(syntax, (whole, text?: string, field?: string, key?: string, plain = '') => {
    if (text !== undefined) return whole;
    const further = String(plain).replaceAll(/\s*\.(\w+)/g, ".optional('$1')");
    return `.optional(${key ?? `'${field}'`})${further}`;
  });
}
