// Preloaded into every watcher and function of a soak (`--import`, with `--expose-gc`): on SIGUSR2 the process collects
// its garbage and prints its memory as one line. It first prints that it listens, because the signal would end a
// process that does not.
import process from 'node:process';

// A bundle reads its source maps at the first error, at any time: a step of some megabytes that would look like a leak.
Object.defineProperty(Error, 'prepareStackTrace', { get: () => undefined, set: () => undefined });

const write = (report: object) => void process.stdout.write(`${JSON.stringify({ heapProbe: report })}\n`);

process.on('SIGUSR2', () => {
  // Twice: objects that become unreachable in the first collection are freed by the second.
  globalThis.gc?.();
  globalThis.gc?.();
  const { heapUsed, rss } = process.memoryUsage();
  write({ heapUsed, rss });
});
write({ listens: true });
