// The promises that the calls of a context return, on a context of the test. What becomes of calls that are not awaited
// is in reconciling/context-end.test.ts.
import { setImmediate as turn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { awaitCalls } from '../../src/api/awaited-calls.ts';

it('the error of a call has the helper that made it in its stack', async () => {
  const list = async () => {
    await turn();
    throw new Error('no');
  };
  const failed = awaitCalls({ list }, async (context) => {
    const readParts = async () => await context.list();
    await readParts();
  });
  await expect(failed).rejects.toMatchObject({ stack: expect.stringContaining('readParts') });
});

it('a context may return the same promise twice', async () => {
  const one = Promise.resolve(1);
  const sum = awaitCalls({ get: () => one }, async ({ get }) => (await get()) + (await get()));
  expect(await sum).toBe(2);
});
