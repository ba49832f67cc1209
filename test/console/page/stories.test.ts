// How events of an object become stories: what caused a run, what it wrote, and where its time went.
import { barsOf, storiesOf } from '@outrigger/cli/console/page/objects/stories';
import type { TimelineEntry } from '@outrigger/cli/console/wire';
import { expect, it } from 'vitest';

const run = (at: number, fields: Partial<TimelineEntry> = {}): TimelineEntry => ({
  at,
  type: 'reconcile',
  controller: 'tank',
  text: `run ${at}`,
  durationMs: 50,
  writes: 1,
  ...fields,
});
const event = (at: number, type: 'change' | 'status'): TimelineEntry => ({ at, type, text: `${type} ${at}` });
/** The stories as texts: causes > run > results. */
const told = (timeline: readonly TimelineEntry[]) =>
  storiesOf(timeline.toSorted((a, b) => b.at - a.at)).map((group) =>
    group
      .map(({ causes, run: one, results }) =>
        [causes, one === undefined ? [] : [one], results].map((all) => all.map(({ text }) => text).join()).join(' > '),
      )
      .join(' | '),
  );

it.each([
  ['its change, itself and its status', [event(900, 'change'), run(1_000), event(990, 'status')]],
  ['a status that is seen before the line of its run', [event(900, 'change'), run(1_000), event(960, 'status')]],
  ['a change that is seen after the run began', [event(1_010, 'change'), run(1_000), event(1_100, 'status')]],
])('a story has %s, in this order', (_, timeline) => {
  expect(told(timeline)).toEqual([expect.stringMatching(/^change \d+ > run 1000 > status \d+$/)]);
});

it('a change during a run is the cause of the next one, or waits for it; a status of no run stands alone', () => {
  const timeline = [run(1_000, { durationMs: 500 }), event(800, 'change'), event(5_000, 'status')];
  expect(told([...timeline, run(1_200)])).toEqual([' >  > status 5000', 'change 800 > run 1200 > ', ' > run 1000 > ']);
  expect(told(timeline)).toEqual([' >  > status 5000', ' > run 1000 > ', 'change 800 >  > ']);
});

it("a line of the author is of its run, which then is not folded, and an operator's action is of none", () => {
  const entry = (type: 'log' | 'action', at: number): TimelineEntry => ({ at, type, text: `${type} ${at}` });
  const timeline = [run(1_000, { writes: 0 }), entry('log', 970), entry('action', 980)];
  expect(told(timeline)).toEqual([' > run 1000 > log 970', ' >  > action 980']);
});

it('a change that only controllers have written is the result of a run', () => {
  const writers = [{ manager: 'outrigger-tank', operation: 'Apply', time: '' }];
  const own = { ...event(980, 'change'), writers };
  expect(told([run(1_000), own, run(2_000)])).toEqual([' > run 2000 > ', ' > run 1000 > change 980']);
  const both = { ...own, writers: [...writers, { manager: 'kubectl', operation: 'Update', time: '' }] };
  expect(told([run(1_000), both])).toEqual(['change 980 > run 1000 > ']);
});

it('runs in a row that wrote nothing are one group, and those that failed or wait are not among them', () => {
  const none = { writes: 0 };
  const timeline = [run(1_000, none), run(2_000, none), run(3_000, { ...none, failed: true }), run(4_000, none)];
  expect(told(timeline)).toEqual([' > run 4000 > ', ' > run 3000 > ', ' > run 2000 >  |  > run 1000 > ']);
  expect(told([run(1_000, none), run(2_000, { ...none, postponed: true })])).toHaveLength(2);
});

it('the bars are watcher, queue, run and requests; without spans only what the log says', () => {
  const requests = [
    { method: 'GET', target: '/a', status: 200, startMs: 2, durationMs: 5 },
    { method: 'PATCH', target: '/a/status', startMs: 9, durationMs: 30 },
  ];
  const trace = { startedAt: 1_028, forwardedAt: 1_000, queuedAt: 1_008, requests };
  const shown = (one: TimelineEntry) => barsOf(one).map(({ type, startMs, durationMs }) => [type, startMs, durationMs]);
  expect(shown(run(1_080, { trace }))).toEqual([
    ['wait', 0, 8],
    ['wait', 8, 20],
    ['run', 28, 50],
    ['read', 30, 5],
    ['write', 37, 30],
  ]);
  expect(shown(run(1_080, { latencyMs: 80 }))).toEqual([
    ['wait', 0, 30],
    ['run', 30, 50],
  ]);
  expect(shown(run(1_080))).toEqual([['run', 0, 50]]);
});
