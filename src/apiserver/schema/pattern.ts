// Patterns of schemas: a cluster uses Go's regular expressions (RE2), this server those of JavaScript.

const escaped = String.raw`\\(?:[aAbBdDEfnpPQrsStvwWxz]|[1-7][0-7]|[^A-Za-z1-9])`;
const item = String.raw`(?:${escaped}|[^\]\\])`;
const characterClass = String.raw`\[(?:\^(?:${escaped}|[^\\])|${escaped}|[^\\^])${item}*\]`;
// A backslash before a digit is an octal number, never a reference. There is no look-around.
const goPattern = new RegExp(String.raw`^(?:${escaped}|${characterClass}|[^\\[(]|\((?!\?<?[=!]))*$`);
// What Go has and JavaScript has not: flags at the beginning, `(?P<name>`, and `\x{7E}` for a character.
const onlyInGo = /\(\?|\\x\{/;

/** Returns whether a pattern is valid in a cluster. src/generate/crd/schema.ts has the same rule. */
export function isPattern(pattern: string): boolean {
  if (!goPattern.test(pattern)) return false;
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
