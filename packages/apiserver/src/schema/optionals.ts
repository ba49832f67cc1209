// Optional values of CEL (`self.?field.orValue(0)`, `labels[?'key']`), which @bufbuild/cel does not have: their syntax
// is rewritten to methods, and none is null. A plain `.field` directly after an optional one is optional. Missing:
// optional.of, optional.none, ofNonZeroValue, or, optMap, optFlatMap, optional entries of literals, an optional
// index that is no literal text, a plain index after an optional value, and has() of an optional value.
import { type CelFunc, CelScalar, celMethod, isCelMap } from '@bufbuild/cel';

const { DYN, BOOL, STRING } = CelScalar;

/** The methods of optional values. */
export const optionalMethods: readonly CelFunc[] = [
  celMethod('optional', DYN, [STRING], DYN, function (field) {
    return isCelMap(this) ? (this.get(field) ?? null) : null;
  }),
  celMethod('orValue', DYN, [DYN], DYN, function (other) {
    return this ?? other;
  }),
  celMethod('hasValue', DYN, [], BOOL, function () {
    return this !== null;
  }),
  celMethod('value', DYN, [], DYN, function () {
    if (this === null) throw new Error('optional.none() dereference');
    return this;
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
