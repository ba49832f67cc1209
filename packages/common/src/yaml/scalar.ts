// What a plain text of YAML is for go-yaml v2 (resolve.go), on which kubectl, kube-apiserver and Helm are built:
// booleans of YAML 1.1, but no numbers in base 60 and no dates, and octal numbers both as 017 and as 0o17.

/** A value of YAML, which is one of JSON. */
export type YamlValue =
  | string
  | number
  | boolean
  | null
  | readonly YamlValue[]
  | { readonly [name: string]: YamlValue };
type YamlScalar = string | number | boolean | null;

/** Texts that are a value. */
const words = new Map<string, YamlScalar>([
  ...inCases(true, 'y', 'yes', 'true', 'on'),
  ...inCases(false, 'n', 'no', 'false', 'off'),
  ...inCases(null, '', '~', 'null'),
]);

function inCases<Value>(value: Value, ...texts: readonly string[]): (readonly [string, Value])[] {
  return texts.flatMap((text) =>
    [text, text.toUpperCase(), text.charAt(0).toUpperCase() + text.slice(1)].map((one) => [one, value] as const),
  );
}

/**
 * Resolves a scalar. Throws an Error if the text is no value of its tag, or one that JSON does not have.
 * @param tag an explicit tag, or that of texts for what is quoted
 */
export function resolveScalar(text: string, tag: string | undefined): YamlScalar {
  const name = tag?.startsWith(tagPrefix) ? tag.slice(tagPrefix.length) : tag;
  if (name === 'binary') return decodeBinary(text);
  if (name !== undefined && !resolvedTags.has(name)) return text;
  const value = plainValue(text);
  if (name === undefined || name === typeOf(value)) return value;
  if (name === 'timestamp' && typeof value === 'string') return value;
  if (name === 'float' && typeof value === 'number') return value;
  throw new Error(`${JSON.stringify(text)} is not of the tag !!${name}`);
}

const tagPrefix = 'tag:yaml.org,2002:';
/** Any other tag, and that of texts, leaves the text as it is. */
const resolvedTags: ReadonlySet<string> = new Set(['bool', 'int', 'float', 'null', 'timestamp']);

function typeOf(value: YamlScalar): string {
  if (value === null) return 'null';
  if (typeof value === 'boolean') return 'bool';
  if (typeof value === 'number') return Number.isInteger(value) ? 'int' : 'float';
  return 'str';
}

function plainValue(text: string): YamlScalar {
  const word = words.get(text);
  if (word !== undefined) return word;
  if (/^[-+]?\.(?:inf|Inf|INF)$|^\.(?:nan|NaN|NAN)$/.test(text)) throw new Error(`JSON has no ${text}`);
  if (/^\.\d+(?:[eE][-+]?\d+)?$/.test(text)) return finite(Number(text)) ?? text;
  if (!/^[-+\d]/.test(text)) return text;
  const number = text.replaceAll('_', '');
  return integer(number) ?? float(number) ?? text;
}

/** Go's strconv.ParseInt with base 0, then ParseUint, which takes no sign. */
function integer(text: string): number | undefined {
  const [, sign = '', digits = ''] = /^([-+]?)(0[xX][\da-fA-F]+|0[oO]?[0-7]+|0[bB][01]+|0|[1-9]\d*)$/.exec(text) ?? [];
  if (digits === '') return undefined;
  const value = BigInt(/^0\d/.test(digits) ? `0o${digits}` : digits);
  const limit = sign === '' ? 2n ** 64n - 1n : sign === '-' ? 2n ** 63n : 2n ** 63n - 1n;
  if (value > limit) return undefined;
  return Number(sign === '-' ? -value : value);
}

function float(text: string): number | undefined {
  return /^[-+]?(?:\.\d+|\d+(?:\.\d*)?)(?:[eE][-+]?\d+)?$/.test(text) ? finite(Number(text)) : undefined;
}

/** A number that is too large for a float is a text. */
function finite(value: number): number | undefined {
  return Number.isFinite(value) ? value : undefined;
}

function decodeBinary(text: string): string {
  const base64 = text.replaceAll(/[\r\n]/g, '');
  if (!/^(?:[\w+/]{4})*(?:[\w+/]{2}==|[\w+/]{3}=)?$/.test(base64)) throw new Error('!!binary needs base64');
  return Buffer.from(base64, 'base64').toString('utf8');
}
