// Only how often a finalize is asked and how long is waited between; when an object counts as gone is reconcile-family-cases.ts.
import { expect, it } from 'vitest';
import { TerminalError } from '../../src/core/errors.ts';
import type { Finalized } from '../../src/core/result.ts';
import { finalizeUntilDone } from '../../src/runtime/finalize-gone.ts';

/** Asks a finalize that answers as told; no time passes. */
async function asked(answers: readonly (Finalized | Error)[], { endsAfter = Number.POSITIVE_INFINITY } = {}) {
  const left = [...answers];
  const waited: number[] = [];
  const time = new AbortController();
  const ended = await finalizeUntilDone(
    async () => {
      const answer = left.shift() ?? 'done';
      if (answer instanceof Error) throw answer;
      return answer;
    },
    {
      wait: async (seconds, signal) => {
        waited.push(seconds);
        if (waited.length === endsAfter) time.abort();
        signal.throwIfAborted();
      },
      signal: time.signal,
    },
  ).then(
    () => 'done',
    (error: unknown) => String(error),
  );
  return { ended, waited, left: left.length };
}
const later = (requeueAfterSeconds: number) => ({ requeueAfterSeconds, reason: 'Closing' });

it('what finalize asks to wait for is waited for, a second at least', async () => {
  expect(await asked([later(30), later(0.1), 'done'])).toEqual({ ended: 'done', waited: [30, 1], left: 0 });
});

it('a finalize that throws is asked again twice, with backoff', async () => {
  const away = new Error('away');
  expect(await asked([away, later(5), away, 'done'])).toEqual({ ended: 'done', waited: [2, 5, 4], left: 0 });
  expect(await asked([away, away, away, 'done'])).toEqual({ ended: 'Error: away', waited: [2, 4], left: 1 });
});

it('a TerminalError is the end', async () => {
  expect(await asked([new TerminalError('never'), 'done'])).toMatchObject({ waited: [], left: 1 });
});

it('when the time is over it is said what finalize was waiting for', async () => {
  expect(await asked([later(5), later(5), 'done'], { endsAfter: 2 })).toEqual({
    ...{ ended: 'Error: no time left to finalize it: Closing', waited: [5, 5], left: 1 },
  });
});
