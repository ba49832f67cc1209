// The watcher's log: one JSON document a line on stdout, with the names that the functions' logger uses too.
import type { Log } from '../core/context.ts';

const levels = ['DEBUG', 'INFO', 'WARN', 'ERROR'] as const;
export type Level = (typeof levels)[number];

/** Creates a log that writes lines of `least` level and above. `fields` are on every line. */
export function createLog(
  write: (line: string) => void,
  { least = 'INFO', now = () => new Date(), fields = {} }: { least?: Level; now?: () => Date; fields?: object } = {},
): Log {
  const at =
    (level: Level) =>
    (message: string, more: object = {}) => {
      if (levels.indexOf(level) < levels.indexOf(least)) return;
      write(`${JSON.stringify({ level, timestamp: now().toISOString(), message, ...fields, ...more })}\n`);
    };
  return { debug: at('DEBUG'), info: at('INFO'), warn: at('WARN'), error: at('ERROR') };
}
