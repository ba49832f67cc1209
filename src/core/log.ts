// The logger that the functions, the watcher and the authors' reconcilers receive, and what becomes of the texts in its
// lines.
import { errorText } from './errors.ts';
import { maskSecrets, redact } from './redact.ts';

/** Writes one line. The message is constant; what varies goes into the fields. */
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
