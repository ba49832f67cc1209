// Only how often finalize is called, and the waits between the calls. When an object counts as gone is in
// reconcile-family.test.ts.
import { expect, it } from 'vitest';
import type { Finalized } from '../../src/api/result.ts';
import { TerminalError } from '../../src/core/errors.ts';
import { finalizeUntilDone } from '../../src/reconciling/finalize.ts';

/** Runs finalizeUntilDone with a finalize that returns these results. No time passes. */
async function runFinalize(results: readonly (Finalized | Error)[], { endsAfter = Number.POSITIVE_INFINITY } = {}) {
  const remaining = [...results];
  const waited: number[] = [];
  const deadline = new AbortController();
  const ended = await finalizeUntilDone(
    async () => {
      const result = remaining.shift() ?? 'done';
      if (result instanceof Error) throw result;
      return result;
    },
    {
      wait: async (seconds, signal) => {
        waited.push(seconds);
        if (waited.length === endsAfter) deadline.abort();
        signal.throwIfAborted();
      },
      signal: deadline.signal,
      now: () => new Date(waited.length * 60_000),
    },
  ).then(
    () => 'done',
    (error: unknown) => String(error),
  );
  return { ended, waited, left: remaining.length };
}
const requeue = (requeueAfterSeconds: number) => ({ requeueAfterSeconds, reason: 'Closing' });

it('finalizeUntilDone waits for requeueAfterSeconds, and at least one second', async () => {
  expect(await runFinalize([requeue(30), requeue(0.1), 'done'])).toEqual({ ended: 'done', waited: [30, 1], left: 0 });
});

it('finalizeUntilDone waits until requeueAt, and a second after a time that has passed', async () => {
  const at = (seconds: number) => ({ requeueAt: new Date(seconds * 1000), reason: 'Closing' });
  expect(await runFinalize([at(20), at(90), at(90), 'done'])).toEqual({ ended: 'done', waited: [20, 30, 1], left: 0 });
});

it('finalizeUntilDone retries a finalize that throws twice, with backoff', async () => {
  const error = new Error('unavailable');
  expect(await runFinalize([error, requeue(5), error, 'done'])).toEqual({ ended: 'done', waited: [2, 5, 4], left: 0 });
  expect(await runFinalize([error, error, error, 'done'])).toEqual({
    ended: 'Error: unavailable',
    waited: [2, 4],
    left: 1,
  });
});

it('finalizeUntilDone does not retry after a TerminalError', async () => {
  expect(await runFinalize([new TerminalError('never'), 'done'])).toMatchObject({ waited: [], left: 1 });
});

it('finalizeUntilDone out of time reports the last reason of finalize', async () => {
  expect(await runFinalize([requeue(5), requeue(5), 'done'], { endsAfter: 2 })).toEqual({
    ...{ ended: 'Error: out of time before finalize was done: Closing', waited: [5, 5], left: 1 },
  });
});
