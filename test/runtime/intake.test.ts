// Only how a batch is sorted into keys; no queue, no reconcile.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatMessage, type Message } from '../../src/queue/message.ts';
import { type QueueRecord, takeIn } from '../../src/runtime/intake.ts';

const message: Message = {
  v: 1,
  controller: 'water-tank',
  cluster: 'a',
  group: 'plant.example.com',
  resource: 'watertanks',
  namespace: 'default',
  name: 'north',
  lane: 'watch',
  attempt: 0,
  deferrals: 0,
  seenAt: 1,
};
let count = 0;
const record = (body: string, receiveCount = 1): QueueRecord => {
  count += 1;
  return { messageId: `m${count}`, receiptHandle: `r${count}`, body, groupId: 'g', receiveCount, firstReceivedAt: 1 };
};

describe('a batch', () => {
  it('duplicates of a key share one group, with the fresher attempt, the longer lag and the later slot', () => {
    const { groups } = takeIn('water-tank', [
      record(formatMessage({ ...message, lane: 'retry', attempt: 5, seenAt: 10, dueAt: 100, slot: '4/25' })),
      record(formatMessage({ ...message, seenAt: 20 })),
    ]);
    expect(groups).toHaveLength(1);
    expect(groups[0]?.message).toMatchObject({ lane: 'watch', attempt: 0, seenAt: 10, dueAt: 100 });
    expect(groups[0]?.records).toHaveLength(2);
  });

  it('objects of the same name in another namespace, cluster, group or resource are other keys', () => {
    const others = [{ namespace: 'other' }, { cluster: 'b' }, { group: 'x.example.com' }, { resource: 'tanks' }];
    const { groups } = takeIn(
      'water-tank',
      [message, ...others.map((other) => ({ ...message, ...other }))].map((one) => record(formatMessage(one))),
    );
    expect(new Set(groups.map(({ target }) => target)).size).toBe(5);
  });

  it('a record that was received before is marked to run alone', () => {
    const { groups } = takeIn('water-tank', [record(formatMessage(message), 2)]);
    expect(groups[0]?.again).toBe(true);
  });

  it.each([
    ['not JSON', 'hello', 'JSON'],
    ['a path-like name', JSON.stringify({ ...message, name: '../x' }), 'name'],
    ['a path-like namespace', JSON.stringify({ ...message, namespace: 'a/b' }), 'namespace'],
    ['a percent sign', JSON.stringify({ ...message, name: '%2e%2e' }), 'name'],
    ['another version', JSON.stringify({ ...message, v: 2 }), 'v'],
    ['another controller', JSON.stringify({ ...message, controller: 'other' }), 'controller'],
    ['a long body', JSON.stringify({ ...message, run: 'x'.repeat(3000) }), '2048'],
  ])('%s is refused with a reason that names it', (_, body, named) => {
    const { groups, refused } = takeIn('water-tank', [record(body), record(formatMessage(message))]);
    expect(groups).toHaveLength(1);
    expect(refused).toHaveLength(1);
    expect(refused[0]?.reason).toContain(named);
  });

  it('never throws and never makes a key of arbitrary bytes', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(fc.string(), fc.json())), (bodies) => {
        const { groups, refused } = takeIn(
          'water-tank',
          bodies.map((body) => record(body)),
        );
        expect(groups).toHaveLength(0);
        expect(refused).toHaveLength(bodies.length);
      }),
    );
  });
});
