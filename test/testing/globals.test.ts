// What the code of a reconcile in the battery sees of the global object, and no other code: of two at once either may end
// first, and one may never end.
import { afterEach, expect, it, vi } from 'vitest';
import { type DisturbFetch, withGlobals } from '../../src/testing/battery/globals.ts';

const { Date: realDate, fetch: realFetch } = globalThis;
const onFetch: DisturbFetch = async ({ line }) => new Response(line);
const day = 86_400_000;
const hoursAhead = () => Math.round((Date.now() - realDate.now()) / 3_600_000);

afterEach(() => vi.restoreAllMocks());

it.each([
  'first',
  'second',
])('each of two reconciles at once has its own clock when the %s one ends first', async (name) => {
  const ends = { first: Promise.withResolvers<void>(), second: Promise.withResolvers<void>() };
  const seen: Record<string, readonly number[]> = {};
  const start = async (own: 'first' | 'second', aheadMs: number) =>
    await withGlobals({ aheadMs, onFetch }, async () => {
      const before = hoursAhead();
      await ends[own].promise;
      seen[own] = [
        before,
        hoursAhead(),
        Math.round((Date.parse(new Date().toISOString()) - realDate.now()) / 3_600_000),
      ];
    });
  const both = { first: start('first', day), second: start('second', 2 * day) };
  expect(hoursAhead()).toBe(0);
  const [one, other] = name === 'first' ? (['first', 'second'] as const) : (['second', 'first'] as const);
  ends[one].resolve();
  await both[one];
  ends[other].resolve();
  await both[other];
  expect(seen).toEqual({ first: [24, 24, 24], second: [48, 48, 48] });
  expect(globalThis.Date).toBe(realDate);
  expect(globalThis.fetch).toBe(realFetch);
});

it('a reconcile that was given up keeps its clock and its faults to itself', async () => {
  const end = Promise.withResolvers<void>();
  const late = withGlobals({ aheadMs: day, onFetch }, async () => {
    await end.promise;
    return [hoursAhead(), await (await fetch('http://127.0.0.1:9/pump', { method: 'PUT' })).text()];
  });
  expect(hoursAhead()).toBe(0);
  await expect(fetch('http://127.0.0.1:9/pump')).rejects.toThrow();
  vi.spyOn(Date, 'now').mockReturnValue(5);
  expect(Date.now()).toBe(5);
  vi.restoreAllMocks();
  const next = async () => hoursAhead();
  expect(await withGlobals({ aheadMs: 2 * day, onFetch }, next)).toBe(48);
  end.resolve();
  expect(await late).toEqual([24, 'PUT http://127.0.0.1:9/pump']);
  expect(globalThis.Date).toBe(realDate);
});
