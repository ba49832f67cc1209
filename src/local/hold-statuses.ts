// A status reaches us by the watch a moment before the function that wrote it has logged its run. A person reads causes
// before effects, so statuses wait for that moment.
import type { Line } from './lines.ts';

const holdMilliseconds = 150;

/** Passes lines on at once, statuses a moment later, in order. `flush` passes on what still waits. */
export function holdStatuses(onLine: (line: Line) => void): { line(line: Line): void; flush(): void } {
  const held = new Map<NodeJS.Timeout, Line>();
  return {
    line: (line) => {
      if (line.who !== 'status') {
        onLine(line);
        return;
      }
      const timer = setTimeout(() => {
        held.delete(timer);
        onLine(line);
      }, holdMilliseconds);
      held.set(timer, line);
    },
    flush: () => {
      for (const [timer, line] of held) {
        clearTimeout(timer);
        onLine(line);
      }
      held.clear();
    },
  };
}
