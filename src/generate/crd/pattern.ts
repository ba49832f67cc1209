// Patterns of schemas: the API server uses Go's regular expressions (RE2), which have less than JavaScript's.
// src/apiserver/schema/pattern.ts has the same rules: that folder imports no other one.
import { SchemaError } from '../../core/errors.ts';

const escaped = String.raw`\\(?:[aAbBdDEfnpPQrsStvwWxz]|[1-7][0-7]|[^A-Za-z1-9])`;
const item = String.raw`(?:${escaped}|[^\]\\])`;
const characterClass = String.raw`\[(?:\^(?:${escaped}|[^\\])|${escaped}|[^\\^])${item}*\]`;
const goPattern = new RegExp(String.raw`^(?:${escaped}|${characterClass}|[^\\[(]|\((?!\?<?[=!]))*$`);
const maxRepeat = 1000;
const category = /^(?:C[cfos]?|L[lmotu]?|M[cen]?|N[dlo]?|P[cdefios]?|S[ckmo]?|Z[lps]?)$/;

/** Rejects a pattern that is not valid in the API server, with the field's path. Throws SchemaError. */
export function checkedPattern(pattern: string, path: string): string {
  const reject = (reason: string) => new SchemaError(path, `Go's regular expressions have no ${reason}: ${pattern}`);
  if (!goPattern.test(pattern)) throw reject('lookaround, back references or \\u');
  const property = propertiesOf(pattern).find((name) => !category.test(name));
  if (property !== undefined) throw reject(`\\p{${property}}, only categories such as \\p{Lu}`);
  if (largestRepeat(pattern) > maxRepeat) {
    throw reject(`more than ${maxRepeat} repeats, and nested ones are multiplied (max() can limit the length)`);
  }
  return pattern;
}

/** Returns the names of the Unicode properties in a pattern. */
export function propertiesOf(pattern: string): readonly string[] {
  return [...pattern.matchAll(/\\(?:[pP]\{([^}]*)\}|.)/gs)].flatMap(([, name]) => (name === undefined ? [] : [name]));
}

const parts = /\\.|\[\^?(?:\\.|[^\\])(?:\\.|[^\]\\])*\]|\{(\d+)(?:,(\d*))?\}|./gs;

/** Returns the largest number of repeats of an atom: those of nested groups are multiplied. */
function largestRepeat(pattern: string): number {
  const largestIn = [1];
  let last = 1;
  for (const [part, least, most] of pattern.matchAll(parts)) {
    if (part === ')') last = largestIn.pop() ?? 1;
    else if (least !== undefined) last *= Number(most === undefined || most === '' ? least : most);
    else if (!'?*+'.includes(part)) last = 1;
    if (part === '(') largestIn.push(1);
    else largestIn.push(Math.max(largestIn.pop() ?? 1, last));
  }
  return largestIn[0] ?? 1;
}
