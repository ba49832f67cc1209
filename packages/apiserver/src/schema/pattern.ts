// Patterns of schemas: a cluster uses Go's regular expressions (RE2), this server those of JavaScript.

const escaped = String.raw`\\(?:[aAbBdDEfnpPQrsStvwWxz]|[1-7][0-7]|[^A-Za-z1-9])`;
/** A class has no boundaries, so Go has no \b for a backspace. */
const inClass = String.raw`(?![\\][bBAz])${escaped}`;
const item = String.raw`(?:${inClass}|[^\]\\])`;
const characterClass = String.raw`\[(?:\^(?:${inClass}|[^\\])|${inClass}|[^\\^])${item}*\]`;
// A backslash before a digit is an octal number, never a reference. There is no look-around.
const goPattern = new RegExp(String.raw`^(?:${escaped}|${characterClass}|[^\\[(]|\((?!\?<?[=!]))*$`);
// What Go has and JavaScript has not: flags at the beginning, `(?P<name>`, and `\x{7E}` for a character.
const onlyInGo = /\(\?|\\x\{/;

const maxRepeat = 1000;
const category = /^\^?(?:C[cfos]?|L[lmotu]?|M[cen]?|N[dlo]?|P[cdefios]?|S[ckmo]?|Z[lps]?)$/;

/** Returns what a pattern has and Go's regular expressions have not; undefined if there is nothing. */
export function missingInGo(pattern: string): string | undefined {
  if (!goPattern.test(pattern)) return 'lookaround, back references or \\u';
  const property = propertiesOf(pattern).find((name) => !category.test(name) && !isScript(name));
  if (property !== undefined) return `\\p{${property}}, only categories such as \\p{Lu}`;
  if (largestRepeat(pattern) <= maxRepeat) return undefined;
  return `more than ${maxRepeat} repeats, and nested ones are multiplied (max() can limit the length)`;
}

/** What JavaScript reads as letters: `\A`, `\z`, `\a`, `\Q`, `\pL`, `\x{41}`, `\400`, and `[:alpha:]` in a class. */
const sameInGo = /^(?:\\(?![AaEQz]|x\{|[4-7][0-7]{2}|[pP][^{])[\s\S]|\[(?!(?:\\.|[^\]\\])*\[:\^?\w+:\])|[^\\[])*$/;

/** Returns whether all escapes and classes of a pattern mean the same in Go and in JavaScript without the flag u. */
export function hasGoMeaning(pattern: string): boolean {
  return sameInGo.test(pattern);
}

/** Returns whether a pattern is valid in a cluster. */
export function isPattern(pattern: string): boolean {
  if (missingInGo(pattern) !== undefined) return false;
  try {
    return compilePattern(pattern) instanceof RegExp;
  } catch {
    return onlyInGo.test(pattern);
  }
}

/**
 * Compiles a pattern. Some patterns that Go accepts are invalid in JavaScript's Unicode mode. They are compiled without
 * it. Throws a SyntaxError.
 */
export function compilePattern(pattern: string): RegExp {
  const [flagged = '', flags = ''] = /^\(\?([ims]+)\)/.exec(pattern) ?? [];
  const translated = pattern
    .slice(flagged.length)
    .replaceAll('(?P<', '(?<')
    .replaceAll(/\\(?:x(\{[0-9A-Fa-f]+\})|.)/gs, (whole, code?: string) => (code === undefined ? whole : `\\u${code}`));
  try {
    return new RegExp(translated, `${flags}u`);
  } catch {
    return new RegExp(translated, flags);
  }
}

/** Returns the names of the Unicode properties in a pattern. */
export function propertiesOf(pattern: string): readonly string[] {
  return [...pattern.matchAll(/\\(?:[pP]\{([^}]*)\}|.)/gs)].flatMap(([, name]) => (name === undefined ? [] : [name]));
}

/** Go writes `\p{Greek}` for what is `\p{Script=Greek}` in JavaScript. */
function isScript(name: string): boolean {
  try {
    return new RegExp(`\\p{Script=${name.replace('^', '')}}`, 'u') instanceof RegExp;
  } catch {
    return false;
  }
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
