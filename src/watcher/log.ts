// The watcher's log: one JSON document per line on stdout, with the same field names as the logger of the functions. On
// a terminal the lines are formatted for people.
import { type Log, loggedField } from '../core/log.ts';
import { printableJson } from '../core/printable.ts';

const levels = ['DEBUG', 'INFO', 'WARN', 'ERROR'] as const;
export type Level = (typeof levels)[number];
type Line = { readonly level: Level; readonly timestamp: string; readonly message: string };

/** Options of a log. */
export type LogOptions = {
  readonly minLevel?: Level;
  readonly now?: () => Date;
  /** Fields that are added to every line. */
  readonly fields?: object;
  /** Formats lines for people instead of JSON. */
  readonly readable?: boolean;
};

/** Creates a log that writes lines of `minLevel` and above. */
export function createLog(
  write: (line: string) => void,
  { minLevel = 'INFO', now = () => new Date(), fields = {}, readable = false }: LogOptions = {},
): Log {
  const format = readable ? formatReadable : formatJson;
  const at =
    (level: Level) =>
    (message: string, more: object = {}) => {
      if (levels.indexOf(level) < levels.indexOf(minLevel)) return;
      write(`${format({ level, timestamp: now().toISOString(), message, ...fields, ...more })}\n`);
    };
  return { debug: at('DEBUG'), info: at('INFO'), warn: at('WARN'), error: at('ERROR') };
}

/** Operators read these lines on a terminal, too: kubectl logs. */
function formatJson(line: Line): string {
  return printableJson(JSON.stringify(line, loggedField));
}

/** `12:00:00 WARN  watch failed, retrying  kind=dinners  error="no response"` */
function formatReadable({ level, timestamp, message, ...fields }: Line): string {
  const formatted = Object.entries(fields).flatMap(([name, value]) => {
    const logged = loggedField(name, value);
    const text = typeof logged === 'string' ? logged : JSON.stringify(logged, loggedField);
    if (text === undefined) return [];
    // Values with other than printable characters are quoted: text from a server must not control the terminal.
    return `  ${name}=${/^[!#-~]+$/.test(text) ? text : printableJson(JSON.stringify(text))}`;
  });
  return `${timestamp.slice(11, 19)} ${level.padEnd(5)} ${message}${formatted.join('')}`;
}
