// Keys on their way to queues that answer as a test says: batches, ids, what waits, what an outage costs, and the end. When a
// single key may be taken is dirty-set.test.ts; a real queue is behind the process in test/watcher.
import { expect, it } from 'vitest';
import { watchId } from '../../src/queue/deduplication.ts';
import { groupIdOf } from '../../src/queue/group-id.ts';
import { parseMessage } from '../../src/queue/message.ts';
import { forwarderAround, source, target } from '../forwarding/forwarder-harness.ts';

it('an idle forwarder sends at once, with group and deduplication id of the change', async () => {
  const { mark, call } = forwarderAround();
  mark('a', 7);
  const { queue, entries } = await call();
  expect(queue).toBe('dish.fifo');
  const [entry] = entries;
  expect(entry).toMatchObject({
    groupId: groupIdOf(target('a')),
    deduplicationId: watchId(target('a'), [source(7)]),
  });
  expect(parseMessage(entry?.body ?? '')).toEqual({
    ...{ v: 1, ...target('a'), lane: 'watch', uid: 'u', resourceVersion: '7' },
    ...{ attempt: 0, deferrals: 0, seenAt: 1_000_000 },
  });
});

it('what is marked together is sent together, and while one call is under way the next one fills', async () => {
  const { mark, call, calls, settle } = forwarderAround();
  mark('a', 1);
  mark('b', 2);
  const first = await call();
  expect(first.names).toEqual(['a', 'b']);
  for (let number = 0; number < 25; number += 1) mark(`c${number}`, number);
  await settle();
  expect(calls).toEqual([]);
  first.answer('accepted');
  expect((await call()).names).toHaveLength(25);
});

it('a busy forwarder sends full batches at once, and what is less within 20 ms', async () => {
  const { mark, call, calls, pass } = forwarderAround();
  const markSome = (from: number, count: number) => {
    for (let number = from; number < from + count; number += 1) mark(`a${number}`, number);
  };
  markSome(0, 5);
  (await call()).answer('accepted');
  await pass(5);
  markSome(5, 9);
  await pass(5);
  expect(calls).toEqual([]);
  markSome(14, 1);
  const full = await call();
  expect(full.names).toHaveLength(10);
  markSome(15, 13);
  full.answer('accepted');
  const next = await call();
  expect(next.names).toHaveLength(10);
  next.answer('accepted');
  await pass(19);
  expect(calls).toEqual([]);
  await pass(1);
  expect((await call()).names).toHaveLength(3);
});

it('single keys wait for nobody, however fast they follow each other', async () => {
  const { mark, call } = forwarderAround();
  for (let number = 0; number < 20; number += 1) {
    mark(`a${number}`, number);
    const { names, answer } = await call();
    expect(names).toHaveLength(1);
    answer('accepted');
  }
});

it('what lingers for a full batch is drained without waiting', async () => {
  const { mark, call, calls, settle, forwarder } = forwarderAround();
  for (let number = 0; number < 5; number += 1) mark(`a${number}`, number);
  (await call()).answer('accepted');
  await settle();
  mark('b', 1);
  await settle();
  expect(calls).toEqual([]);
  const drained = forwarder.drain({ signal: new AbortController().signal });
  (await call()).answer('accepted');
  expect(await drained).toBe(0);
});

it('a key that is being sent is not sent beside itself, and goes again a second later', async () => {
  const { mark, call, calls, pass, counts } = forwarderAround();
  mark('a', 1);
  const first = await call();
  mark('a', 2);
  mark('a', 3);
  await pass(10);
  expect(calls).toEqual([]);
  first.answer('accepted');
  await pass(999);
  expect(calls).toEqual([]);
  await pass(1);
  const { entries } = await call();
  expect(entries.map(({ deduplicationId }) => deduplicationId)).toEqual([watchId(target('a'), [source(3)])]);
  expect(counts).toMatchObject({ accepted: ['dish watch 10'], coalesced: 1 });
});

it('a thousand changes of one key during an outage are one message', async () => {
  const { mark, call, calls, pass, forwarder, witness, counts } = forwarderAround();
  mark('a', 0);
  (await call()).answer('refused');
  await pass(0);
  for (let version = 1; version <= 1000; version += 1) mark('a', version);
  for (let failure = 0; failure < 5; failure += 1) {
    await pass(5_000);
    (await call()).answer('refused');
    await pass(0);
  }
  expect(forwarder.waiting()).toBe(1);
  expect(counts.refused).toBe(6);
  await pass(5_000);
  const last = await call();
  expect(last.entries).toHaveLength(1);
  expect(parseMessage(last.entries[0]?.body ?? '')).toMatchObject({ resourceVersion: '1000', seenAt: 1_000_000 });
  last.answer('accepted');
  await pass(60_000);
  expect([forwarder.waiting(), calls]).toEqual([0, []]);
  // At the first, second and fourth failure: an outage is no reason to fill a disk.
  expect(witness.lines.filter(({ level }) => level === 'warn')).toHaveLength(3);
});

it('a queue that refuses everything is asked again after 0.25 s, then less often, but at least every 5 s', async () => {
  const { mark, call, calls, pass } = forwarderAround();
  mark('a', 1);
  for (const ms of [250, 500, 1000, 2000, 4000, 5000, 5000]) {
    (await call()).answer('refused');
    await pass(ms - 1);
    expect(calls).toEqual([]);
    await pass(1);
  }
  await call();
});

it('a queue that refuses everything is asked with one batch, and no mark hastens it', async () => {
  const { mark, call, calls, pass, settle } = forwarderAround();
  for (let number = 0; number < 30; number += 1) mark(`a${number}`, number);
  (await call()).answer('refused');
  await settle();
  mark('b', 1);
  await pass(249);
  expect(calls).toEqual([]);
  await pass(1);
  const probe = await call();
  expect(probe.names).toHaveLength(10);
  probe.answer('accepted');
  await settle();
  expect((await call()).names).toHaveLength(21);
});

it('a key that is refused alone waits for itself and holds up no other', async () => {
  const { mark, call, pass, forwarder } = forwarderAround();
  mark('bad', 1);
  mark('good', 2);
  (await call()).answer([false, true]);
  await pass(0);
  mark('next', 3);
  const second = await call();
  expect(second.names).toEqual(['next']);
  second.answer('accepted');
  await pass(250);
  expect((await call()).names).toEqual(['bad']);
  expect(forwarder.waiting()).toBe(1);
});

it('a queue that refuses everything holds up no other', async () => {
  const { mark, call, pass } = forwarderAround();
  mark('a', 1);
  (await call()).answer('refused');
  await pass(0);
  mark('b', 2, 'menu');
  expect(await call()).toMatchObject({ queue: 'menu.fifo', names: ['b'] });
});

it('bulk goes through timers, so many a second for each controller, and changes do not wait behind it', async () => {
  const { forwarder, mark, call } = forwarderAround();
  for (let number = 0; number < 5; number += 1) {
    forwarder.markBulk({ target: target(`n${number}`), seenAt: 0, run: 'r' });
  }
  forwarder.markBulk({ target: target('other', 'menu'), seenAt: 0, run: 'r' });
  const bulk = await call();
  mark('a', 1);
  expect((await call()).queue).toBe('dish.fifo');
  expect(bulk.queue).toBe('timers');
  const messages = bulk.entries.map(({ body }) => parseMessage(body));
  expect(messages[0]).toMatchObject({ lane: 'resync', run: 'r', attempt: 0, deferrals: 0, seenAt: 1_000_000 });
  expect(messages.map(({ controller, dueAt = 0 }) => `${controller} +${dueAt - 1000}`)).toEqual([
    ...['dish +0', 'dish +0', 'dish +1', 'dish +1', 'dish +2'],
    'menu +0',
  ]);
  expect(bulk.entries.map(({ delaySeconds }) => delaySeconds)).toEqual([0, 0, 1, 1, 2, 0]);
  expect(bulk.entries[0]).not.toHaveProperty('deduplicationId');
});

it('a key that can never be a message is said and dropped, and holds up nothing', async () => {
  const { mark, call, forwarder, witness } = forwarderAround();
  mark('a'.repeat(300), 1);
  mark('b', 2);
  const { names, answer } = await call();
  expect(names).toEqual(['b']);
  answer('accepted');
  expect(witness.lines).toMatchObject([{ level: 'error', message: 'key cannot be sent' }]);
  expect(forwarder.waiting()).toBe(1);
});

it('draining sends what waits without waiting, and resolves when everything is accepted', async () => {
  const { mark, call, pass, forwarder } = forwarderAround();
  mark('a', 1);
  (await call()).answer('accepted');
  await pass(0);
  mark('a', 2);
  const drained = forwarder.drain({ signal: new AbortController().signal });
  const last = await call();
  expect(last.names).toEqual(['a']);
  last.answer('accepted');
  expect(await drained).toBe(0);
});

it('draining gives up when its time is over, and says how many keys are left', async () => {
  const { mark, call, forwarder } = forwarderAround();
  mark('a', 1);
  mark('b', 2);
  await call();
  const time = new AbortController();
  const drained = forwarder.drain({ signal: time.signal });
  time.abort();
  expect(await drained).toBe(2);
});

it('with nothing to send, draining is over at once', async () => {
  const { forwarder } = forwarderAround();
  expect(await forwarder.drain({ signal: new AbortController().signal })).toBe(0);
});
