// Only the past of a stage: what is known of a time range when a part of it cannot be read, and that the lines of an open
// object are read once each. The readers of CloudWatch and of the audit are test/cli/console.
import { setImmediate } from 'node:timers/promises';
import { type LogLine, maxPastLines, type PastDeps, PastReader } from '@outrigger/cli/console/stage/past-reader';
import type { PastEntry } from '@outrigger/cli/console/wire';
import { beforeEach, expect, it, vi } from 'vitest';
import { foo } from '../../src/controllers/foo.ts';

const id = 'lab:foos.samples.example.com/default/example';
const now = 1_700_000_000_000;
const range = { from: now - 3_600_000, to: now };
const { signal } = new AbortController();
const action: PastEntry = { at: now - 1, type: 'action', id, text: 'pause by ada: Sent.' };
const refused = async () => await Promise.reject(new Error('AccessDenied'));
let clock = now;
let lines: LogLine[] = [];
let queries: { readonly from: number; readonly to: number; readonly id?: string }[] = [];
beforeEach(() => {
  [clock, lines, queries] = [now, [], []];
});

function reader(deps: Partial<PastDeps> = {}): PastReader {
  const all = {
    now: () => clock,
    linesBetween: async (_: string, query: (typeof queries)[number]) => {
      queries.push(query);
      return lines.filter(({ at }) => at >= query.from && at <= query.to).slice(0, maxPastLines);
    },
    countsOf: async () => ({ invocations: 5, errors: 2, throttles: 0 }),
    deploymentOf: async () => ({ deployedAt: 7, code: 'abc=' }),
    actions: async () => [action],
    signal,
    ...deps,
  };
  return new PastReader([foo], all);
}
const write = (text: string, at: number) => lines.push({ text, at });
const run = (name: string) => JSON.stringify({ message: 'reconciled', key: `foo:${id}`, cause: name, outcome: 'done' });

it('a time range has the runs, crashes and actions in their order, and the figures of each function', async () => {
  write(run('change'), now - 3_000);
  write('r Task timed out after 30.03 seconds', now - 2_000);
  const { entries, functions, notes: told } = await reader().of(['foo'], range, signal);
  expect(entries.map(({ type }) => type)).toEqual(['action', 'crash', 'reconcile']);
  const counts = { invocations: 5, errors: 2, throttles: 0 };
  expect(functions).toEqual([{ name: 'foo', ...counts, timeouts: 1, deployedAt: 7, code: 'abc=' }]);
  expect(told).toEqual([]);
});

it.each([
  ['its log', { linesBetween: refused }, ['timeouts'], 'The log of functions'],
  ['its metrics', { countsOf: refused }, ['invocations', 'errors', 'throttles'], 'What AWS counts of functions'],
  ['its deployment', { deploymentOf: refused }, ['deployedAt', 'code'], 'When functions were deployed'],
  ['the audit', { actions: refused }, [], 'The audit'],
])('of a function of which %s cannot be read the rest is known, and nothing is zero', async (_, deps, unknown, what) => {
  const { functions, notes: told } = await reader(deps).of(['foo', 'timers'], range, signal);
  const whole = { invocations: 5, errors: 2, throttles: 0, timeouts: 0, deployedAt: 7, code: 'abc=' };
  const expected = Object.fromEntries(Object.entries(whole).filter(([name]) => !unknown.includes(name as never)));
  expect(functions).toEqual(['foo', 'timers'].map((name) => ({ name, ...expected })));
  expect(told).toEqual([`${what} cannot be read: AccessDenied`]);
});

it('of a function with more lines than one read has the time-outs are not known', async () => {
  for (let line = 0; line <= maxPastLines; line += 1) write(run('change'), now - 1_000);
  const { functions, notes: told } = await reader().of(['foo'], range, signal);
  expect(functions[0]).not.toHaveProperty('timeouts');
  expect(told).toEqual([`foo has more than ${maxPastLines} lines: choose a shorter time`]);
});

it('the lines of an open object are read on from the last read, a late one too, and one in the past once', async () => {
  const past = reader();
  const ofObject = (of = { from: now - 60_000, to: Number.POSITIVE_INFINITY }) => past.ofObject(id, of).entries;
  write(run('first'), now - 20_000);
  ofObject();
  await vi.waitFor(() => expect(ofObject().map(({ cause }) => cause)).toEqual(['first']));
  write(run('late'), now - 10_000);
  expect(queries).toHaveLength(1);
  clock = now + 16_000;
  ofObject();
  await vi.waitFor(() => expect(ofObject().map(({ cause }) => cause)).toEqual(['late', 'first']));
  expect(queries.map(({ from, to }) => [from - now, to - now])).toEqual([
    [-60_000, 0],
    [-30_000, 16_000],
  ]);
  const before = { from: now - 60_000, to: now - 15_000 };
  ofObject(before);
  await vi.waitFor(() => expect(ofObject(before).map(({ cause }) => cause)).toEqual(['first']));
  clock = now + 600_000;
  ofObject(before);
  expect(queries).toHaveLength(3);
});

it('an object with more lines than one read has is read to its end', async () => {
  for (let line = 0; line < maxPastLines + 500; line += 1) write(run(`${line}`), now - 3_000_000 + line);
  const past = reader();
  await vi.waitFor(() => expect(past.ofObject(id, range).entries).toHaveLength(maxPastLines + 500));
  await vi.waitFor(() => expect(past.ofObject(id, range).note).toBeUndefined());
});

it('a past that is being read, or cannot be, says so, and one range says nothing of another', async () => {
  const read = Promise.withResolvers<readonly LogLine[]>();
  const linesBetween: PastDeps['linesBetween'] = async (_, { to }) => await (to === now ? read.promise : refused());
  const past = reader({ linesBetween });
  const earlier = { from: range.from, to: now - 1_800_000 };
  for (const one of [range, earlier])
    expect(past.ofObject(id, one)).toEqual({ entries: [], note: 'The log is being read.' });
  const note = 'The log cannot be read: AccessDenied';
  await vi.waitFor(() => expect(past.ofObject(id, earlier).note).toBe(note));
  read.resolve([{ text: run('change'), at: now - 1_000 }]);
  const entries = [expect.objectContaining({ at: now - 1_000 })];
  await vi.waitFor(() => expect(past.ofObject(id, range)).toEqual({ entries }));
  expect(past.ofObject(id, earlier).note).toBe(note);
});

it('without a time range the last day is that of now', async () => {
  const past = reader();
  write(run('old'), now - 86_000_000);
  past.ofObject(id);
  await vi.waitFor(() => expect(past.ofObject(id).entries).toHaveLength(1));
  clock = now + 3_600_000;
  expect(past.ofObject(id).entries).toEqual([]);
});

it('of many functions four are read at once, and none after the page has left', async () => {
  const left = new AbortController();
  const names = Array.from({ length: 20 }, (_, index) => `f${index}`);
  let [reads, most, started] = [0, 0, 0];
  const linesBetween = async () => {
    [reads, started] = [reads + 1, started + 1];
    most = Math.max(most, reads);
    if (started === 9) left.abort(new Error('left'));
    await setImmediate();
    reads -= 1;
    return [];
  };
  const { functions } = await reader({ linesBetween }).of(names.slice(0, 8), range, left.signal);
  expect([functions.map(({ name }) => name), most]).toEqual([names.slice(0, 8), 4]);
  await expect(reader({ linesBetween }).of(names, range, left.signal)).rejects.toThrow('left');
  expect(started).toBeLessThan(13);
});
