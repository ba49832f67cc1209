// Only who may say what: each cell of the table of senders, on the queues of a controller, of timers and of the resync.
// The queues write the sender from the credentials used. Excluded: what a reconcile does with an accepted message.
import { expect, it } from 'vitest';
import { registry } from '../../src/controllers/registry.ts';
import { groupRecords, readRecord } from '../../src/reconciling/group-records.ts';
import { formatResyncMessage } from '../../src/resync/message.ts';
import { groupIdOf } from '../../src/sqs/deduplication.ts';
import { type CauseType, dueAtOf, formatMessage, type Message } from '../../src/sqs/message.ts';
import { createCopyLimit } from '../../src/sqs/senders.ts';
import { aMessage, asChange, asCommand, asRequeue, asResync, asRetry } from '../sqs/messages.ts';
import { createQueueDouble, type QueueDouble } from '../sqs/queue-double.ts';
import { type SenderName, senders } from '../sqs/sender-roles.ts';
import { checkWith, done, messageFor, record, resyncWith, setUp, timersOn } from './batch-harness.ts';

const nowMs = 1_700_000_000_000;
const dueAt = nowMs / 1000;
const { signal } = new AbortController();
const causes = {
  change: asChange(),
  requeue: asRequeue({ dueAt }),
  retry: asRetry({ attempt: 3, postponements: 2, dueAt }),
  resync: asResync({ dueAt }),
  wake: { cause: { type: 'wake', observedAt: nowMs, source: 's', id: 'e', dueAt } },
  command: asCommand(),
} as const satisfies Record<CauseType, Partial<Message>>;
const allCauses: readonly CauseType[] = ['change', 'requeue', 'retry', 'resync', 'wake', 'command'];

/** Sends a message to a queue, lets the functions of timers and of the controller read it, and returns what they accept. */
async function send(
  sender: SenderName,
  message: Message,
  { to = 'gadget.fifo', stamp }: { readonly to?: 'gadget.fifo' | 'timers'; readonly stamp?: string } = {},
) {
  const queues = createQueueDouble(() => nowMs);
  const attributes = stamp === undefined ? {} : { attributes: { sender: stamp } };
  const fifo = to === 'timers' ? {} : { groupId: groupIdOf(message), deduplicationId: 'd' };
  await queues.as(senders[sender])(to, [{ body: formatMessage(message), ...fifo, ...attributes }], { signal });
  await timersOn(queues, () => nowMs).run();
  const records = queues.take(`${message.controller}.fifo`).map(readRecord);
  const { groups, refused } = groupRecords('gadget', records, { admit: await checkWith().admission(records) });
  return { accepted: groups.map((group) => group.message), refused, timersLetters: queues.take('timers-dlq') };
}

/** Returns the causes that are accepted from a sender. */
async function acceptedCauses(
  sender: SenderName,
  cluster: string,
  how: Parameters<typeof send>[2] = {},
): Promise<readonly CauseType[]> {
  const results = await Promise.all(
    allCauses.map(async (type) => {
      const { accepted } = await send(sender, aMessage({ cluster, ...causes[type] }), how);
      return accepted.length > 0 ? [type] : [];
    }),
  );
  return results.flat();
}

it.each<[SenderName, string, readonly CauseType[]]>([
  ['gadget', 'alpha', ['change', 'resync']],
  ['requester', 'alpha', ['wake', 'command']],
  ['requester', 'open', ['wake', 'command']],
  ['watcherOfAlpha', 'alpha', ['change', 'resync']],
  ['watcherOfAlpha', 'beta', []],
  ['watcherOfAlpha', 'open', []],
  ['watcherOfBeta', 'alpha', []],
  ['watcherOfBeta', 'beta', ['change', 'resync']],
  ['operator', 'alpha', ['wake', 'command']],
  ['operator', 'open', ['change', 'resync', 'wake', 'command']],
  ['widget', 'alpha', ['wake', 'command']],
  ['resync', 'alpha', ['wake', 'command']],
  ['wake', 'alpha', ['wake']],
  ['wake', 'open', ['wake']],
  // Control T44.
])('%s may send for cluster %s exactly: %j', async (sender, cluster, expected) => {
  expect(await acceptedCauses(sender, cluster)).toEqual(expected);
});

it.each<[string, string | undefined, string, readonly CauseType[]]>([
  ['of no sender, from the version before', undefined, 'alpha', ['requeue', 'retry', 'resync']],
  ['of its own function', senders.gadget.id, 'alpha', ['requeue', 'retry', 'resync']],
  ['of the resync', senders.resync.id, 'alpha', ['requeue', 'retry', 'resync']],
  ['of the cluster’s watcher', senders.watcherOfAlpha.id, 'alpha', ['resync']],
  ['of another cluster’s watcher', senders.watcherOfBeta.id, 'alpha', []],
  ['of another cluster’s watcher', senders.watcherOfBeta.id, 'open', []],
  ['of the wake function', senders.wake.id, 'alpha', ['wake']],
  ['of another controller', senders.widget.id, 'alpha', []],
  ['of an operator', senders.operator.id, 'open', ['resync']],
  // Control T45.
])('timers may forward a message %s (%s) for cluster %s exactly: %j', async (_, stamp, cluster, expected) => {
  expect(await acceptedCauses('timers', cluster, stamp === undefined ? {} : { stamp })).toEqual(expected);
});

it('an attribute that a watcher writes itself is not believed', async () => {
  expect(await acceptedCauses('watcherOfBeta', 'alpha', { stamp: senders.gadget.id })).toEqual([]);
});

// Control T48.
it('only messages of timers keep attempts and due times', async () => {
  const accepted = async (sender: SenderName, type: CauseType, how: Parameters<typeof send>[2] = {}) =>
    (await send(sender, aMessage({ cluster: 'alpha', ...causes[type] }), how)).accepted;
  const due = async (...given: Parameters<typeof accepted>) => (await accepted(...given)).map(dueAtOf);
  expect(await due('watcherOfAlpha', 'resync')).toEqual([undefined]);
  expect(await due('gadget', 'resync')).toEqual([undefined]);
  expect(await due('timers', 'resync', { stamp: senders.watcherOfAlpha.id })).toEqual([undefined]);
  expect(await due('timers', 'resync', { stamp: senders.resync.id })).toEqual([dueAt]);
  for (const sender of ['wake', 'requester', 'operator'] as const) {
    expect(await due(sender, 'wake')).toEqual([undefined]);
  }
  expect(await accepted('timers', 'retry', { stamp: senders.gadget.id })).toMatchObject([
    { cause: { attempt: 3, postponements: 2, dueAt } },
  ]);
});

// Control T60.
it('changes are accepted while the clusters table cannot be read, attempts and due times are not', async () => {
  expect(await acceptedCauses('watcherOfBeta', 'unreadable')).toEqual(['change', 'resync']);
});

it.each<[SenderName, string, readonly CauseType[]]>([
  ['gadget', 'alpha', ['requeue', 'retry']],
  ['widget', 'alpha', []],
  ['resync', 'alpha', ['resync']],
  ['wake', 'alpha', ['wake']],
  ['wake', 'open', ['wake']],
  ['watcherOfAlpha', 'alpha', ['resync']],
  ['watcherOfBeta', 'alpha', []],
  ['watcherOfBeta', 'open', []],
  ['operator', 'alpha', []],
  ['operator', 'open', ['resync']],
  ['requester', 'alpha', []],
  // Control T46.
])('%s may send by timers for cluster %s exactly: %j', async (sender, cluster, expected) => {
  expect(await acceptedCauses(sender, cluster, { to: 'timers' })).toEqual(expected);
});

it('timers keeps the sender of a message over its hops, and accepts it from its own role only', async () => {
  const stamp = senders.gadget.id;
  expect(await acceptedCauses('timers', 'alpha', { to: 'timers', stamp })).toEqual(['requeue', 'retry', 'resync']);
  expect(await acceptedCauses('timers', 'alpha', { to: 'timers', stamp: senders.watcherOfBeta.id })).toEqual([]);
  expect(await acceptedCauses('watcherOfBeta', 'alpha', { to: 'timers', stamp })).toEqual([]);
});

it.each<[SenderName, CauseType]>([
  ['watcherOfAlpha', 'retry'],
  ['widget', 'retry'],
  ['resync', 'retry'],
  ['wake', 'requeue'],
  ['gadget', 'resync'],
])('a message of %s with the cause %s is not forwarded by timers, and is its dead letter', async (sender, type) => {
  const message = aMessage({ cluster: 'alpha', ...causes[type] });
  const { accepted, refused, timersLetters } = await send(sender, message, { to: 'timers' });
  expect([accepted, refused]).toEqual([[], []]);
  expect(timersLetters.map(({ body }) => body)).toEqual([formatMessage(message)]);
});

it('a resync of a stranger, also after its hops, takes no deduplication id of the genuine one', async () => {
  let ms = nowMs;
  const queues = createQueueDouble(() => ms);
  const timers = timersOn(queues, () => ms);
  const entry = { body: formatMessage(aMessage({ cluster: 'beta', ...asResync({ dueAt: dueAt + 30 }) })) };
  await queues.as(senders.watcherOfAlpha)('timers', [entry], { signal });
  await timers.run();
  ms += 30_000;
  await timers.run();
  await queues.as(senders.resync)('timers', [entry], { signal });
  await timers.run();
  expect(queues.take('gadget.fifo').map(({ stampedSender }) => stampedSender)).toEqual([
    senders.watcherOfAlpha.id,
    senders.resync.id,
  ]);
});

it('a resync of a stranger that is due after the longest pass is a dead letter', async () => {
  const late = aMessage({ cluster: 'alpha', ...asResync({ dueAt: dueAt + 172_800 + 3_601 }) });
  expect((await send('watcherOfAlpha', late, { to: 'timers' })).timersLetters).toHaveLength(1);
});

/** A resync whose function knows its own role, with the clusters that it looked for. */
function resyncOn(queues: QueueDouble, mayCopy: () => boolean) {
  const listed: string[] = [];
  const { run, counts } = resyncWith({
    registry,
    findCluster: async (cluster) => {
      listed.push(cluster);
      return { type: 'unknown' };
    },
    senders: { self: senders.resync.id, mayCopy },
    send: queues.as(senders.resync),
    sqsNow: () => nowMs,
  });
  return { run: async () => await run(queues.take('resync')), listed, counts };
}

it.each<[SenderName, boolean]>([
  ['resync', true],
  ['timers', false],
  ['watcherOfAlpha', false],
  ['operator', false],
  // Control T47.
])('a message of %s is processed: %s', async (sender, expected) => {
  const queues = createQueueDouble(() => nowMs);
  const controller = registry[0]?.name ?? '';
  const run = new Date(nowMs).toISOString();
  const body = formatResyncMessage({ v: 1, type: 'resync', run, cluster: 'alpha', controller });
  await queues.as(senders[sender])('resync', [{ body }], { signal });
  const resync = resyncOn(queues, () => true);
  expect(await resync.run()).toEqual([]);
  expect(resync.listed).toEqual(expected ? ['alpha'] : []);
  expect(queues.take('resync-dlq')).toHaveLength(expected ? 0 : 1);
  expect(resync.counts.get('SendersRefused') ?? 0).toBe(expected ? 0 : 1);
});

const check = (monotonicMs = () => 0) =>
  checkWith({ watchersOf: async () => [senders.watcherOfAlpha.id], monotonicMs });
const from = (name: string, senderId: string) => ({ ...record(name), senderId });

// Control T53.
it('a refused message is a dead letter of its own, and the genuine message of the same key is reconciled', async () => {
  const { run, deadLetters, counts, lines } = setUp(done, { senders: check() });
  const forged = { ...from('north', 'AROABETA:x'), messageId: 'forged', receiptHandle: 'forged' };
  expect(await run([forged, from('north', 'AROAALPHA:x')])).toEqual([]);
  const error =
    `sender AROABETA may not send change for cluster ${messageFor('north').cluster}, whose entry names AROAALPHA; ` +
    'if its role was made again, run outrigger clusters set-watcher a --watcher-role ARN';
  expect(deadLetters()).toMatchObject([
    { body: forged.body, attributes: { reason: 'sender', messageId: 'forged', error } },
  ]);
  expect([counts.get('SendersRefused'), counts.get('ReconcilesDone')]).toEqual([1, 1]);
  expect(lines.find(({ message }) => message === 'message refused')?.fields).toMatchObject({ cluster: 'a' });
});

it.each([
  ['a malformed message', messageFor('south')],
  ['a message over the limit', { ...messageFor('south'), more: 'x'.repeat(4_096) }],
])('a batch does not wait for the entry of the cluster that %s names', async (_, body) => {
  const { run, queues, counts } = setUp(done, {
    senders: checkWith({
      watchersOf: async (cluster) => (cluster === 'a' ? [senders.watcherOfAlpha.id] : await new Promise(() => {})),
    }),
  });
  const malformed = { ...from('south', 'AROABETA:x'), body: JSON.stringify({ ...body, cluster: 'other' }) };
  expect(await run([malformed, from('north', 'AROAALPHA:x')])).toEqual([]);
  expect(queues.get('water-tank-dlq.fifo')).toMatchObject([{ body: malformed.body }]);
  expect([counts.get('SendersRefused'), counts.get('ReconcilesDone')]).toEqual([undefined, 1]);
});

it('a message of a watcher that its entry names since the table was read is reconciled', async () => {
  let named: readonly string[] = [senders.watcherOfAlpha.id];
  const { run, queues, counts } = setUp(done, {
    senders: checkWith({
      watchersOf: async () => named,
      forget: () => {
        named = [senders.watcherOfBeta.id];
      },
    }),
  });
  expect(await run([from('north', 'AROABETA:x')])).toEqual([]);
  expect([counts.get('ReconcilesDone'), queues.size]).toEqual([1, 0]);
});

it('above ten refused messages a minute in one environment, they are counted and not copied', async () => {
  let ms = 0;
  const { run, queues, counts } = setUp(done, { senders: check(() => ms) });
  const flood = Array.from({ length: 25 }, (_, index) => from(`tank-${index}`, 'AROABETA:x'));
  expect(await run(flood)).toEqual([]);
  expect(queues.get('water-tank-dlq.fifo')).toHaveLength(10);
  expect(counts.get('SendersRefused')).toBe(25);
  ms = 60_000;
  expect(await run(flood.slice(0, 1))).toEqual([]);
  expect(queues.get('water-tank-dlq.fifo')).toHaveLength(11);
});

// Control T55.
it('timers copies refused messages up to its limit, counts all of them, and forwards the genuine one of the same key', async () => {
  const queues = createQueueDouble(() => nowMs);
  const entry = { body: formatMessage(aMessage({ cluster: 'alpha', ...causes.retry })) };
  await queues.as(senders.watcherOfAlpha)('timers', [entry, entry, entry, entry, entry], { signal });
  await queues.as(senders.gadget)('timers', [entry], { signal });
  const { run, counts } = timersOn(queues, () => nowMs, { mayCopy: createCopyLimit(() => 0, { concurrency: 50 }) });
  expect(await run()).toEqual([]);
  expect(queues.take('gadget.fifo')).toHaveLength(1);
  expect(queues.take('timers-dlq')).toHaveLength(2);
  expect([counts.get('SendersRefused'), counts.get('DeadLetters')]).toEqual([5, 2]);
});

// Control T56.
it('the resync copies refused messages up to its limit, and counts all of them', async () => {
  const queues = createQueueDouble(() => nowMs);
  await queues.as(senders.operator)('resync', [{ body: '1' }, { body: '2' }, { body: '3' }], { signal });
  const mayCopy = createCopyLimit(() => 0, { concurrency: 50 });
  const { run, counts } = resyncOn(queues, mayCopy);
  expect(await run()).toEqual([]);
  expect(queues.take('resync-dlq')).toHaveLength(2);
  expect(counts.get('SendersRefused')).toBe(3);
});

it.each([
  2, 10, 100,
  1_000,
  // Control T54.
])('all of %i environments together copy at most a hundred refused messages a minute, and at least one in ten minutes', (concurrency) => {
  let ms = 0;
  const limits = Array.from({ length: concurrency }, () => createCopyLimit(() => ms, { concurrency }));
  const minutes = 20;
  let copies = 0;
  for (let minute = 0; minute < minutes; minute += 1) {
    ms = minute * 60_000;
    for (const mayCopy of limits) for (let count = 0; count < 200; count += 1) copies += mayCopy() ? 1 : 0;
  }
  expect(copies / minutes).toBeLessThanOrEqual(100);
  expect(copies).toBeGreaterThanOrEqual(2 * concurrency);
});
