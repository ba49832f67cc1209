// What the pace of a controller holds back and what it does not: floods, other namespaces, other controllers, bulk, replicas, and
// the end. How many tokens there are when is token-bucket.test.ts; that a cluster harms no other is test/fleet.
import { expect, it } from 'vitest';
import { parseMessage } from '../../src/queue/message.ts';
import { forwarderAround } from '../forwarding/forwarder-harness.ts';

type Around = ReturnType<typeof forwarderAround>;

const pace = { perSecond: 20, burst: 40 };

/** Lets time pass in small steps while the queue accepts everything; tells what was sent, and when. */
async function accepting({ calls, pass }: Around, ms: number, stepMs = 5) {
  const sent: { readonly atMs: number; readonly names: readonly string[]; readonly ids: readonly string[] }[] = [];
  for (let atMs = 0; ; atMs += stepMs) {
    await pass(0);
    for (let call = calls.shift(); call !== undefined; call = calls.shift()) {
      const ids = call.entries.map(({ deduplicationId = '' }) => deduplicationId);
      sent.push({ atMs, names: call.names, ids });
      call.answer('accepted');
      await pass(0);
    }
    if (atMs >= ms) return sent;
    await pass(stepMs);
  }
}
const countOf = (sent: readonly { readonly names: readonly string[] }[]) =>
  sent.reduce((sum, { names }) => sum + names.length, 0);

it('a burst goes at once, the rest at the rate and ten at a time, and nothing is left', async () => {
  const around = forwarderAround({ pace });
  for (let number = 0; number < 100; number += 1) around.mark(`a${number}`, number);
  const sent = await accepting(around, 4000);
  expect(sent.map(({ atMs, names }) => [atMs, names.length])).toEqual([
    [0, 40],
    ...[500, 1000, 1500, 2000, 2500, 3000].map((atMs) => [atMs, 10]),
  ]);
  expect(new Set(sent.flatMap(({ names }) => names)).size).toBe(100);
  expect([around.forwarder.waiting(), around.counts.paced]).toEqual([0, 60]);
});

it('what is left of a burst goes at once, however much more waits', async () => {
  const around = forwarderAround({ pace: { perSecond: 1, burst: 5 } });
  around.mark('first', 1);
  await accepting(around, 0);
  for (let number = 0; number < 20; number += 1) around.mark(`a${number}`, number);
  expect((await accepting(around, 5000)).map(({ atMs, names }) => [atMs, names.length])).toEqual([
    [0, 4],
    [5000, 5],
  ]);
});

it('less than the rate never waits', async () => {
  const around = forwarderAround({ pace });
  for (let number = 0; number < 100; number += 1) {
    around.mark(`a${number}`, number);
    expect(countOf(await accepting(around, 50))).toBe(1);
  }
  expect(around.counts.paced).toBe(0);
});

it('the last few of a flood do not wait for a batch to be full', async () => {
  const around = forwarderAround({ pace });
  for (let number = 0; number < 43; number += 1) around.mark(`a${number}`, number);
  expect((await accepting(around, 1000)).map(({ atMs, names }) => [atMs, names.length])).toEqual([
    [0, 40],
    [150, 3],
  ]);
});

it('an object that changes a hundred times while it waits is one message, of its newest version', async () => {
  const around = forwarderAround({ pace: { perSecond: 1, burst: 1 } });
  around.mark('first', 1);
  await accepting(around, 0);
  for (let version = 1; version <= 100; version += 1) around.mark('hot', version);
  await around.pass(1000);
  const { entries, answer } = await around.call();
  expect(entries.map(({ body }) => parseMessage(body).resourceVersion)).toEqual(['100']);
  answer('accepted');
  await around.pass(60_000);
  expect([around.calls, around.forwarder.waiting()]).toEqual([[], 0]);
});

it('a fresh change of another namespace goes with the next batch, however much of a flooding one waits', async () => {
  const around = forwarderAround({ pace });
  for (let number = 0; number < 500; number += 1) around.mark(`a${number}`, number);
  await accepting(around, 0);
  around.mark('fresh', 1, 'dish', 'quiet');
  const [next] = await accepting(around, 500);
  expect(next?.names).toHaveLength(10);
  expect(next?.names).toContain('fresh');
});

it('another controller does not wait for a flooded one, and bulk not at all', async () => {
  const around = forwarderAround({ pace });
  for (let number = 0; number < 100; number += 1) around.mark(`a${number}`, number);
  await accepting(around, 0);
  around.mark('b', 1, 'menu');
  expect(await around.call()).toMatchObject({ queue: 'menu.fifo', names: ['b'] });
  for (let number = 0; number < 100; number += 1) {
    const target = { controller: 'dish', cluster: 'c', group: 'g', resource: 'dishes', name: `n${number}` };
    around.forwarder.markBulk({ target, seenAt: 0, run: 'r' });
  }
  const bulk = await around.call();
  expect([bulk.queue, bulk.entries.length]).toEqual(['timers', 40]);
});

it('what a queue refuses costs no part of the pace', async () => {
  const around = forwarderAround({ pace: { perSecond: 1, burst: 10 } });
  for (let number = 0; number < 10; number += 1) around.mark(`a${number}`, number);
  for (let failure = 0; failure < 5; failure += 1) {
    (await around.call()).answer('refused');
    await around.pass(5000);
  }
  (await around.call()).answer('accepted');
  await around.pass(0);
  expect([around.forwarder.waiting(), around.counts.paced]).toEqual([0, 0]);
});

it('two replicas send one id for each object that changed once, whenever each of them was out of tokens', async () => {
  const [one, other] = [forwarderAround({ pace }), forwarderAround({ pace })];
  // The other has a part of its burst behind it, and so another phase.
  for (let number = 0; number < 33; number += 1) other.mark(`early${number}`, number);
  await accepting(other, 130);
  for (let number = 0; number < 200; number += 1) for (const each of [one, other]) each.mark(`a${number}`, number);
  const [ofOne, ofOther] = [await accepting(one, 20_000), await accepting(other, 20_000)];
  expect(ofOne.length === ofOther.length && ofOne.every(({ atMs }, index) => atMs === ofOther[index]?.atMs)).toBe(
    false,
  );
  const ids = (sent: typeof ofOne) => sent.flatMap((each) => each.ids).sort();
  expect(ids(ofOne)).toHaveLength(200);
  expect(ids(ofOther)).toEqual(ids(ofOne));
});

it('two replicas together send no more of a flood than twice the pace of one', async () => {
  const replicas = [forwarderAround({ pace }), forwarderAround({ pace })] as const;
  const ids = new Set<string>();
  let version = 0;
  const seconds = 10;
  for (let round = 0; round < 10 * seconds; round += 1) {
    for (let change = 0; change < 20; change += 1) {
      version += 1;
      for (const each of replicas) each.mark(`a${version % 30}`, version);
    }
    // One of them hears of it a little later.
    for (const [index, each] of replicas.entries()) {
      for (const sent of await accepting(each, index === 0 ? 100 : 95)) for (const id of sent.ids) ids.add(id);
    }
  }
  expect(version).toBe(2000);
  expect(ids.size).toBeLessThanOrEqual(2 * (pace.burst + pace.perSecond * seconds));
});

it('draining keeps the pace, so that a restart in a flood is no flood, and says what is left', async () => {
  const around = forwarderAround({ pace });
  for (let number = 0; number < 100; number += 1) around.mark(`a${number}`, number);
  expect(countOf(await accepting(around, 0))).toBe(40);
  const time = new AbortController();
  const drained = around.forwarder.drain({ signal: time.signal });
  expect(countOf(await accepting(around, 1000))).toBe(20);
  time.abort();
  expect(await drained).toBe(40);
});
