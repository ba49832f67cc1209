// The logger that the functions, the watcher and the authors' reconcilers receive, and what becomes of the texts in its
// lines.
import { errorText, maxCauses } from './errors.ts';
import { maskSecrets, redact } from './redact.ts';

/**
 * Writes one line. The message is constant; what varies goes into the fields. An Error among the fields is written as
 * its message, and no text has a credential.
 * @example log.info('record changed', { host, ttl });
 */
export type Log = Record<'debug' | 'info' | 'warn' | 'error', (message: string, fields?: object) => void>;

/** A log that keeps nothing. */
export const silentLog: Log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

/** Only a key of nothing that can exist is longer. */
const maxKeyLength = 1024;
/** Texts of errors: of one line, and of bounded length. */
const errorNames: readonly string[] = ['error', 'reason', 'deadLetterReason'];

/**
 * A replacer of JSON.stringify for every log: no text of a line has a credential. Only the key stays as it is:
 * operators search for it, and a controller may be named `token`.
 */
export function loggedField(name: string, value: unknown): unknown {
  if (value instanceof Error) return redact(errorText(value));
  if (typeof value !== 'string') return value;
  if (name === 'key') return value.slice(0, maxKeyLength);
  return errorNames.includes(name) ? redact(value) : maskSecrets(value);
}

const maxFrames = 5;

/** Returns the log fields of an error. */
export function errorFields(error: Error): { readonly error: string; readonly stack: readonly string[] } {
  return { error: redact(errorText(error)), stack: stackFrames(error) };
}

/**
 * Returns where an error was thrown: the frames of its stack outside of Node and of packages, and those of the errors
 * that caused it. Messages are left out, because those of causes may quote a response.
 */
export function stackFrames(error: Error): readonly string[] {
  const frames: string[] = [];
  let one: unknown = error;
  for (let causes = 0; one instanceof Error && frames.length < maxFrames && causes <= maxCauses; causes += 1) {
    const found = (one.stack ?? '').split('\n').filter((line) => /^\s+at .*:\d+:\d+\)?$/.test(line));
    const own = found.filter((line) => !/node:|node_modules/.test(line)).map((line) => redact(line));
    // The name of a cause says something, or its frames do.
    if (one !== error && (own.length > 0 || one.name !== 'Error')) frames.push(`caused by ${redact(one.name)}`);
    frames.push(...own);
    one = one.cause;
  }
  return frames.slice(0, maxFrames);
}
