// The watcher's log: one JSON document a line on stdout, with the names that the functions' logger uses too; on a terminal
// the same as words.
import type { Log } from '../core/context.ts';

const levels = ['DEBUG', 'INFO', 'WARN', 'ERROR'] as const;
export type Level = (typeof levels)[number];
type Line = { readonly level: Level; readonly timestamp: string; readonly message: string };

/** What can be chosen about a log. */
export type LogOptions = {
  readonly least?: Level;
  readonly now?: () => Date;
  /** On every line. */
  readonly fields?: object;
  /** Writes for a person instead of a machine. */
  readonly readable?: boolean;
};

/** Creates a log that writes lines of `least` level and above. */
export function createLog(
  write: (line: string) => void,
  { least = 'INFO', now = () => new Date(), fields = {}, readable = false }: LogOptions = {},
): Log {
  const format = readable ? words : JSON.stringify;
  const at =
    (level: Level) =>
    (message: string, more: object = {}) => {
      if (levels.indexOf(level) < levels.indexOf(least)) return;
      write(`${format({ level, timestamp: now().toISOString(), message, ...fields, ...more })}\n`);
    };
  return { debug: at('DEBUG'), info: at('INFO'), warn: at('WARN'), error: at('ERROR') };
}

/** `12:00:00 WARN  watch interrupted, going on  kind=dinners  error="no answer"` */
function words({ level, timestamp, message, ...fields }: Line): string {
  const said = Object.entries(fields).flatMap(([name, value]) => {
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    if (text === undefined) return [];
    // Whatever is not plainly printable is quoted: a server's words must not steer a terminal.
    return `  ${name}=${/^[!#-~]+$/.test(text) ? text : JSON.stringify(text)}`;
  });
  return `${timestamp.slice(11, 19)} ${level.padEnd(5)} ${message}${said.join('')}`;
}
