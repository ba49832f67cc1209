// The forwarder on a fake queue: batches, deduplication ids, waiting, outages and draining. When a single key may be
// taken is work-queue.test.ts; the watcher process with a real queue is in test/watcher.
import { expect, it } from 'vitest';
import { changeEntry } from '../../src/forwarding/forwarder.ts';
import { groupIdOf, watchId } from '../../src/sqs/deduplication.ts';
import { dueAtOf, parseMessage } from '../../src/sqs/message.ts';
import { forwarderFixture, source, target } from './forwarder-harness.ts';

it('an idle forwarder sends a change at once, with its message group and deduplication id', async () => {
  const { add, nextCall } = forwarderFixture();
  add('a', 7);
  const { queue, entries } = await nextCall();
  expect(queue).toBe('dish.fifo');
  const [entry] = entries;
  expect(entry).toMatchObject({ groupId: groupIdOf(target('a')), deduplicationId: watchId(target('a'), [source(7)]) });
  expect(parseMessage(entry?.body ?? '')).toEqual({
    ...target('a'),
    cause: { type: 'change', uid: 'u', resourceVersion: '7', observedAt: 1_000_000 },
  });
});

it('B19: a change names the cluster that it was seen in, and its body is read again as it was written', () => {
  const thing = { controller: 'c', cluster: 'a', group: 'g.example.com', resource: 'things', name: 'one' };
  const entry = changeEntry({ target: thing, sources: [], observedAt: 1, clusterUid: 'uid-of-a' });
  expect(parseMessage(entry.body)).toMatchObject({ ...thing, clusterUid: 'uid-of-a' });
  expect(parseMessage(changeEntry({ target: thing, sources: [], observedAt: 1 }).body)).not.toHaveProperty(
    'clusterUid',
  );
});

it('keys that are added together are sent in one call, and keys added during a call in the next one', async () => {
  const { add, nextCall, calls, runMicrotasks } = forwarderFixture();
  add('a', 1);
  add('b', 2);
  const first = await nextCall();
  expect(first.names).toEqual(['a', 'b']);
  for (let number = 0; number < 25; number += 1) add(`c${number}`, number);
  await runMicrotasks();
  expect(calls).toEqual([]);
  first.respond('accepted');
  expect((await nextCall()).names).toHaveLength(25);
});

it('a busy forwarder sends full batches at once, and a partial batch within 20 ms', async () => {
  const { add, nextCall, respond, calls, advance } = forwarderFixture();
  const addSome = (from: number, count: number) => {
    for (let number = from; number < from + count; number += 1) add(`a${number}`, number);
  };
  addSome(0, 5);
  await respond('accepted');
  await advance(5);
  addSome(5, 9);
  await advance(5);
  expect(calls).toEqual([]);
  addSome(14, 1);
  const full = await nextCall();
  expect(full.names).toHaveLength(10);
  addSome(15, 13);
  full.respond('accepted');
  const next = await nextCall();
  expect(next.names).toHaveLength(10);
  next.respond('accepted');
  await advance(19);
  expect(calls).toEqual([]);
  await advance(1);
  expect((await nextCall()).names).toHaveLength(3);
});

it('a single key is sent without waiting for a batch, however fast keys follow each other', async () => {
  const { add, nextCall } = forwarderFixture();
  for (let number = 0; number < 20; number += 1) {
    add(`a${number}`, number);
    const { names, respond } = await nextCall();
    expect(names).toHaveLength(1);
    respond('accepted');
  }
});

it('Forwarder.drain sends a partial batch without waiting for it to be filled', async () => {
  const { add, respond, calls, runMicrotasks, forwarder } = forwarderFixture();
  for (let number = 0; number < 5; number += 1) add(`a${number}`, number);
  await respond('accepted');
  add('b', 1);
  await runMicrotasks();
  expect(calls).toEqual([]);
  const drained = forwarder.drain({ signal: new AbortController().signal });
  await respond('accepted');
  expect(await drained).toBe(0);
});

it('Forwarder.drain tries a queue that rejects everything each half second: its process is about to end', async () => {
  const { add, respond, advance, forwarder } = forwarderFixture();
  add('a', 1);
  const drained = forwarder.drain({ signal: new AbortController().signal });
  for (let tries = 0; tries < 5; tries += 1) {
    await respond('rejected');
    await advance(500);
  }
  await respond('accepted');
  expect(await drained).toBe(0);
});

it('a key in flight is not sent a second time, and its next change is sent a second later', async () => {
  const { add, nextCall, calls, advance, counts } = forwarderFixture();
  add('a', 1);
  const first = await nextCall();
  add('a', 2);
  add('a', 3);
  await advance(10);
  expect(calls).toEqual([]);
  first.respond('accepted');
  await advance(999);
  expect(calls).toEqual([]);
  await advance(1);
  const { entries } = await nextCall();
  expect(entries.map(({ deduplicationId }) => deduplicationId)).toEqual([watchId(target('a'), [source(3)])]);
  expect(counts).toMatchObject({ accepted: ['dish change 10'], coalesced: 1 });
});

it('a thousand changes of one key during an outage of SQS are one message', async () => {
  const { add, nextCall, respond, calls, advance, forwarder, recorder, counts } = forwarderFixture();
  add('a', 0);
  await respond('rejected');
  for (let version = 1; version <= 1000; version += 1) add('a', version);
  for (let failure = 0; failure < 5; failure += 1) {
    await advance(5_000);
    await respond('rejected');
  }
  expect(forwarder.queueDepth()).toBe(1);
  expect(counts.rejected).toBe(6);
  await advance(5_000);
  const last = await nextCall();
  expect(last.entries).toHaveLength(1);
  expect(parseMessage(last.entries[0]?.body ?? '')).toMatchObject({
    cause: { resourceVersion: '1000', observedAt: 1_000_000 },
  });
  last.respond('accepted');
  await advance(60_000);
  expect([forwarder.queueDepth(), calls]).toEqual([0, []]);
  // Logged at the first, second and fourth failure, so that an outage does not fill a disk.
  expect(recorder.lines.filter(({ level }) => level === 'warn')).toHaveLength(3);
});

it('a queue that rejects everything is retried after 0.25 s, then less often, but at least every 5 s', async () => {
  const { add, nextCall, respond, calls, advance } = forwarderFixture();
  add('a', 1);
  for (const ms of [250, 500, 1000, 2000, 4000, 5000, 5000]) {
    await respond('rejected');
    await advance(ms - 1);
    expect(calls).toEqual([]);
    await advance(1);
  }
  await nextCall();
});

it('a queue that rejects everything is retried with one batch, and a new key does not shorten the wait', async () => {
  const { add, nextCall, respond, calls, advance, runMicrotasks } = forwarderFixture();
  for (let number = 0; number < 30; number += 1) add(`a${number}`, number);
  await respond('rejected');
  add('b', 1);
  await advance(249);
  expect(calls).toEqual([]);
  await advance(1);
  const probe = await nextCall();
  expect(probe.names).toHaveLength(10);
  probe.respond('accepted');
  await runMicrotasks();
  expect((await nextCall()).names).toHaveLength(21);
});

it('a key that is rejected alone is retried by itself and does not delay other keys', async () => {
  const { add, nextCall, respond, advance, forwarder } = forwarderFixture();
  add('bad', 1);
  add('good', 2);
  await respond([false, true]);
  add('next', 3);
  const second = await nextCall();
  expect(second.names).toEqual(['next']);
  second.respond('accepted');
  await advance(250);
  expect((await nextCall()).names).toEqual(['bad']);
  expect(forwarder.queueDepth()).toBe(1);
});

it('Forwarder.refusedSince is the first time from which one of the queues accepted nothing, until it accepts a key', async () => {
  const { add, advance, respond, forwarder } = forwarderFixture();
  add('a', 1);
  await respond('rejected');
  const first = forwarder.refusedSince();
  expect(first).toBe(1_000_000);
  add('b', 2, 'menu');
  await respond('accepted');
  await advance(60_000);
  await respond('rejected');
  expect(forwarder.refusedSince()).toBe(first);
  await advance(60_000);
  await respond('accepted');
  expect(forwarder.refusedSince()).toBeUndefined();
});

it('Forwarder.refusedSince of two queues that refuse is the earlier time, until that queue accepts a key', async () => {
  const { add, advance, respond, forwarder } = forwarderFixture();
  add('a', 1);
  await respond('rejected');
  await advance(100);
  add('b', 2, 'menu');
  await respond('rejected');
  expect(forwarder.refusedSince()).toBe(1_000_000);
  await advance(150);
  await respond('accepted');
  expect(forwarder.refusedSince()).toBe(1_000_100);
});

it('Forwarder.refusedSince is undefined while a queue does not exist: an upgrade adds the watcher first', async () => {
  const { add, advance, respond, forwarder } = forwarderFixture();
  add('a', 1);
  await respond('missing queue');
  expect(forwarder.refusedSince()).toBeUndefined();
  await advance(60_000);
  await respond('rejected');
  expect(forwarder.refusedSince()).toBe(1_060_000);
});

it('low-priority keys go through the timers queue at a rate for each controller, and delay no change', async () => {
  const { add, nextCall, forwarder } = forwarderFixture();
  for (let number = 0; number < 5; number += 1) {
    forwarder.addLowPriority({ target: target(`n${number}`), observedAt: 0, run: 'r' });
  }
  forwarder.addLowPriority({ target: target('other', 'menu'), observedAt: 0, run: 'r' });
  const lowPriority = await nextCall();
  add('a', 1);
  expect((await nextCall()).queue).toBe('dish.fifo');
  expect(lowPriority.queue).toBe('timers');
  const messages = lowPriority.entries.map(({ body }) => parseMessage(body));
  // Without a due time: it would be one of this watcher's clock.
  expect(messages.map(({ cause }) => cause)).toEqual(Array(6).fill({ type: 'resync', run: 'r' }));
  expect(lowPriority.entries.map(({ delaySeconds }) => delaySeconds)).toEqual([0, 0, 1, 1, 2, 0]);
  expect(lowPriority.entries[0]).not.toHaveProperty('deduplicationId');
});

it('a low-priority key that waits longer than the longest delay of SQS is due by the clock of SQS', async () => {
  const aheadMs = 600_000;
  const { nextCall, forwarder } = forwarderFixture({ lowPriorityPerSecond: 0.001, toSqsTime: (at) => at - aheadMs });
  for (const name of ['a', 'b']) forwarder.addLowPriority({ target: target(name), observedAt: 0, run: 'r' });
  const [, last] = (await nextCall()).entries;
  expect(parseMessage(last?.body ?? '').cause).toMatchObject({ dueAt: (1_000_000 - aheadMs) / 1000 + 1_000 });
});

it('the keys of a pass that takes longer than two days are due within them', async () => {
  const { runMicrotasks, calls, forwarder } = forwarderFixture({ lowPriorityPerSecond: 0.001 });
  for (let number = 0; number < 400; number += 1)
    forwarder.addLowPriority({ target: target(`n${number}`), observedAt: 0, run: 'r' });
  for (let call = 0; call < 40; call += 1) {
    await runMicrotasks();
    calls[call]?.respond('accepted');
  }
  const entries = calls.flatMap((call) => call.entries);
  const due = entries.map(({ body }) => dueAtOf(parseMessage(body)) ?? 1_000);
  expect(entries).toHaveLength(400);
  expect(Math.max(...due) - 1_000).toBeLessThanOrEqual(172_800);
  expect(due.filter((seconds) => seconds > 1_000 + 86_400).length).toBeGreaterThan(150);
});

it('a low-priority key that waits exactly as long as SQS can delay it has no due time', async () => {
  const { nextCall, forwarder } = forwarderFixture({ lowPriorityPerSecond: 1 / 900 });
  for (const name of ['a', 'b']) forwarder.addLowPriority({ target: target(name), observedAt: 0, run: 'r' });
  const [, last] = (await nextCall()).entries;
  expect([last?.delaySeconds, parseMessage(last?.body ?? '').cause]).toEqual([900, { type: 'resync', run: 'r' }]);
});

it('low-priority keys that SQS rejects are due within the time that their rate needs', async () => {
  const { advance, nextCall, respond, forwarder } = forwarderFixture();
  for (let number = 0; number < 10; number += 1) {
    forwarder.addLowPriority({ target: target(`n${number}`), observedAt: 0, run: 'r' });
  }
  for (let times = 0; times < 3; times += 1) {
    await respond('rejected');
    await advance(1_000);
  }
  expect(Math.max(...(await nextCall()).entries.map(({ delaySeconds = 0 }) => delaySeconds))).toBeLessThanOrEqual(5);
});

it('a key that cannot be formatted as a message is logged and dropped, and does not delay other keys', async () => {
  const { add, nextCall, forwarder, recorder } = forwarderFixture();
  add('a'.repeat(3_000), 1);
  add('b', 2);
  const { names, respond } = await nextCall();
  expect(names).toEqual(['b']);
  respond('accepted');
  expect(recorder.lines).toMatchObject([
    { level: 'error', message: 'key cannot be sent', fields: { key: expect.stringMatching(/^.{100,1024}$/) } },
  ]);
  expect(forwarder.queueDepth()).toBe(1);
});
