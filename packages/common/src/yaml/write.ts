// The one writer of YAML. Readers disagree on plain texts: sigs.k8s.io/yaml (kubectl, Helm) and kustomize read `on`,
// `1_000` and `0o7` by rules of YAML 1.1, osls by those of 1.2. So a text is plain only where none of them makes it
// something else. Every other text is quoted as in JSON, without what go-yaml takes as a break or refuses.

/** A text that is written as it is: an expression of Helm in the place of a value. */
export class Verbatim {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/** Changes each key and each text as it is written: hides the marks of the template that the file becomes. */
type Mask = (written: string) => string;

/** Above it go-yaml reads no key in front of a colon: 1,024 characters. */
const longestKey = 1_000;

/**
 * Writes JSON values as the documents of one file. Half of a surrogate pair is U+FFFD, as in UTF-8. Throws a TypeError
 * for what JSON cannot have.
 */
export function writeYaml(documents: readonly unknown[], mask: Mask = (written) => written): string {
  return documents.map((value) => nodeOf(value, -2, mask).trimStart()).join('---\n');
}

/** What follows a colon or a dash in a block of this indentation: a scalar in its line, or a block of lines below. */
function nodeOf(value: unknown, indent: number, mask: Mask): string {
  const margin = ' '.repeat(indent + 2);
  if (Array.isArray(value)) {
    const items = value.map((item) => `${margin}- ${nodeOf(item, indent + 2, mask).trimStart()}`);
    return items.length === 0 ? ' []\n' : `\n${items.join('')}`;
  }
  if (!isObject(value)) return ` ${scalarOf(value, margin, mask)}\n`;
  const members = Object.entries(value).flatMap(([name, member]) => {
    if (member === undefined) return [];
    const key = mask(isPlain(name) ? name : quote(name));
    const start = key.length > longestKey ? `${margin}? ${key}\n${margin}:` : `${margin}${key}:`;
    return [start + nodeOf(member, indent + 2, mask)];
  });
  return members.length === 0 ? ' {}\n' : `\n${members.join('')}`;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !(value instanceof Verbatim);
}

function scalarOf(value: unknown, margin: string, mask: Mask): string {
  if (value instanceof Verbatim) return value.text;
  if (typeof value === 'string') return mask(textOf(value, margin));
  // Without the point an exponent is a text for other readers of YAML 1.1.
  if (typeof value === 'number' && Number.isFinite(value)) return JSON.stringify(value).replace(/^(-?\d+)e/, '$1.0e');
  if (typeof value === 'boolean' || value === null || value === undefined) return String(value ?? null);
  throw new TypeError(`${String(value)} is not a value of JSON`);
}

function textOf(text: string, margin: string): string {
  if (margin !== '' && isLiteral(text)) return `|-\n${text.replaceAll(/^(?=.)/gm, margin)}`;
  const line = isPlain(text) ? text : quote(text);
  // A break between two words is a space.
  return margin === '' ? line : line.replaceAll(/(?=.{121})(.{1,118}[^ ]) (?=[^ #])/g, `$1\n${margin}`);
}

const printable = String.raw`[\p{L}\p{M}\p{N}\p{P}\p{S}]`;
const plain = new RegExp(
  String.raw`^(?![-?:,[\]{}#&*!|>'"%@=~\x60\p{M}\p{N}+])${printable}(?:[ ]*${printable})*$`,
  'u',
);
/** Words of YAML 1.1 and 1.2 in any case, what may be a number, the mark of a merge, and the end of a document. */
const meaning = /^(?:y|n|yes|no|on|off|true|false|null|nan|inf|<<|\.(?:inf|nan|\d.*|\.\..*))$|:(?: |$)| #/i;
/** Lines of a literal block. Helm cuts blanks at the end of a file, so its last line has none. */
const literal = new RegExp(String.raw`^${printable}(?:[ \t]*${printable}|(?:[ \t]*\n)+ *(?=${printable}))*$`, 'u');

function isPlain(text: string): boolean {
  return plain.test(text) && !meaning.test(text);
}

function isLiteral(text: string): boolean {
  return text.includes('\n') && literal.test(text);
}

/** Quotes a text as JSON does, and escapes what is not printable for every reader. */
function quote(text: string): string {
  return JSON.stringify(text.toWellFormed()).replaceAll(/(?! )[\p{C}\p{Z}]/gu, (character) => {
    const code = character.codePointAt(0)?.toString(16) ?? '';
    return code.length > 4 ? `\\U${code.padStart(8, '0')}` : `\\u${code.padStart(4, '0')}`;
  });
}
