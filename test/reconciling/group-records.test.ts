// Only the grouping of a batch by key, and the order of redelivered keys, without queues and reconciles. How many run at a
// time, and that the others were deleted before, is in batch-ends.test.ts.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { defaultRetry } from '../../src/core/controller-options.ts';
import { type Acceptance, groupRecords, orderRedelivered, readRecord } from '../../src/reconciling/group-records.ts';
import { asOfNow } from '../../src/reconciling/pass/observe.ts';
import { groupIdOf } from '../../src/sqs/deduplication.ts';
import { formatMessage, type Message } from '../../src/sqs/message.ts';
import type { QueueRecord } from '../../src/sqs/record.ts';
import { asChange, asCommand, asRequeue, asResync, asRetry } from '../sqs/messages.ts';
import { messageFor, record as tankRecord } from './batch-harness.ts';

const message = messageFor('north', asChange({ observedAt: 1 }));
const body = { ...JSON.parse(formatMessage(message)) };
const [group, resource, namespace, name] = body.object;
const bodyWith = (changes: object) => JSON.stringify({ ...body, ...changes });
let count = 0;
const record = (body: string, receiveCount = 1, groupId?: string): QueueRecord => {
  count += 1;
  return { messageId: `m${count}`, receiptHandle: `r${count}`, body, groupId, receiveCount, firstReceivedAt: 1 };
};

const grouped = (records: readonly QueueRecord[], acceptance?: Acceptance) =>
  groupRecords('water-tank', records.map(readRecord), acceptance);
/** Groups messages of the same key, each with these changes. */
const groupsOf = (...changes: readonly Partial<Message>[]) =>
  grouped(changes.map((one) => record(formatMessage({ ...message, ...one })))).groups;

it('messages of one key form one group, with the fewest attempts and the earliest observation', () => {
  const retry = asRetry({ attempt: 5, observedAt: 10, dueAt: 100, slot: '4/25' });
  const groups = groupsOf(retry, asChange({ observedAt: 20 }));
  expect(groups).toHaveLength(1);
  expect(groups[0]).toMatchObject({
    observedAt: 10,
    afterDueAt: 100,
    message: {
      cause: { type: 'change', observedAt: 20 },
      merged: { count: 1, causes: [{ type: 'retry', attempt: 5 }] },
    },
  });
  expect(groups[0]?.records).toHaveLength(2);
});

it('of the due times and observations of a key the later due time and the earlier observation count, in any order', () => {
  const early = asRetry({ attempt: 1, observedAt: 20, dueAt: 100 });
  const late = asRetry({ attempt: 2, observedAt: 10, dueAt: 200 });
  for (const [group] of [groupsOf(early, late), groupsOf(late, early)])
    expect(group).toMatchObject({ afterDueAt: 200, observedAt: 10 });
});

it('a command stays one in a group with a change: an operator’s redrive is retried where the change is not', () => {
  for (const command of [asCommand(), asRetry({ command: true })])
    for (const group of [groupsOf(asChange(), command), groupsOf(command, asChange())])
      expect(group[0]?.message).toMatchObject({ cause: command.cause, merged: { causes: [{ type: 'change' }] } });
});

it('G1: a change between requeues of two generations stays in the group, with its strays', () => {
  const requeue = (generation: number) => asRequeue({ generation });
  const change = { ...asChange(), strays: { count: 1, objects: [['', 'pods', 'default', 'lost'] as const] } };
  for (const ordered of [
    [requeue(1), change, requeue(2)],
    [requeue(2), change, requeue(1)],
    [requeue(1), requeue(2), change],
  ]) {
    const [merged] = groupsOf(...ordered);
    const causes = [merged?.message.cause, ...(merged?.message.merged?.causes ?? [])];
    expect(causes).toContainEqual(change.cause);
    expect(merged?.message.strays).toEqual(change.strays);
    // A reconcile of the later generation has observed it, and not the change.
    expect(merged && asOfNow(merged.message, { now: 3, observed: 3, isFailing: false })).toBeDefined();
  }
  expect(groupsOf(requeue(1), requeue(2))[0]?.message).toEqual({ ...message, ...requeue(2) });
});

it('X9: the requeue of a failed reconcile stands for no other message: it would start no retries', () => {
  const failed = asRequeue({ failed: true });
  for (const other of [asChange(), asRetry({ attempt: 3 }), asRequeue()])
    for (const [merged] of [groupsOf(failed, other), groupsOf(other, failed)])
      expect(merged?.message.cause).toMatchObject(other.cause);
});

it('a key without a time of its own counts as observed when SQS received it', () => {
  expect(groupsOf(asResync({ run: 'start' }))[0]?.observedAt).toBe(1);
  expect(groupsOf(asResync({ run: 'start' }), asChange({ observedAt: 20 }))[0]?.observedAt).toBe(1);
});

it('a message in another group than that of its key is refused: SQS would deliver it beside the others', () => {
  const text = formatMessage(message);
  expect(grouped([record(text, 1, groupIdOf(message)), record(text, 1, 'another')])).toMatchObject({
    groups: [{ records: [{ groupId: groupIdOf(message) }] }],
    refused: [{ reason: 'the message group is not that of its key', record: { groupId: 'another' } }],
  });
});

it('attempts and postponements of a retry are limited to what Outrigger writes', () => {
  const groups = groupsOf(asRetry({ attempt: 999_999, postponements: 999_999, conflicts: 999_999 }));
  const limits = { attempt: defaultRetry.attempts - 1, postponements: 10_000, conflicts: 10_000 };
  expect(groups[0]?.message.cause).toMatchObject(limits);
});

// Control T63.
it('a merged retry never gives a key more attempts or postponements than any of its messages', () => {
  const forged = asRetry({ attempt: 0, postponements: 9_000, conflicts: 5 });
  const genuine = asRetry({ attempt: 4, postponements: 1 });
  const conflicts = asRetry({ postponements: 5, conflicts: 5 });
  const outage = asRetry({ postponements: 6 });
  for (const [one, other, postponements] of [
    [forged, genuine, 1],
    [genuine, forged, 1],
    [conflicts, outage, 0],
  ] as const)
    expect(groupsOf(one, other)[0]?.message.cause).toMatchObject({ attempt: 0, postponements, conflicts: 0 });
});

// Control T41.
it('a kind that the controller does not declare is refused before it is grouped', () => {
  const declares = (one: { readonly resource: string }) => one.resource === message.resource;
  const undeclared = { ...message, resource: 'secrets', group: '' };
  const bodies = [undeclared, message].map((one) => record(formatMessage(one)));
  const { groups, refused } = grouped(bodies, { declares });
  expect(groups).toHaveLength(1);
  expect(refused).toEqual([{ record: bodies[0], reason: 'water-tank declares no secrets.' }]);
});

it('objects of the same name in another namespace, cluster, group or resource have other keys', () => {
  const others = [{ namespace: 'other' }, { cluster: 'b' }, { group: 'x.example.com' }, { resource: 'tanks' }];
  const groups = groupsOf({}, ...others);
  expect(new Set(groups.map(({ key }) => key)).size).toBe(5);
});

it('the group of a redelivered record is marked as redelivered, also with a new record after it', () => {
  const text = formatMessage(message);
  for (const records of [[record(text, 2)], [record(text, 2), record(text)]])
    expect(grouped(records).groups[0]?.redelivered).toBe(true);
});

it.each([
  ['not JSON', 'hello', 'JSON'],
  ['a path-like name', bodyWith({ object: [group, resource, namespace, '../x'] }), 'object.3'],
  ['a path-like namespace', bodyWith({ object: [group, resource, 'a/b', name] }), 'object.2'],
  ['a percent sign', bodyWith({ object: [group, resource, namespace, '%2e%2e'] }), 'object.3'],
  ['another controller', bodyWith({ controller: 'other' }), 'controller'],
  ['a retry without a slot', bodyWith({ cause: { ...asRetry().cause, slot: undefined } }), 'cause.slot'],
])('a record with %s is refused, and the reason names the error', (_, body, part) => {
  const { groups, refused } = grouped([record(body), record(formatMessage(message))]);
  expect(groups).toHaveLength(1);
  expect(refused).toHaveLength(1);
  expect(refused[0]?.reason).toContain(part);
});

const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j'];
const redelivered = (remaining: readonly string[], receipt: number) =>
  orderRedelivered(grouped(remaining.map((name) => tankRecord(name, {}, receipt))).groups).map(
    ({ message }) => message.name,
  );

/** Returns the keys that remain if the function crashes at the first crashing key, at each of these receipts. */
function remainingAfter(crashing: ReadonlySet<string>, receipts: readonly number[]): readonly string[] {
  return receipts.reduce<readonly string[]>((remaining, receipt) => {
    const order = redelivered(remaining, receipt);
    const crash = order.findIndex((name) => crashing.has(name));
    return crash === -1 ? [] : order.slice(crash);
  }, names);
}

it.each(
  names,
)('with %s, which crashes its function each time, all other keys are done within two receipts', (crashing) => {
  expect(remainingAfter(new Set([crashing]), [2, 3])).toEqual([crashing]);
});

it('a key between two crashing keys is done after some receipts', () => {
  const remaining = remainingAfter(new Set(['c', 'h']), [2, 3, 4, 5, 6, 7, 8, 9]);
  expect(new Set(remaining)).toEqual(new Set(['c', 'h']));
});

it('orderRedelivered returns each key once', () => {
  fc.assert(
    fc.property(fc.subarray(names), fc.integer({ min: 2, max: 12 }), (some, receipt) => {
      const order = redelivered(some, receipt);
      expect(order.toSorted()).toEqual(some.toSorted());
    }),
  );
});
