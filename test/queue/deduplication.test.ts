// When two messages are one, as ids and as queues see it; group ids too. Against an SQS server that looks for ids in the
// whole queue, which is the harder case (AWS: within the group).
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TargetKey } from '../../src/core/key.ts';
import {
  deletionId,
  mappedId,
  replayId,
  requeueId,
  resyncId,
  retryId,
  watchId,
} from '../../src/queue/deduplication.ts';
import { groupIdOf } from '../../src/queue/group-id.ts';
import { createSend } from '../../src/queue/send.ts';
import { startTestQueues, type TestQueues } from '../sqs/fauxqs.ts';

const target: TargetKey = {
  controller: 'gadget',
  cluster: 'alpha',
  group: 'example.com',
  resource: 'gadgets',
  namespace: 'shop',
  name: 'one',
};
const other = { ...target, name: 'two' };
const source = { uid: 'u1', resourceVersion: '7' };

const idsOf = (one: TargetKey): readonly string[] => [
  watchId(one, [source]),
  deletionId(one, source),
  requeueId(one, { slot: '30/7' }),
  retryId(one, { attempt: 1, deferrals: 0, slot: '30/7' }),
  resyncId(one, { run: '7' }),
  replayId(one, { source: '7' }),
  mappedId(one, { messageId: '7' }),
];

describe('a deduplication id', () => {
  it('is never the same for two lanes, nor for two objects, controllers or clusters', () => {
    const targets = [
      target,
      other,
      { ...target, controller: 'gadget2' },
      { ...target, cluster: 'beta' },
      { ...target, namespace: 'shop2' },
      { ...target, group: '' },
    ];
    const ids = targets.flatMap(idsOf);
    expect(new Set(ids).size).toBe(ids.length);
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{64}$/);
  });

  it('is the same for two replicas that saw the same changes, whatever their order', () => {
    const sources = [source, { uid: 'u2', resourceVersion: '9' }, { uid: 'u3', resourceVersion: '8', gone: true }];
    expect(watchId(target, [...sources].reverse())).toBe(watchId(target, sources));
    expect(watchId(target, [...sources, source])).toBe(watchId(target, sources));
  });

  it('changes with every version and every source, and a deletion is not a change', () => {
    const ids = [
      watchId(target, [source]),
      watchId(target, [{ ...source, resourceVersion: '8' }]),
      watchId(target, [{ ...source, uid: 'u2' }]),
      watchId(target, [source, { uid: 'u2', resourceVersion: '7' }]),
      deletionId(target, source),
    ];
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('of a retry changes with attempt, deferrals and slot', () => {
    const retry = { attempt: 1, deferrals: 0, slot: '2/1' };
    const ids = [retry, { ...retry, attempt: 2 }, { ...retry, deferrals: 1 }, { ...retry, slot: '2/2' }];
    expect(new Set(ids.map((one) => retryId(target, one))).size).toBe(4);
  });
});

describe('a group id', () => {
  it('is readable as long as SQS allows it', () => {
    expect(groupIdOf(target)).toBe('gadget:alpha:gadgets.example.com/shop/one');
  });

  it('is always legal, and never the same for two objects', () => {
    const names = fc.string({ minLength: 1, maxLength: 253, unit: 'grapheme' });
    fc.assert(
      fc.property(names, names, (a, b) => {
        const [first, second] = [groupIdOf({ ...target, name: a }), groupIdOf({ ...target, name: b })];
        expect(first).toMatch(/^[!-~]{1,128}$/);
        expect(first === second).toBe(a === b);
      }),
    );
  });

  it('is a hash where the readable form would have to be cut, which would make two objects one', () => {
    const long = (end: string) => groupIdOf({ ...target, name: `${'n'.repeat(200)}${end}` });
    expect(long('a')).toMatch(/^[0-9a-f]{64}$/);
    expect(long('a')).not.toBe(long('b'));
  });
});

describe('a controller’s queue', () => {
  let queues: TestQueues;
  beforeAll(async () => {
    queues = await startTestQueues();
    await queues.create('gadget.fifo');
  });
  afterAll(async () => await queues.stop());

  const deliver = async (...entries: readonly (readonly [TargetKey, string])[]) => {
    const made = entries.map(([key, deduplicationId], number) => {
      return { body: `${key.name} ${number}`, groupId: groupIdOf(key), deduplicationId };
    });
    const send = createSend(queues.sqs, queues.urlPrefix);
    const sent = await send('gadget.fifo', made, { signal: AbortSignal.timeout(5_000) });
    expect(sent.every(({ accepted }) => accepted)).toBe(true);
    return (await queues.drain('gadget.fifo')).map(({ Body = '' }) => Body);
  };

  it('takes a change although another change of the object was consumed a moment ago', async () => {
    expect(await deliver([target, watchId(target, [{ uid: 'w', resourceVersion: '1' }])])).toEqual(['one 0']);
    expect(await deliver([target, watchId(target, [{ uid: 'w', resourceVersion: '2' }])])).toEqual(['one 0']);
  });

  it('takes a change once although two replicas forward it', async () => {
    const id = watchId(target, [{ uid: 'w', resourceVersion: '3' }]);
    expect(await deliver([target, id])).toEqual(['one 0']);
    expect(await deliver([target, id])).toEqual([]);
  });

  it('takes an object that was deleted and created again', async () => {
    const before = { uid: 'w', resourceVersion: '4' };
    expect(
      await deliver([target, deletionId(target, before)], [target, watchId(target, [{ ...before, uid: 'x' }])]),
    ).toEqual(['one 0', 'one 1']);
  });

  it('takes a run of resync once for each object, however often its trigger came, and the next run again', async () => {
    const run = '2026-11-21T12:00:00Z';
    const next = '2026-11-21T12:10:00Z';
    const both = [
      [target, resyncId(target, { run })],
      [other, resyncId(other, { run })],
    ] as const;
    expect([...(await deliver(...both, ...both))].sort()).toEqual(['one 0', 'two 1']);
    expect(await deliver(...both)).toEqual([]);
    expect(await deliver([target, resyncId(target, { run: next })])).toEqual(['one 0']);
  });

  it('makes one of any number of chains that ask for the same slot', async () => {
    const id = requeueId(target, { slot: '30/100' });
    expect(await deliver([target, id], [target, id], [target, id])).toEqual(['one 0']);
    expect(await deliver([target, requeueId(target, { slot: '30/101' })])).toEqual(['one 0']);
  });
});
