// A log and a meter that remember, for tests of the verbs.
import type { Log } from '../../src/core/context.ts';
import type { Meter } from '../../src/core/meter.ts';

/** What was logged and counted so far. */
export type Witness = {
  readonly log: Log;
  readonly meter: Meter;
  readonly lines: readonly { readonly level: string; readonly message: string; readonly fields: object }[];
  /** What was counted; of durations, how many. */
  readonly counts: ReadonlyMap<string, number>;
};

/** Creates a log and a meter that remember. */
export function createWitness(): Witness {
  const lines: { level: string; message: string; fields: object }[] = [];
  const counts = new Map<string, number>();
  const at =
    (level: string) =>
    (message: string, fields: object = {}) =>
      void lines.push({ level, message, fields });
  return {
    log: { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') },
    meter: {
      count: (name, value = 1) => void counts.set(name, (counts.get(name) ?? 0) + value),
      milliseconds: (name) => void counts.set(name, (counts.get(name) ?? 0) + 1),
    },
    lines,
    counts,
  };
}
