// The resync from tick to queues: what is polled, what goes out when, what is counted, and what becomes of a message when the
// list breaks off or goes on. Against an SQS server and an API server's wire; which object is what: resync-plan.test.ts.
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Registered } from '../../src/core/controller.ts';
import type { KubeClient } from '../../src/kube/client.ts';
import type { KubeObject } from '../../src/kube/object.ts';
import { createDepth } from '../../src/queue/depth.ts';
import { type Message, parseMessage } from '../../src/queue/message.ts';
import { formatResyncMessage, parseResyncMessage, type ResyncMessage } from '../../src/queue/resync-message.ts';
import { createSend } from '../../src/queue/send.ts';
import type { Send } from '../../src/queue/sender.ts';
import type { ClusterAnswer } from '../../src/runtime/clusters.ts';
import type { QueueRecord } from '../../src/runtime/intake.ts';
import { createResync } from '../../src/runtime/resync.ts';
import { type Answer, sendJson, startWireServer, statusOf } from '../kube/wire-server.ts';
import { startTestQueues, type TestQueues } from '../queue/fauxqs.ts';
import { aGadget, aMissedGadget, gadgetController, listing, polisherController } from './gadgets.ts';
import { createWitness } from './witness.ts';

const run = '2026-11-21T12:00:00Z';
const runSeconds = Date.parse(run) / 1000;
const { signal } = new AbortController();
const many = (count: number, make: (name: string) => KubeObject) =>
  Array.from({ length: count }, (_, number) => make(`g${number}`));

let queues: TestQueues;
let send: Send;
beforeAll(async () => {
  queues = await startTestQueues();
  await queues.create('gadget.fifo', 'timers', 'resync', 'resync-dlq');
  send = createSend(queues.sqs, queues.urlPrefix);
});
afterEach(async () => {
  for (const queue of ['gadget.fifo', 'resync', 'resync-dlq']) await queues.drain(queue);
});
afterAll(async () => await queues.stop());

const unreachable: KubeClient = {
  request: () => Promise.reject(new Error('nobody answers')),
  stream: () => Promise.reject(new Error('nobody answers')),
  webSocket: () => Promise.reject(new Error('nobody answers')),
  close: () => undefined,
};

/** A resync whose timers queue is looked at instead of waited for. */
function aResync({
  clusters = {},
  tickSeconds = 600,
  periodSeconds = 600,
  perSecond = 100,
  nowSeconds = runSeconds + 2,
  leftMs = 60_000,
  refuse = false,
  more = [],
}: {
  readonly clusters?: Readonly<Record<string, ClusterAnswer>>;
  readonly tickSeconds?: number;
  readonly periodSeconds?: number;
  readonly perSecond?: number;
  readonly nowSeconds?: number;
  readonly leftMs?: number;
  readonly refuse?: boolean;
  readonly more?: readonly Registered[];
}) {
  const { log, ...witness } = createWitness();
  const timed: Message[] = [];
  const resync = createResync({
    registry: [gadgetController, ...more],
    listClusters: async () => Object.keys(clusters),
    findCluster: async (name) => clusters[name] ?? { type: 'unknown' },
    send: async (queue, entries, options) => {
      if (refuse) return entries.map(() => ({ accepted: false, reason: 'throttled' }));
      if (queue === 'timers') timed.push(...entries.map(({ body }) => parseMessage(body)));
      return await send(queue, entries, options);
    },
    depth: createDepth(queues.sqs, queues.urlPrefix),
    now: () => nowSeconds * 1000,
    log: () => log,
    meter: witness.meter,
    pace: { tickSeconds, graceSeconds: 240, perSecond },
    periodSeconds,
  });
  return {
    ...witness,
    timed,
    tick: () => resync.tick(run, { signal }),
    run: (...messages: readonly (Partial<ResyncMessage> | string)[]) =>
      resync.run(messages.map(aRecord), { signal, leftMs: () => leftMs }),
  };
}

function aRecord(message: Partial<ResyncMessage> | string, index: number): QueueRecord {
  const whole: ResyncMessage = {
    v: 1,
    kind: 'resync',
    run,
    cluster: 'alpha',
    controller: 'gadget',
    ...Object(message),
  };
  const body = typeof message === 'string' ? message : formatResyncMessage(whole);
  const messageId = `m${index}`;
  return { messageId, body, receiptHandle: messageId, groupId: undefined, receiveCount: 1, firstReceivedAt: 0 };
}

const serving = async (answer: Answer) => {
  const server = await startWireServer(answer);
  return { alpha: { type: 'client', client: server.client() }, server } as const;
};
const names = (messages: readonly Message[]) => messages.map(({ name }) => name);

describe('a tick', () => {
  it('asks for one poll per cluster and controller, under the schedule’s own time', async () => {
    const resync = aResync({ clusters: { alpha: { type: 'leaving' }, beta: { type: 'leaving' } } });
    expect(await resync.tick()).toBe(2);
    const asked = (await queues.drain('resync')).map(({ Body = '' }) => parseResyncMessage(Body));
    expect(asked).toHaveLength(2);
    expect(asked).toEqual(
      expect.arrayContaining(
        ['alpha', 'beta'].map((cluster) => ({ v: 1, kind: 'resync', run, cluster, controller: 'gadget' })),
      ),
    );
  });

  it('fails, so that it is repeated, when a poll could not be asked for', async () => {
    await expect(aResync({ clusters: { alpha: { type: 'leaving' } }, refuse: true }).tick()).rejects.toThrow(
      'throttled',
    );
  });
});

describe('a poll', () => {
  it('of a kind with a second controller sends on to each what that one has missed', async () => {
    const polished = { type: 'Polished', observedGeneration: 1 };
    const byBoth = aGadget('by-both', { status: { observedGeneration: 1, conditions: [polished] } });
    const bySecond = aGadget('by-second', { status: { conditions: [polished] } });
    const { alpha } = await serving(listing([aGadget('by-first'), byBoth, bySecond]));
    const resync = aResync({ clusters: { alpha }, periodSeconds: 36_000_000, more: [polisherController] });
    expect(await resync.run({}, { controller: polisherController.name })).toEqual([]);
    const sent = resync.timed.map(({ controller, name }) => `${controller}: ${name}`);
    expect(sent.sort()).toEqual(['gadget-polisher: by-first', 'gadget: by-second']);
  });

  it('sends on at once what was missed, and counts it', async () => {
    const { alpha } = await serving(listing([aGadget('seen'), aMissedGadget('missed')]));
    const resync = aResync({ clusters: { alpha }, periodSeconds: 36_000_000 });
    expect(await resync.run({})).toEqual([]);
    expect(resync.timed).toEqual([
      {
        v: 1,
        controller: 'gadget',
        cluster: 'alpha',
        group: 'example.com',
        resource: 'gadgets',
        namespace: 'shop',
        name: 'missed',
        lane: 'resync',
        attempt: 0,
        deferrals: 0,
        seenAt: (runSeconds + 2) * 1000,
        dueAt: runSeconds + 2,
        run,
      },
    ]);
    expect(Object.fromEntries(resync.counts)).toMatchObject({ ResyncPages: 1, ResyncObjects: 2, Unobserved: 1 });
  });

  it('visits the rest once in a period, spread over the ticks', async () => {
    const { alpha } = await serving(listing(many(300, aGadget)));
    const visited: string[] = [];
    for (let tick = 0; tick < 6; tick += 1) {
      const nowSeconds = runSeconds + tick * 600;
      const resync = aResync({ clusters: { alpha }, periodSeconds: 3_600, nowSeconds });
      await resync.run({ run: new Date(nowSeconds * 1000).toISOString() });
      for (const { dueAt = 0, seenAt } of resync.timed) {
        expect(dueAt).toBeGreaterThanOrEqual(nowSeconds);
        expect(dueAt).toBeLessThan(nowSeconds + 600);
        expect(seenAt).toBe(dueAt * 1000);
      }
      expect(resync.timed.length).toBeGreaterThan(20);
      visited.push(...names(resync.timed));
    }
    expect(visited).toHaveLength(300);
    expect(new Set(visited).size).toBe(300);
  });

  it('keeps its pace however much was missed, and leaves to the next tick what a tick cannot hold', async () => {
    const { alpha } = await serving(listing(many(1_200, aMissedGadget)));
    const resync = aResync({ clusters: { alpha }, perSecond: 10, tickSeconds: 100, periodSeconds: 36_000_000 });
    expect(await resync.run({})).toEqual([]);
    const perSecond = Map.groupBy(resync.timed, ({ dueAt }) => dueAt);
    for (const inSecond of perSecond.values()) expect(inSecond.length).toBeLessThanOrEqual(10);
    expect(resync.timed).toHaveLength(1_000);
    expect(resync.counts.get('Unobserved')).toBe(1_200);
    expect(resync.counts.get('ResyncPages')).toBe(3);
  });

  it('does not call missed what its controller may just not have come to', async () => {
    const busy = Array.from({ length: 11 }, (_, n) => ({ body: 'x', groupId: `${n}`, deduplicationId: `busy ${n}` }));
    await send('gadget.fifo', busy, { signal });
    const { alpha } = await serving(listing([aMissedGadget('missed')]));
    const resync = aResync({ clusters: { alpha } });
    await resync.run({});
    expect(names(resync.timed)).toEqual(['missed']);
    expect(resync.counts.has('Unobserved')).toBe(false);
  });

  it('makes the same messages when its trigger came twice, which the controller’s queue then takes once', async () => {
    const { alpha } = await serving(listing(many(20, aGadget)));
    const resync = aResync({ clusters: { alpha } });
    await resync.run({}, {});
    const [first, second] = [resync.timed.slice(0, 20), resync.timed.slice(20)].map((half) =>
      half.map(({ name, run }) => `${name} ${run}`).sort(),
    );
    expect(first).toEqual(second);
  });

  it('that breaks off has sent what it saw, and is tried again', async () => {
    const { alpha } = await serving(listing(many(1_200, aMissedGadget), { failAt: 500 }));
    const resync = aResync({ clusters: { alpha } });
    expect(await resync.run({})).toEqual(['m0']);
    expect(resync.timed).toHaveLength(500);
    expect(resync.counts.get('ResyncFailures')).toBe(1);
    expect(resync.counts.get('Unobserved')).toBe(500);
    expect(resync.lines.some(({ message }) => message === 'poll broke off')).toBe(true);
  });

  it('is tried again when the queue refuses what it found', async () => {
    const { alpha } = await serving(listing([aMissedGadget('missed')]));
    expect(await aResync({ clusters: { alpha }, refuse: true }).run({})).toEqual(['m0']);
  });

  it('of a cluster that cannot be reached fails alone', async () => {
    const { alpha } = await serving(listing([aMissedGadget('missed')]));
    const resync = aResync({ clusters: { alpha, dead: { type: 'client', client: unreachable } } });
    expect(await resync.run({ cluster: 'dead' }, { cluster: 'alpha' })).toEqual(['m0']);
    expect(names(resync.timed)).toEqual(['missed']);
    expect(resync.counts.get('ResyncFailures')).toBe(1);
  });

  it('says whether anybody watches its cluster, unless it only goes on with a list', async () => {
    const { alpha } = await serving(listing(many(600, aGadget)));
    const [first, next] = [aResync({ clusters: { alpha } }), aResync({ clusters: { alpha } })];
    await first.run({});
    await next.run({ continue: '500' });
    expect([first.counts.get('WatchersSilent'), next.counts.get('WatchersSilent')]).toEqual([1, undefined]);
  });

  it('is given up, without a call, when the next tick has come', async () => {
    const { alpha, server } = await serving(listing([aMissedGadget('missed')]));
    const resync = aResync({ clusters: { alpha }, nowSeconds: runSeconds + 600 });
    expect(await resync.run({})).toEqual([]);
    expect(server.arrived).toEqual([]);
    expect(resync.counts.get('ResyncGivenUp')).toBe(1);
  });

  it('of a cluster that has left the table is dropped', async () => {
    expect(await aResync({ clusters: { alpha: { type: 'leaving' } } }).run({}, { cluster: 'unknown' })).toEqual([]);
  });

  it.each([
    ['is no request', 'not json', 'the body is not JSON'],
    ['names an unknown controller', { controller: 'gone' }, 'unknown controller gone'],
  ])('whose message %s is laid aside with the reason', async (_, message, reason) => {
    expect(await aResync({}).run(message)).toEqual([]);
    const [dead] = await queues.drain('resync-dlq');
    expect(dead?.MessageAttributes?.reason?.StringValue).toBe(reason);
  });
});

describe('a list too long for one function', () => {
  it('goes on with the next message, at the same pace, and together they see every object once', async () => {
    const { alpha } = await serving(listing(many(1_200, aMissedGadget)));
    const hurried = { clusters: { alpha }, leftMs: 5_000 };
    const sent: Message[] = [];
    let pages = 0;
    for (let next: Partial<ResyncMessage> | undefined = {}; next !== undefined; pages += 1) {
      const resync = aResync(hurried);
      expect(await resync.run(next)).toEqual([]);
      expect(resync.counts.get('Unobserved')).toBeGreaterThan(0);
      sent.push(...resync.timed);
      const [continuation] = await queues.drain('resync');
      next = continuation?.Body === undefined ? undefined : parseResyncMessage(continuation.Body);
    }
    expect(pages).toBe(3);
    expect(new Set(names(sent)).size).toBe(1_200);
    expect(sent).toHaveLength(1_200);
    for (const inSecond of Map.groupBy(sent, ({ dueAt }) => dueAt).values()) {
      expect(inSecond.length).toBeLessThanOrEqual(100);
    }
  });

  it('counts as missed what it finds although its own earlier parts keep the controller busy by now', async () => {
    const busy = Array.from({ length: 11 }, (_, n) => ({ body: 'x', groupId: `${n}`, deduplicationId: `own ${n}` }));
    await send('gadget.fifo', busy, { signal });
    const { alpha } = await serving(listing(many(600, aMissedGadget)));
    const resync = aResync({ clusters: { alpha } });
    await resync.run({ continue: '500', quiet: true });
    expect(resync.counts.get('Unobserved')).toBe(100);
  });

  it('goes on although the next tick has come', async () => {
    const { alpha } = await serving(listing(many(600, aMissedGadget)));
    const resync = aResync({ clusters: { alpha }, nowSeconds: runSeconds + 700 });
    expect(await resync.run({ continue: '500' })).toEqual([]);
    expect(resync.timed).toHaveLength(100);
  });

  it('begins anew when its token has expired', async () => {
    const fresh = listing([aMissedGadget('missed')]);
    const { alpha } = await serving((request, response) => {
      if (request.query.continue === 'old') sendJson(response, 410, statusOf(410, 'Expired'));
      else fresh(request, response);
    });
    const resync = aResync({ clusters: { alpha } });
    expect(await resync.run({ continue: 'old' })).toEqual([]);
    expect(names(resync.timed)).toEqual(['missed']);
  });
});
