// Only from an event outside of the clusters to keys on the queues: patterns, mapping, repetitions, and bursts over the
// timers function. Excluded: who may send what (sender-check.test.ts) and the rules (generate/wakes.test.ts).
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { defineKind } from '../../src/api/custom-kind.ts';
import { matchesWake, wake } from '../../src/api/wake.ts';
import { createFunctionIds } from '../../src/sqs/deduplication.ts';
import { parseMessage } from '../../src/sqs/message.ts';
import type { Send } from '../../src/sqs/sender.ts';
import { createTimers } from '../../src/timers/run.ts';
import { createWake, maxKeys, parseEvent } from '../../src/waking/wake.ts';
import { createQueueDouble } from '../sqs/queue-double.ts';
import { createRecorder } from '../support/recorder.ts';

const Tank = defineKind({
  group: 'plant.example.com',
  version: 'v1',
  kind: 'Tank',
  spec: z.object({}),
  status: z.object({}),
  conditions: [],
});
const levels = z.object({ tanks: z.array(z.string()), cluster: z.string().optional() });
const tank = Tank.controller('tank', {
  wakes: [
    wake({ source: 'plant', detailType: 'LevelChanged', detail: { sensor: { kind: ['level'] } } }, ({ detail }) => {
      const { tanks, cluster } = levels.parse(detail);
      return tanks.map((name) => ({ namespace: 'default', name, cluster }));
    }),
  ],
  reconcile: async () => ({ status: {}, conditions: {} }),
});

const event = (id: string, detail: object = {}, more: object = {}) =>
  parseEvent({
    id,
    source: 'plant',
    'detail-type': 'LevelChanged',
    detail: { sensor: { kind: 'level' }, tanks: ['north'], ...detail },
    ...more,
  });

/** A plant that sends events at times, the wake function, the queues and the timers function, on one clock. */
function setUp({ startMs = 1_700_000_000_000, clusters = ['alpha', 'beta'], inTime = Number.POSITIVE_INFINITY } = {}) {
  let nowMs = startMs;
  const queues = createQueueDouble(() => nowMs);
  const recorder = createRecorder();
  const { signal } = new AbortController();
  const sendAll: Send = queues.as({ id: 'AROAWAKE', session: 's' });
  /** SQS accepts so many messages of a call until the function ends. */
  const send: Send = async (queue, entries, options) => [
    ...(await sendAll(queue, entries.slice(0, inTime), options)),
    ...entries.slice(inTime).map(() => ({ accepted: false, reason: 'no time left' }) as const),
  ];
  const run = createWake({
    registry: [tank],
    listClusters: async () => clusters,
    send,
    log: recorder.log,
    nowMs: () => nowMs,
  });
  const timers = createTimers({
    controllers: new Set(['tank']),
    ids: async () => createFunctionIds('secret'),
    send: queues.as({ id: 'AROATIMERS', session: 's' }),
    returnMessages: async () => undefined,
    sqsNow: () => nowMs,
    log: recorder.log,
    metrics: recorder.metrics,
  });
  return {
    wake: async (id: string, detail?: object) => await run(event(id, detail), { signal }),
    /** Lets time pass, and the timers function forward what is due. */
    pass: async (milliseconds: number) => {
      nowMs += milliseconds;
      await timers(queues.take('timers'), { signal });
    },
    keys: () =>
      queues.take('tank.fifo').map(({ body }) => {
        const { cluster, namespace, name, cause } = parseMessage(body);
        return `${cluster} ${namespace}/${name} ${cause.type === 'wake' ? cause.id : cause.type}`;
      }),
  };
}

describe('the pattern of a wake', () => {
  const base = { source: 'plant', detailType: 'LevelChanged' };
  it.each<[string, Parameters<typeof matchesWake>[0], boolean]>([
    ['of the same source and type', base, true],
    ['of another source', { ...base, source: 'pantry' }, false],
    ['of another type', { ...base, detailType: 'Leak' }, false],
    ['with one of the values', { ...base, detail: { sensor: { kind: ['flow', 'level'] } } }, true],
    ['with none of the values', { ...base, detail: { sensor: { kind: ['flow'] } } }, false],
    ['with a field that the event does not have', { ...base, detail: { sensor: { id: ['1'] } } }, false],
    ['with a value of the list of the event', { ...base, detail: { tanks: ['north'] } }, true],
  ])('an event is matched by a pattern %s', (_, pattern, expected) => {
    expect(matchesWake(pattern, event('1'))).toBe(expected);
  });

  it.each<[string, Parameters<typeof wake>[0], RegExp]>([
    ['an empty source', { ...base, source: '' }, /wake\.source/],
    [
      'an empty list',
      { ...base, detail: { a: { b: [] } } },
      /wake\.detail\.a\.b is|wake\.detail\.a\.b: is an empty list/,
    ],
    ['an operator', { ...base, detail: JSON.parse('{"a":[{"prefix":"x"}]}') }, /"prefix":"x".*values only/],
    ['a text in place of a list', { ...base, detail: JSON.parse('{"a":"x"}') }, /wake\.detail\.a.*list of values/],
  ])('wake rejects %s', (_, pattern, message) => {
    expect(() => wake(pattern, () => [])).toThrow(message);
  });
});

// Control T72.
it('an event wakes its objects in the cluster that it names, and else in every cluster of the table', async () => {
  const { wake: send, keys } = setUp();
  expect(await send('1', { tanks: ['north', 'south'], cluster: 'beta' })).toBe(2);
  expect(keys()).toEqual(['beta default/north 1', 'beta default/south 1']);
  expect(await send('2', { tanks: ['west'] })).toBe(2);
  expect(keys()).toEqual(['alpha default/west 2', 'beta default/west 2']);
});

it('a repetition of an event is one message, whatever the length of its id, and an event that no wake matches is none', async () => {
  const { wake: send, pass, keys } = setUp();
  const id = '1'.repeat(200);
  for (const milliseconds of [0, 100, 60_000]) {
    await pass(milliseconds);
    await send(id, { cluster: 'alpha' });
  }
  await pass(60_000);
  expect(keys()).toEqual([`alpha default/north ${id.slice(0, 128)}`]);
  expect(await send('2', { sensor: { kind: 'flow' } })).toBe(0);
  expect(keys()).toEqual([]);
});

it('of a burst the first event is sent at once, and the others are one message', async () => {
  const { wake: send, pass, keys } = setUp();
  for (const id of ['1', '2', '3', '4']) {
    await send(id, { cluster: 'alpha' });
    await pass(100);
  }
  expect(keys()).toEqual(['alpha default/north 1']);
  await pass(2_000);
  expect(keys()).toHaveLength(1);
  await pass(10_000);
  expect(keys()).toEqual([]);
});

it('an event after the clock was set back is sent at once', async () => {
  const { wake: send, pass, keys } = setUp();
  await send('1', { cluster: 'alpha' });
  expect(keys()).toEqual(['alpha default/north 1']);
  await pass(-10_000);
  await send('2', { cluster: 'alpha' });
  expect(keys()).toEqual(['alpha default/north 2']);
});

// Control T73.
it('after every event a message follows within three seconds, and never more than three in a second', async () => {
  const gaps = fc.array(fc.integer({ min: 0, max: 1_500 }), { minLength: 1, maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(gaps, fc.integer({ min: 0, max: 999 }), async (waits, offset) => {
      const { wake: send, pass, keys } = setUp({ startMs: 1_700_000_000_000 + offset });
      let timeMs = 0;
      const eventsMs: number[] = [];
      const sentMs: number[] = [];
      const tick = async (milliseconds: number) => {
        for (const endMs = timeMs + milliseconds; timeMs < endMs; ) {
          // Not past a whole second after an event, when a message of it may be sent.
          const step = Math.min(50, endMs - timeMs, ...eventsMs.map((at) => 1_000 - ((timeMs - at) % 1_000)));
          timeMs += step;
          await pass(step);
          sentMs.push(...keys().map(() => timeMs));
        }
      };
      for (const [index, wait] of waits.entries()) {
        await tick(wait);
        eventsMs.push(timeMs);
        await send(`${index}`, { cluster: 'alpha' });
        sentMs.push(...keys().map(() => timeMs));
      }
      await tick(3_000);
      expect(sentMs.some((sent) => sent >= (eventsMs.at(-1) ?? 0))).toBe(true);
      for (const from of sentMs) {
        expect(sentMs.filter((sent) => sent >= from && sent < from + 1_000).length).toBeLessThanOrEqual(3);
      }
    }),
    { numRuns: 100, examples: [[[101, 884, 787, 215, 2, 1148], 13]] },
  );
});

it('of an event with many keys in many clusters 1,000 messages are sent at once, and then 100 a second', async () => {
  const clusters = Array.from({ length: 40 }, (_, index) => `c${index}`);
  const { wake: send, pass, keys } = setUp({ clusters });
  const tanks = Array.from({ length: 30 }, (_, index) => `t${index}`);
  expect(await send('1', { tanks })).toBe(1_200);
  const sent = [keys()];
  for (const milliseconds of [2_000, 1_000, 1_000]) {
    await pass(milliseconds);
    sent.push(keys());
  }
  expect(sent.map(({ length }) => length)).toEqual([1_000, 100, 100, 0]);
  expect(new Set(sent.flat()).size).toBe(1_200);
});

it('an event that takes longer than its function goes on after the accepted messages when it is repeated', async () => {
  const tanks = Array.from({ length: 100 }, (_, index) => `t${index}`);
  const clusters = Array.from({ length: 25 }, (_, index) => `c${index}`);
  const { wake: send, pass, keys } = setUp({ clusters, inTime: 900 });
  await expect(send('1', { tanks })).rejects.toThrow('no time left');
  // SQS has accepted this key of the other event: it is sent again, since the next reconcile may have read it before.
  await send('2', { tanks: ['t0'], cluster: 'c0' });
  expect(await send('1', { tanks })).toBe(2_500);
  const sent = keys();
  for (let second = 0; second < 25; second += 1) {
    await pass(1_000);
    sent.push(...keys());
  }
  expect([sent.length, new Set(sent).size]).toEqual([2_501, 2_501]);
});

it('an event with too many keys, or that its mapping function cannot read, is an error and sends nothing', async () => {
  const { wake: send, keys } = setUp();
  const tanks = Array.from({ length: maxKeys + 1 }, (_, index) => `t${index}`);
  await expect(send('1', { tanks })).rejects.toThrow(/controller tank: mapToKeys returned 101 keys/);
  await expect(send('2', { tanks: 'north' })).rejects.toThrow(/^controller tank: tanks: Invalid input: expected/);
  await expect(send('3', { tanks: ['../x'], cluster: 'alpha' })).rejects.toThrow(/controller tank/);
  expect(keys()).toEqual([]);
  expect(() => parseEvent({ id: '1', source: 'plant' })).toThrow('event: detail-type: missing; detail: missing');
  expect(() => parseEvent({ id: '1', source: 'plant', 'detail-type': '', detail: {} })).toThrow(/event: detail-type: /);
});
