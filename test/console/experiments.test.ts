// Only the experiments: that a part is always repaired, and when a change counts as reconciled or lost. The faults on a
// real local system are test/console/browser/dev.test.ts.

import { createExperiments } from '@outrigger/cli/console/dev/experiments';
import type { Fault } from '@outrigger/cli/console/dev/faults';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';

const log: string[] = [];
const fault = (name: string): Fault => ({
  name,
  title: name,
  text: name,
  part: 'API server',
  start: () => {
    log.push('broken');
    return () => void log.push('repaired');
  },
});
const north = 'tanks/default/north';
const south = 'tanks/default/south';
let touch: (id: string) => Promise<void>;
let ending: AbortController;

function experiments() {
  return createExperiments({
    faults: [fault('cut'), fault('refuse')],
    targets: () =>
      new Map([
        [north, ['tank', 'peers']],
        [south, ['tank']],
      ]),
    touch: async (id) => await touch(id),
    onChange: () => undefined,
    limitSeconds: 120,
    signal: ending.signal,
  });
}
const reconcile = (id: string, controller: string, end: { failed?: true; final?: true; postponed?: true } = {}) => ({
  id,
  controller,
  at: Date.now(),
  type: 'reconcile' as const,
  text: 'ran',
  ...end,
});

beforeEach(() => {
  vi.useFakeTimers();
  log.length = 0;
  ending = new AbortController();
  touch = async (id) => void log.push(`changed ${id}`);
});
afterEach(() => vi.useRealTimers());

it('an experiment changes every object while the part is broken, and converges at the last reconcile of each controller', async () => {
  const { start, list, onEntry } = experiments();
  start('cut');
  await vi.advanceTimersByTimeAsync(7_000);
  expect(log).toEqual(['broken', `changed ${north}`, `changed ${south}`]);
  onEntry(reconcile(north, 'tank'));
  onEntry(reconcile(north, 'peers', { failed: true }));
  onEntry(reconcile(north, 'peers', { postponed: true }));
  expect(list()).toMatchObject([{ total: 3, awaited: 2 }]);
  await vi.advanceTimersByTimeAsync(2_000);
  expect(log.at(-1)).toBe('repaired');
  onEntry(reconcile(south, 'tank'));
  expect(list()[0]).not.toHaveProperty('reconciledAt');
  await vi.advanceTimersByTimeAsync(3_000);
  onEntry(reconcile(north, 'peers'));
  await vi.advanceTimersByTimeAsync(1_000);
  const [one] = list();
  expect(one).toMatchObject({ awaited: 0, endedAt: expect.any(Number) });
  expect((one?.reconciledAt ?? 0) - (one?.repairedAt ?? 0)).toBe(4_000);
});

it('a change that no reconcile follows counts as lost, and that of a deleted object does not', async () => {
  const { start, list, onDeleted } = experiments();
  start('refuse');
  await vi.advanceTimersByTimeAsync(10_000);
  expect(log).toEqual(['broken', `changed ${north}`, `changed ${south}`, 'repaired']);
  onDeleted(north);
  await vi.advanceTimersByTimeAsync(130_000);
  expect(list()).toMatchObject([{ fault: 'refuse', total: 3, awaited: 1, endedAt: expect.any(Number) }]);
});

it('a change whose reconcile fails is failed and not lost, at once if it is not retried', async () => {
  const { start, list, onEntry } = experiments();
  start('cut');
  await vi.advanceTimersByTimeAsync(7_000);
  onEntry(reconcile(north, 'tank', { failed: true, final: true }));
  onEntry(reconcile(north, 'peers'));
  expect(list()).toMatchObject([{ total: 3, awaited: 1, failed: 1 }]);
  onEntry(reconcile(south, 'tank', { failed: true }));
  await vi.advanceTimersByTimeAsync(130_000);
  expect(list()).toMatchObject([{ awaited: 0, failed: 2, endedAt: expect.any(Number) }]);
});

it('the end of the system repairs the part, and nothing waits any longer', async () => {
  const { start, list } = experiments();
  start('cut', 30);
  await vi.advanceTimersByTimeAsync(9_000);
  expect(log.at(-1)).not.toBe('repaired');
  ending.abort();
  await vi.advanceTimersByTimeAsync(0);
  expect(log.at(-1)).toBe('repaired');
  expect(list()).toMatchObject([{ seconds: 30, awaited: 3, endedAt: expect.any(Number) }]);
  expect(vi.getTimerCount()).toBe(0);
});

it('the part is repaired although a change fails, and the next experiment can start', async () => {
  const { start, list } = experiments();
  touch = async () => {
    throw new Error('forbidden');
  };
  start('cut');
  expect(() => start('cut')).toThrow('an experiment is running');
  await vi.advanceTimersByTimeAsync(1_000);
  expect(log).toEqual(['broken', 'repaired']);
  expect(list()).toMatchObject([{ problem: 'Error: forbidden' }]);
  start('refuse');
  expect(() => start('nothing')).toThrow('does not exist');
});
