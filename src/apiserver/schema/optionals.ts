// Optional values of CEL (`self.?field.orValue(0)`, `labels[?'key']`), which @bufbuild/cel does not have: their syntax
// is rewritten to methods, and none is null. Missing: optional.of, optional.none, optMap, and an index that is no text.
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
];

// A text is matched first, because a pattern in it may look like the syntax.
const syntax = /(r?'(?:\\.|[^'\\])*'|r?"(?:\\.|[^"\\])*")|\.\?\s*(\w+)|\[\?\s*('[^']*'|"[^"]*")\s*\]/g;

/** Rewrites the syntax of optional values in an expression to calls of the methods. */
export function withoutOptionals(expression: string): string {
  return expression.replaceAll(syntax, (whole, text?: string, field?: string, key?: string) =>
    text === undefined ? `.optional(${key ?? `'${field}'`})` : whole,
  );
}
