// The resync when a poll cannot be done, or not in one go: what becomes of its message, and of what it saw until then. Against an
// SQS server and an API server's wire.
import { describe, expect, it } from 'vitest';
import type { KubeClient } from '../../src/kube/client/client.ts';
import type { Message } from '../../src/queue/message.ts';
import { parseResyncMessage, type ResyncMessage } from '../../src/queue/resync-message.ts';
import type { Entry } from '../../src/sqs/sender.ts';
import { sendJson, statusOf } from '../kube/wire-server.ts';
import { aMissedGadget, listing } from './gadgets.ts';
import { many, names, resyncAround, run, runSeconds, serving } from './resync-harness.ts';

const { aResync, drain, send } = resyncAround();
const { signal } = new AbortController();

const askedAgain = ({ asked }: { readonly asked: readonly Entry[] }) =>
  asked.map(({ body, delaySeconds }) => ({ run: parseResyncMessage(body).run, delaySeconds }));
const unreachable: KubeClient = {
  request: () => Promise.reject(new Error('nobody answers')),
  stream: () => Promise.reject(new Error('nobody answers')),
  webSocket: () => Promise.reject(new Error('nobody answers')),
  close: () => undefined,
};

describe('a poll that cannot be done', () => {
  it('that breaks off has sent what it saw, and is tried again', async () => {
    const objects = many(1_200, aMissedGadget);
    const { alpha, server } = await serving(listing(objects, { failAt: 500 }));
    const resync = aResync({ clusters: { alpha } });
    expect(await resync.run({})).toEqual([]);
    expect(askedAgain(resync)).toEqual([{ run, delaySeconds: 30 }]);
    // Nothing is said of what it did not see: neither to a controller nor to the API server.
    expect(names(resync.timed)).toEqual(objects.slice(0, 500).map(({ metadata }) => metadata.name));
    expect(new Set(server.arrived.map(({ method }) => method))).toEqual(new Set(['GET']));
    expect(resync.counts.get('ResyncFailures')).toBe(1);
    expect(resync.counts.get('Unobserved')).toBe(500);
    expect(resync.lines.some(({ message }) => message === 'poll broke off')).toBe(true);
  });

  it('is tried again when the queue refuses what it found', async () => {
    const { alpha } = await serving(listing([aMissedGadget('missed')]));
    expect(await aResync({ clusters: { alpha }, refuse: true }).run({})).toEqual(['m0']);
  });

  it('although nobody knows how full its queue is goes on, calls nothing missed, and says why without credentials', async () => {
    const { alpha } = await serving(listing([aMissedGadget('missed')]));
    const resync = aResync({ clusters: { alpha }, depthFails: new Error('GET https://me:hunter2@sqs/ failed') });
    expect(await resync.run({})).toEqual([]);
    expect(names(resync.timed)).toEqual(['missed']);
    expect(resync.counts.get('Unobserved')).toBeUndefined();
    const said = resync.lines.find(({ message }) => message === 'queue depth unknown');
    expect(said?.fields).toEqual({ error: 'GET https://[redacted]@sqs/ failed' });
  });

  it('of a cluster that cannot be reached fails alone', async () => {
    const { alpha } = await serving(listing([aMissedGadget('missed')]));
    const resync = aResync({ clusters: { alpha, dead: { type: 'client', client: unreachable } } });
    expect(await resync.run({ cluster: 'dead' }, { cluster: 'alpha' })).toEqual([]);
    expect(askedAgain(resync)).toEqual([{ run, delaySeconds: 30 }]);
    expect(names(resync.timed)).toEqual(['missed']);
    expect(resync.counts.get('ResyncFailures')).toBe(1);
  });

  it('is tried again as long as the next tick has not come, and stays then', async () => {
    const late = aResync({
      clusters: { alpha: { type: 'client', client: unreachable } },
      nowSeconds: runSeconds + 575,
    });
    expect(await late.run({})).toEqual(['m0']);
    const early = aResync({
      clusters: { alpha: { type: 'client', client: unreachable } },
      nowSeconds: runSeconds + 565,
    });
    expect(await early.run({})).toEqual([]);
    expect([askedAgain(late).length, askedAgain(early).length]).toEqual([0, 1]);
  });

  it('is given up, without a call, when the next tick has come', async () => {
    const { alpha, server } = await serving(listing([aMissedGadget('missed')]));
    const resync = aResync({ clusters: { alpha }, nowSeconds: runSeconds + 600 });
    expect(await resync.run({})).toEqual([]);
    expect(server.arrived).toEqual([]);
    expect(resync.counts.get('ResyncGivenUp')).toBe(1);
  });

  it('does not outlive its function although the table never answers, and is tried again', async () => {
    const ending = new AbortController();
    const resync = aResync({ silent: true, signal: ending.signal });
    const [polled, ticked] = [resync.run({}), resync.tick().catch((error: unknown) => error)];
    ending.abort(new Error('time is up'));
    expect(await polled).toEqual(['m0']);
    expect(await ticked).toEqual(new Error('time is up'));
    expect(resync.counts.get('ResyncFailures')).toBe(1);
  });

  it('of a cluster that has left the table is dropped', async () => {
    expect(await aResync({ clusters: { alpha: { type: 'leaving' } } }).run({}, { cluster: 'unknown' })).toEqual([]);
  });

  it.each([
    ['is no request', 'not json', 'the body is not JSON'],
    ['names an unknown controller', { controller: 'gone' }, 'unknown controller gone'],
  ])('whose message %s is laid aside with the reason', async (_, message, reason) => {
    expect(await aResync({}).run(message)).toEqual([]);
    const [dead] = await drain('resync-dlq');
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
      const [continuation] = await drain('resync');
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

  it('begins anew when its token has expired and the server has no other', async () => {
    const fresh = listing([aMissedGadget('missed')]);
    const { alpha } = await serving((request, response) => {
      if (request.query.continue === 'old') sendJson(response, 410, statusOf(410, 'Expired'));
      else fresh(request, response);
    });
    const resync = aResync({ clusters: { alpha } });
    expect(await resync.run({ continue: 'old' })).toEqual([]);
    expect(names(resync.timed)).toEqual(['missed']);
  });

  it.each([
    ['that was sent on', {}, '500'],
    ['of a page before', { continue: '500' }, '1000'],
  ])('goes on with what is left when a token %s has expired, so that its end is seen although it takes too long', async (_, message, expired) => {
    const objects = many(1_600, aMissedGadget);
    const list = listing(objects);
    const { alpha } = await serving((request, response) => {
      const rest = { metadata: { continue: `${Number(expired) + 10}` } };
      if (request.query.continue === expired) sendJson(response, 410, statusOf(410, 'Expired', rest));
      else list(request, response);
    });
    const resync = aResync({ clusters: { alpha } });
    expect(await resync.run(message)).toEqual([]);
    const from = 'continue' in message ? 500 : 0;
    const wanted = [...objects.slice(from, Number(expired)), ...objects.slice(Number(expired) + 10)];
    expect(names(resync.timed)).toEqual(wanted.map(({ metadata }) => metadata.name));
    for (const inSecond of Map.groupBy(resync.timed, ({ dueAt }) => dueAt).values()) {
      expect(inSecond.length).toBeLessThanOrEqual(100);
    }
  });

  it('is tried again later when whatever token it gets has expired', async () => {
    const expired = statusOf(410, 'Expired', { metadata: { continue: 'another' } });
    const { alpha, server } = await serving((_, response) => sendJson(response, 410, expired));
    const resync = aResync({ clusters: { alpha } });
    expect(await resync.run({ continue: 'old' })).toEqual([]);
    expect(server.arrived).toHaveLength(2);
    expect(askedAgain(resync)).toHaveLength(1);
  });
});
