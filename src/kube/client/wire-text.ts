// The text of the bodies that are sent. It is JSON, which the API server reads as YAML if it is an apply: there some
// characters are refused, and others silently become a space, unless they are escaped.
import { isRecord } from '../../core/json.ts';

/**
 * YAML takes these as the JSON escapes \uXXXX alone. Those beyond U+FFFF must not be escaped: of their two halves each
 * is refused [tried on kube-apiserver 1.36.3, and with sigs.k8s.io/yaml 1.3, 1.4 and 1.6].
 */
const escaped = /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g;
/** JSON.stringify escapes half a character; what is after two backslashes is text. */
const halfCharacter = /(\\\\)|\\ud[89a-f][0-9a-f]{2}/g;
/** A text without these has no number that may be refused: NaN becomes null. Most texts are not walked for them. */
const suspicious = /null|\d{16}|\de\+/;

/**
 * Returns the text of a body. Half a character becomes U+FFFD, as the API server stores it in JSON and refuses it in
 * YAML. Throws a TypeError that names a number that is no number of JSON or that may not be exact: the server would
 * store another one than was meant. A number that was read is not exact either if it is that large.
 */
export function wireText(body: unknown): string {
  return textOf(body, isRounded);
}

/**
 * Returns a value as the API server returns it when it is sent: what is compared with what was read. That may have
 * numbers of others that are not exact. Throws a TypeError that names a number that is no number of JSON.
 */
export function asSent(value: unknown): unknown {
  return JSON.parse(textOf(value, (one) => !Number.isFinite(one)));
}

function textOf(body: unknown, isRefused: (value: number) => boolean): string {
  const text = JSON.stringify(body);
  const refused = suspicious.test(text) ? inexactAt(body, '', isRefused) : undefined;
  if (refused !== undefined) throw new TypeError(refused);
  const whole = text.includes('\\ud') ? text.replaceAll(halfCharacter, (_, kept?: string) => kept ?? '\ufffd') : text;
  return whole.replaceAll(escaped, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Returns whether a value has a number that wireText refuses. */
export function hasInexact(value: unknown): boolean {
  return inexactAt(value, '', isRounded) !== undefined;
}

/** Returns whether a number cannot be sent as it was meant: a whole one beyond 2^53 has been rounded. */
export function isInexact(value: number): boolean {
  return !Number.isFinite(value) || (Number.isInteger(value) && !Number.isSafeInteger(value));
}

/** Such a number that may have been an integer of 64 bits. A larger one, written like 1e300, was none before. */
function isRounded(value: number): boolean {
  return isInexact(value) && !(Number.isFinite(value) && Math.abs(value) >= 1e21);
}

/** Says where the first number is that is refused. */
function inexactAt(value: unknown, path: string, isRefused: (value: number) => boolean): string | undefined {
  if (typeof value === 'number' && isRefused(value)) return inexactText(value, path);
  const parts: readonly (readonly [string, unknown])[] = Array.isArray(value)
    ? value.map((one, index) => [`${path}[${index}]`, one] as const)
    : Object.entries(isRecord(value) ? value : {}).map(([name, one]) => [path === '' ? name : `${path}.${name}`, one]);
  for (const [at, part] of parts) {
    const found = inexactAt(part, at, isRefused);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The error of such a number. */
export function inexactText(value: number, path: string): string {
  const hint = Number.isFinite(value) ? 'beyond 2^53 and may not be exact' : 'not a value of JSON';
  return `${path}: ${value} is ${hint}`;
}
