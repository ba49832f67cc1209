// Preloaded into every watcher and function of a soak (`--import`, with `--expose-gc`): on SIGUSR2 the process collects its garbage and
// writes what is left as a line. It says first that it listens, because the signal would end a process that does not.
import process from 'node:process';

const write = (found: object) => void process.stdout.write(`${JSON.stringify({ heapProbe: found })}\n`);

process.on('SIGUSR2', () => {
  // Twice: what a first collection makes unreachable, a second one frees.
  globalThis.gc?.();
  globalThis.gc?.();
  const { heapUsed, rss } = process.memoryUsage();
  write({ heapUsed, rss });
});
write({ listens: true });
