// Keys on their way to queues that answer as a test says: batches, ids, what waits, what an outage costs, and the end. When a
// single key may be taken is dirty-set.test.ts; a real queue is behind the process in test/watcher.
import { expect, it, onTestFinished } from 'vitest';
import type { TargetKey } from '../../src/core/key.ts';
import type { Wait } from '../../src/kube/wait.ts';
import { watchId } from '../../src/queue/deduplication.ts';
import { groupIdOf } from '../../src/queue/group-id.ts';
import { parseMessage } from '../../src/queue/message.ts';
import type { Entry, Sent } from '../../src/queue/sender.ts';
import { createForwarder } from '../../src/runtime/forwarder.ts';
import { createWitness } from './witness.ts';

type Call = {
  readonly queue: string;
  readonly entries: readonly Entry[];
  readonly names: readonly string[];
  answer(sent: 'accepted' | 'refused' | readonly boolean[]): void;
};

const target = (name: string, controller = 'dish'): TargetKey => ({
  ...{ controller, cluster: 'c', group: 'g', resource: 'dishes', namespace: 'shop', name },
});
const source = (version: number) => ({ uid: 'u', resourceVersion: String(version) });

function create() {
  const calls: Call[] = [];
  const witness = createWitness();
  const over = new AbortController();
  onTestFinished(() => over.abort());
  let now = 1_000_000;
  let pending: { readonly at: number; readonly end: () => void }[] = [];
  const wait: Wait = (seconds, signal) =>
    new Promise((resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
      if (signal.aborted) reject(signal.reason);
      pending.push({ at: now + seconds * 1000, end: resolve });
    });
  const counts = { accepted: [] as string[], coalesced: 0, refused: 0 };
  const forwarder = createForwarder({
    send: (queue, entries) =>
      new Promise((resolve) => {
        const answer = (sent: 'accepted' | 'refused' | readonly boolean[]) =>
          resolve(
            entries.map((_, index): Sent => {
              const ok = typeof sent === 'string' ? sent === 'accepted' : sent[index] === true;
              return ok ? { accepted: true, messageId: 'm' } : { accepted: false, reason: `${queue}: no` };
            }),
          );
        calls.push({ queue, entries, names: entries.map(({ body }) => parseMessage(body).name), answer });
      }),
    log: witness.log,
    meter: {
      accepted: (controller, lane, lagMs) => counts.accepted.push(`${controller} ${lane} ${lagMs}`),
      coalesced: () => {
        counts.coalesced += 1;
      },
      refused: (_, keys) => {
        counts.refused += keys;
      },
    },
    now: () => now,
    wait,
    random: () => 0,
    bulkPerSecond: 2,
    signal: over.signal,
  });
  /** Lets everything run that needs no time. */
  const settle = async () => {
    for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
  };
  return {
    ...{ forwarder, calls, counts, witness, settle },
    mark: (name: string, version: number, controller?: string) =>
      forwarder.mark({ target: target(name, controller), source: source(version), seenAt: now }),
    pass: async (ms: number) => {
      await settle();
      now += ms;
      const due = pending.filter(({ at }) => at <= now);
      pending = pending.filter(({ at }) => at > now);
      for (const { end } of due) end();
      await settle();
    },
    /** The next call that nobody has looked at. */
    call: async (): Promise<Call> => {
      await settle();
      const next = calls.shift();
      if (next === undefined) throw new Error('nothing was sent');
      return next;
    },
  };
}

it('an idle forwarder sends at once, with group and deduplication id of the change', async () => {
  const { mark, call } = create();
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
  const { mark, call, calls, settle } = create();
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

it('a key that is being sent is not sent beside itself, and goes again a second later', async () => {
  const { mark, call, calls, pass, counts } = create();
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
  const { mark, call, calls, pass, forwarder, witness, counts } = create();
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
  const { mark, call, calls, pass } = create();
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
  const { mark, call, calls, pass, settle } = create();
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
  const { mark, call, pass, forwarder } = create();
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
  const { mark, call, pass } = create();
  mark('a', 1);
  (await call()).answer('refused');
  await pass(0);
  mark('b', 2, 'menu');
  expect(await call()).toMatchObject({ queue: 'menu.fifo', names: ['b'] });
});

it('bulk goes through timers, so many a second for each controller, and changes do not wait behind it', async () => {
  const { forwarder, mark, call } = create();
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
  const { mark, call, forwarder, witness } = create();
  mark('a'.repeat(300), 1);
  mark('b', 2);
  const { names, answer } = await call();
  expect(names).toEqual(['b']);
  answer('accepted');
  expect(witness.lines).toMatchObject([{ level: 'error', message: 'key cannot be sent' }]);
  expect(forwarder.waiting()).toBe(1);
});

it('draining sends what waits without waiting, and resolves when everything is accepted', async () => {
  const { mark, call, pass, forwarder } = create();
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
  const { mark, call, forwarder } = create();
  mark('a', 1);
  mark('b', 2);
  await call();
  const time = new AbortController();
  const drained = forwarder.drain({ signal: time.signal });
  time.abort();
  expect(await drained).toBe(2);
});

it('with nothing to send, draining is over at once', async () => {
  const { forwarder } = create();
  expect(await forwarder.drain({ signal: new AbortController().signal })).toBe(0);
});
