// Failing lists and lists in several functions: what happens to the message, and to the keys found so far. Against an
// SQS server and an HTTP server for the API.
import { expect, it } from 'vitest';
import { NoTableError } from '../../src/clusters/registry/registry.ts';
import { UserError } from '../../src/core/errors.ts';
import type { KubeClient } from '../../src/kube/client/client.ts';
import { DeadlineError } from '../../src/kube/client/errors.ts';
import { parseResyncMessage } from '../../src/resync/message.ts';
import { dueAtOf } from '../../src/sqs/message.ts';
import type { QueueEntry } from '../../src/sqs/sender.ts';
import { sendJson, statusOf } from '../kube/wire-server.ts';
import type { Recorder } from '../support/recorder.ts';
import { aMissedGadget, listing } from './gadgets.ts';
import { many, names, resyncFixture, run, runSeconds, serving } from './resync-harness.ts';

const { aResync, drain, fillQueue, resyncOf } = resyncFixture();

const retriesOf = ({ resyncEntries }: { readonly resyncEntries: readonly QueueEntry[] }) =>
  resyncEntries.map(({ body, delaySeconds }) => ({ run: parseResyncMessage(body).run, delaySeconds }));
const listedOf = ({ lines }: Pick<Recorder, 'lines'>) =>
  lines.flatMap(({ message, fields }) => (message === 'kind listed' ? [fields] : []));
const unreachable: KubeClient = {
  request: () => Promise.reject(new Error('no response')),
  stream: () => Promise.reject(new Error('no response')),
  webSocket: () => Promise.reject(new Error('no response')),
  close: () => undefined,
};

it('a list that fails has sent the keys of its pages so far, and is retried', async () => {
  const objects = many(1_200, aMissedGadget);
  const { server, ...resync } = await resyncOf(listing(objects, { failAt: 500 }));
  expect(await resync.run({})).toEqual([]);
  expect(retriesOf(resync)).toEqual([{ run, delaySeconds: 30 }]);
  // Nothing is concluded about the other objects: no message is sent, and nothing is written.
  expect(names(resync.timed)).toEqual(objects.slice(0, 500).map(({ metadata }) => metadata.name));
  expect(new Set(server.arrived.map(({ method }) => method))).toEqual(new Set(['GET']));
  expect(resync.counts.get('MissedChanges')).toBe(500);
  expect(resync.lines.some(({ message }) => message === 'list failed')).toBe(true);
  expect(listedOf(resync)).toMatchObject([{ objects: 500, pages: 1, failed: true, queueIdle: true }]);
});

it('an object with a name that no message can have is logged, and the keys of the other objects are sent', async () => {
  const resync = await resyncOf(['a', 'long'.repeat(1_000), 'b'].map(aMissedGadget));
  expect(await resync.run({})).toEqual([]);
  expect(names(resync.timed)).toEqual(['a', 'b']);
  expect(retriesOf(resync)).toEqual([]);
  const line = resync.lines.find(({ message }) => message === 'key cannot be sent');
  expect(line).toMatchObject({ level: 'error', fields: { key: expect.stringMatching(/^.{100,1024}$/) } });
});

it('a list is retried if the queue rejects its keys', async () => {
  const { alpha } = await serving(listing([aMissedGadget('missed')]));
  expect(await aResync({ clusters: { alpha }, rejectAll: true }).run({})).toEqual(['m0']);
});

it('a list with an unknown queue depth continues, counts nothing as missed, and logs the reason', async () => {
  const resync = await resyncOf([aMissedGadget('missed')], {
    depthFails: new Error('GET https://me:hunter2@sqs/ failed'),
  });
  expect(await resync.run({})).toEqual([]);
  expect(names(resync.timed)).toEqual(['missed']);
  expect(resync.counts.get('MissedChanges')).toBeUndefined();
  // No field says that the queue was busy.
  expect(listedOf(resync)).toEqual([{ objects: 1, pages: 1, unobserved: 1, sent: 1, failed: false }]);
  const line = resync.lines.find(({ message }) => message === 'queue depth unknown');
  expect(line?.fields).toEqual({ error: 'GET https://[redacted]@sqs/ failed' });
});

it('a list of an unreachable cluster fails without affecting other clusters', async () => {
  const { alpha } = await serving(listing([aMissedGadget('missed')]));
  const resync = aResync({ clusters: { alpha, dead: { type: 'client', client: unreachable } } });
  expect(await resync.run({ cluster: 'dead' }, { cluster: 'alpha' })).toEqual([]);
  expect(retriesOf(resync)).toEqual([{ run, delaySeconds: 30 }]);
  expect(names(resync.timed)).toEqual(['missed']);
  expect([...resync.counts.keys()].filter((name) => name.startsWith('ClusterTrouble alpha not-listed'))).toEqual([]);
});

it('a list that fails once counts as failed only if its first retry fails: of many clusters some list always fails once', async () => {
  const resync = aResync({ clusters: { dead: { type: 'client', client: unreachable } } });
  await resync.run({ cluster: 'dead' });
  expect([...resync.counts.keys()]).toEqual(['ResyncPages', 'ResyncObjects']);
  await resync.run({ cluster: 'dead', failures: 1 });
  expect([resync.counts.get('ResyncFailures'), resync.counts.get('ClusterTrouble dead not-listed')]).toEqual([1, 1]);
});

it.each([
  [
    'whose entry is not valid is in trouble for that',
    new UserError('no server'),
    ['ClusterTrouble dead invalid-entry'],
  ],
  ['is in no trouble if its table cannot be read once', new NoTableError('no table'), []],
])('a cluster %s, and is retried', async (_, entryFails, troubles) => {
  const resync = aResync({ clusters: {}, entryFails });
  expect(await resync.run({ cluster: 'dead' })).toEqual([]);
  expect([...resync.counts.keys()].filter((name) => name.startsWith('ClusterTrouble'))).toEqual(troubles);
  expect(retriesOf(resync)).toHaveLength(1);
});

it('a count of missed changes comes with a count of postponed keys, so that the alarm can subtract them', async () => {
  const resync = await resyncOf([aMissedGadget('missed')]);
  await resync.run({});
  expect([resync.counts.get('MissedChanges'), resync.counts.get('ClusterPostponements')]).toEqual([1, 0]);
  const quiet = await serving(listing([]));
  const none = aResync({ clusters: { alpha: quiet.alpha } });
  await none.run({});
  expect([none.counts.has('MissedChanges'), none.counts.has('ClusterPostponements')]).toEqual([false, false]);
});

it('a failed list is retried until shortly before the next run, and then left to that run, but for a list that has begun', async () => {
  const clusters = { alpha: { type: 'client', client: unreachable } } as const;
  const late = aResync({ clusters, nowSeconds: runSeconds + 570 });
  expect(await late.run({})).toEqual([]);
  expect(late.counts.get('ResyncRetriesExhausted')).toBe(1);
  expect(await late.run({ continue: '500' })).toEqual(['m0']);
  const early = aResync({ clusters, nowSeconds: runSeconds + 565 });
  expect(await early.run({})).toEqual([]);
  expect([retriesOf(late).length, retriesOf(early).length]).toEqual([0, 1]);
  // The alarm is for the trouble of two runs, and the retries are in more than one of its periods.
  const again = aResync({ clusters, nowSeconds: runSeconds + 100 });
  await again.run({ failures: 2 });
  expect([...again.counts.keys()]).toEqual(['ResyncFailures']);
});

it('a cluster that never responds costs a controller a minute of each run at most, and fails in it five times', async () => {
  let nowSeconds = runSeconds + 2;
  let waitedSeconds = 0;
  const request: KubeClient['request'] = async ({ timeoutSeconds = 10 }) => {
    nowSeconds += timeoutSeconds;
    waitedSeconds += timeoutSeconds;
    throw new DeadlineError(`no response within ${timeoutSeconds} s`);
  };
  const client = { ...unreachable, request };
  const resync = aResync({ clusters: { dead: { type: 'client', client } }, nowSeconds: () => nowSeconds });
  let kept = await resync.run({ cluster: 'dead' });
  for (let retry = resync.resyncEntries.shift(); retry !== undefined; retry = resync.resyncEntries.shift()) {
    nowSeconds += retry.delaySeconds ?? 0;
    kept = await resync.run(retry.body);
  }
  expect(kept).toEqual([]);
  expect(waitedSeconds).toBeLessThanOrEqual(60);
  expect(nowSeconds - runSeconds).toBeGreaterThan(400);
  expect(resync.counts.get('ResyncFailures')).toBe(4);
  expect(resync.counts.get('ClusterTrouble dead not-listed')).toBe(1);
  // An alarm of its own is for lists that start too late.
  expect(resync.counts.has('ResyncRetriesExhausted')).toBe(false);
});

it('a list that has failed lists every page once the cluster responds, and a later failure is retried as the first', async () => {
  const objects = many(1_200, aMissedGadget);
  const resync = await resyncOf(listing(objects), { remainingMs: 1_000 });
  expect(await resync.run({ failures: 3 })).toEqual([]);
  expect(names(resync.timed)).toEqual(objects.slice(0, 500).map(({ metadata }) => metadata.name));
  const [next] = resync.resyncEntries.map(({ body }) => parseResyncMessage(body));
  expect(next).toMatchObject({ continue: '500' });
  expect(next?.failures).toBeUndefined();
});

it('a list is abandoned without a request if the next run has started', async () => {
  const { server, ...resync } = await resyncOf([aMissedGadget('missed')], { nowSeconds: runSeconds + 600 });
  expect(await resync.run({})).toEqual([]);
  expect(server.arrived).toEqual([]);
  expect(resync.counts.get('ResyncRetriesExhausted')).toBe(1);
  expect(resync.counts.get('ClusterTrouble alpha list-abandoned')).toBe(1);
});

it('a list ends with its signal if the clusters table never responds, and is retried', async () => {
  const ending = new AbortController();
  const resync = aResync({ tableHangs: true, signal: ending.signal });
  const [listed, started] = [resync.run({ failures: 1 }), resync.startRun().catch((error: unknown) => error)];
  ending.abort(new Error('time is up'));
  expect(await listed).toEqual([]);
  expect(retriesOf(resync)).toEqual([{ run, delaySeconds: 60 }]);
  expect(await started).toEqual(new Error('time is up'));
  expect(resync.counts.get('ResyncFailures')).toBe(1);
});

it('a list of a cluster that is paused, unknown or being decommissioned is skipped', async () => {
  const connect = async () => await Promise.reject(new Error('a paused cluster is not called'));
  const paused = aResync({ clusters: { alpha: { type: 'paused', connect } } });
  expect([await paused.run({}), paused.counts.get('ResyncFailures')]).toEqual([[], undefined]);
  // Without it the alarm, for which missing data is a problem, would fire while every cluster is paused.
  expect(paused.counts.get('WatcherDown')).toBe(0);
  expect(await aResync({ clusters: { alpha: { type: 'decommissioning' } } }).run({}, { cluster: 'unknown' })).toEqual(
    [],
  );
});

it('a list for a controller that a deployment has removed, or will add, is skipped without a dead letter', async () => {
  const { run: runMessage, resyncEntries, lines } = aResync({});
  expect(await runMessage({ controller: 'gone' })).toEqual([]);
  expect(await runMessage({ controller: 'gone', failures: 1 })).toEqual([]);
  expect(resyncEntries).toEqual([]);
  expect(await drain('resync-dlq')).toEqual([]);
  const skipped = { message: 'list skipped', fields: { reason: 'unknown controller' } };
  expect(lines).toMatchObject([skipped, skipped]);
});

it('a resync message that is malformed becomes a dead letter with the reason, is counted, and stays if that is rejected', async () => {
  const resync = aResync({});
  expect(await resync.run('not json')).toEqual([]);
  const [deadLetter] = await drain('resync-dlq');
  expect(deadLetter?.MessageAttributes?.reason?.StringValue).toBe('the body is not JSON');
  expect(resync.counts.get('DeadLetters')).toBe(1);
  expect(await aResync({ rejectAll: true }).run('not json')).toEqual(['m0']);
});

it('a continued list counts missed changes even if its earlier keys keep the queue busy', async () => {
  await fillQueue();
  const resync = await resyncOf(many(600, aMissedGadget), { nowSeconds: runSeconds + 300 });
  await resync.run({ continue: '500', queueIdle: true });
  expect(resync.counts.get('MissedChanges')).toBe(100);
});

it('a continued list goes on after the next run has started', async () => {
  const resync = await resyncOf(many(600, aMissedGadget), { nowSeconds: runSeconds + 700 });
  expect(await resync.run({ continue: '500' })).toEqual([]);
  expect(resync.timed).toHaveLength(100);
});

it('a list is restarted if its token has expired and the server returns no other token', async () => {
  const fresh = listing([aMissedGadget('missed')]);
  const { alpha } = await serving((request, response) => {
    if (request.query.continue === 'old') sendJson(response, 410, statusOf(410, 'Expired'));
    else fresh(request, response);
  });
  const resync = aResync({ clusters: { alpha } });
  expect(await resync.run({ continue: 'old' })).toEqual([]);
  expect(names(resync.timed)).toEqual(['missed']);
  expect(listedOf(resync)).toMatchObject([{ failed: false }, { failed: false }]);
});

it.each([
  ['of a page', {}, [500]],
  ['of a continued list', { continue: '500' }, [1_000]],
  ['of a page, and later the new one,', {}, [500, 1_010]],
])('a list continues with the new token if the token %s has expired', async (_, message, expired) => {
  const objects = many(1_600, aMissedGadget);
  const list = listing(objects);
  const { alpha } = await serving((request, response) => {
    const at = Number(request.query.continue);
    const newToken = { metadata: { continue: `${at + 10}` } };
    if (expired.includes(at)) sendJson(response, 410, statusOf(410, 'Expired', newToken));
    else list(request, response);
  });
  const resync = aResync({ clusters: { alpha } });
  expect(await resync.run(message)).toEqual([]);
  const from = 'continue' in message ? 500 : 0;
  const isSkipped = (at: number) => at < from || expired.some((one) => at >= one && at < one + 10);
  const expected = objects.filter((_object, at) => !isSkipped(at));
  expect(names(resync.timed)).toEqual(expected.map(({ metadata }) => metadata.name));
  for (const inSecond of Map.groupBy(resync.timed, dueAtOf).values()) {
    expect(inSecond.length).toBeLessThanOrEqual(100);
  }
});

it('a list is retried later if every token has expired', async () => {
  const expired = statusOf(410, 'Expired', { metadata: { continue: 'another' } });
  const { alpha, server } = await serving((_, response) => sendJson(response, 410, expired));
  const resync = aResync({ clusters: { alpha } });
  expect(await resync.run({ continue: 'old' })).toEqual([]);
  expect(server.arrived).toHaveLength(2);
  expect(retriesOf(resync)).toHaveLength(1);
});
