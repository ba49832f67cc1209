// Time since 1970 that nobody sets back while the process runs: a key must not wait for an hour to pass twice, and a cursor must
// not be from the future of its own watcher.

/** Returns milliseconds since 1970. */
export function steadyNow(): number {
  return Math.round(performance.timeOrigin + performance.now());
}
