// The heaps of the processes of a soak over time. Of each part the process that has lived longest is looked at: in one that was killed a
// minute ago no leak could be seen.
import * as z from 'zod';

/** One look at a process: megabytes after a collection. */
export type HeapSample = { readonly part: string; readonly pid: number; readonly heap: number; readonly rss: number };

/** The processes of a part, the oldest first. */
export type Part = { readonly name: string; readonly pids: () => readonly number[] };

/** Collects samples. */
export type HeapSamples = {
  /** Takes a line that a process wrote; tells whether it was the probe's. */
  hear(pid: number, line: string): boolean;
  /** Asks the eldest process of every part. What it answers is heard some time later. */
  ask(parts: readonly Part[]): void;
  heard(): readonly HeapSample[];
};

const probe = z.object({
  heapProbe: z.union([z.object({ listens: z.literal(true) }), z.object({ heapUsed: z.number(), rss: z.number() })]),
});
const megabyte = 1_000_000;

/** Creates a collection. */
export function createHeapSamples(): HeapSamples {
  const listening = new Set<number>();
  const asked = new Map<number, string>();
  const samples: HeapSample[] = [];
  return {
    hear(pid, line) {
      if (!line.startsWith('{"heapProbe"')) return false;
      const { heapProbe } = probe.parse(JSON.parse(line));
      const part = asked.get(pid);
      if ('listens' in heapProbe) listening.add(pid);
      else if (part !== undefined) {
        samples.push({ part, pid, heap: heapProbe.heapUsed / megabyte, rss: heapProbe.rss / megabyte });
      }
      return true;
    },
    ask(parts) {
      asked.clear();
      for (const { name, pids } of parts) {
        const eldest = pids().find((pid) => listening.has(pid));
        if (eldest === undefined) continue;
        asked.set(eldest, name);
        quietly(eldest);
      }
    },
    heard: () => samples,
  };
}

/** It may have died since. */
function quietly(pid: number): void {
  try {
    process.kill(pid, 'SIGUSR2');
  } catch {
    // Then there is no sample of it this time.
  }
}
