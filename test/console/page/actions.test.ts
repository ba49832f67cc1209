// Which actions a person is asked about, and the notice of their results. Excluded: the actions themselves
// (test/console/actions.test.ts), and the buttons (test/console/browser).

import { asked, named, notice, perform } from '@outrigger/cli/console/page/actions';
import { system } from '@outrigger/cli/console/page/store';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { rowOf } from '../fake-source.ts';

let sent: unknown[];
let reason: string | undefined;
beforeEach(() => {
  [sent, reason] = [[], undefined];
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  vi.stubGlobal('sessionStorage', { getItem: () => null });
  vi.stubGlobal('fetch', async (_: string, { body }: { readonly body: string }) => {
    sent.push(JSON.parse(body));
    return reason === undefined ? Response.json({ text: 'Sent.' }) : Response.json({ error: reason }, { status: 409 });
  });
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const action = { type: 'delete', queue: 'tank-dlq.fifo' } as const;
const question = { verb: 'Delete', what: '3 of tank-dlq.fifo in all clusters', text: 'They are gone.' };
const harmless = { ...question, verb: 'Redrive', isHarmless: true };

it.each([
  ['dev', harmless, undefined],
  ['dev', question, 'Delete 3 of tank-dlq.fifo in all clusters?'],
  ['stage', harmless, 'Redrive 3 of tank-dlq.fifo in all clusters on stage prod?'],
  ['stage', question, 'Delete 3 of tank-dlq.fifo in all clusters on stage prod?'],
  // Control T140.
] as const)('of a %s system an action with the question %j is sent after the reader confirmed %j', async (mode, given, title) => {
  system.value = { mode, name: 'prod', command: 'outrigger' };
  for (const confirmed of title === undefined ? [true] : [false, true]) {
    const result = perform(action, given);
    expect(asked.value?.title).toBe(title);
    asked.value?.reply(confirmed);
    expect(await result).toEqual(confirmed ? { text: 'Sent.' } : undefined);
    expect([sent, asked.value]).toEqual([confirmed ? [action] : [], undefined]);
  }
});

it('a question names the kind, the namespace and the cluster of an object', () => {
  const row = rowOf('watertanks.plant.example.com/default/north', { kind: 'WaterTank', cluster: 'berlin' });
  expect(named(row)).toBe('WaterTank default/north in cluster berlin');
});

it('the notice is the last result, or why the action failed, for six seconds', async () => {
  system.value = { mode: 'dev', name: 'local', command: 'outrigger dev' };
  await perform(action, harmless);
  expect(notice.value).toEqual({ text: 'Sent.', failed: false });
  vi.advanceTimersByTime(5_000);
  reason = 'this is not a dead-letter queue';
  expect(await perform(action, harmless)).toBeUndefined();
  vi.advanceTimersByTime(5_000);
  expect(notice.value).toEqual({ text: reason, failed: true });
  vi.advanceTimersByTime(1_000);
  expect(notice.value).toBeUndefined();
});
