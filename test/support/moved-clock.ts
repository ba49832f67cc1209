// A clock that only the test moves.

export type MovedClock = { readonly now: () => Date; later(seconds: number): void };

/** Creates a clock that shows the start until it is moved. */
export function movedClock(start = '2026-01-01T00:00:00Z'): MovedClock {
  let milliseconds = Date.parse(start);
  return {
    now: () => new Date(milliseconds),
    later: (seconds) => {
      milliseconds += seconds * 1000;
    },
  };
}
