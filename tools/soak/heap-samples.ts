// The heaps of a soak's processes over time. Of each part the oldest process is measured: a process that was started a
// minute ago cannot show a leak.
import * as z from 'zod';

/** A sample: megabytes after a garbage collection. */
export type HeapSample = { readonly part: string; readonly pid: number; readonly heap: number; readonly rss: number };

/** The processes of a part, oldest first. */
export type Part = { readonly name: string; readonly pids: () => readonly number[] };

/** Collects samples. */
export type HeapSamples = {
  /** Reads a line of a process; returns whether it came from the probe. */
  readLine(pid: number, line: string): boolean;
  /** Signals the oldest process of every part. Its sample arrives later, in `readLine`. */
  request(parts: readonly Part[]): void;
  samples(): readonly HeapSample[];
};

const probe = z.object({
  heapProbe: z.union([z.object({ listens: z.literal(true) }), z.object({ heapUsed: z.number(), rss: z.number() })]),
});
const megabyte = 1_000_000;

/** Creates a collection. */
export function createHeapSamples(): HeapSamples {
  const listening = new Set<number>();
  const requested = new Map<number, string>();
  const samples: HeapSample[] = [];
  return {
    readLine(pid, line) {
      if (!line.startsWith('{"heapProbe"')) return false;
      const { heapProbe } = probe.parse(JSON.parse(line));
      const part = requested.get(pid);
      if ('listens' in heapProbe) listening.add(pid);
      else if (part !== undefined) {
        samples.push({ part, pid, heap: heapProbe.heapUsed / megabyte, rss: heapProbe.rss / megabyte });
      }
      return true;
    },
    request(parts) {
      requested.clear();
      for (const { name, pids } of parts) {
        const oldest = pids().find((pid) => listening.has(pid));
        if (oldest === undefined) continue;
        requested.set(oldest, name);
        sendSignal(oldest);
      }
    },
    samples: () => samples,
  };
}

/** Signals a process; it may have ended meanwhile. */
function sendSignal(pid: number): void {
  try {
    process.kill(pid, 'SIGUSR2');
  } catch {
    // No sample of this process this time.
  }
}
