// Only the batch: from records to the messages on the queues and the messages that stay. The reconciles are given; the
// reconcile itself is in reconcile.test.ts. How a batch ends out of time or with failures is in batch-ends.test.ts.
import { expect, it } from 'vitest';
import type { ClusterLookup } from '../../src/clusters/connect.ts';
import { defaultRetry } from '../../src/core/controller-options.ts';
import { toError } from '../../src/core/errors.ts';
import type { KubeClient } from '../../src/kube/client/client.ts';
import { DeadlineError } from '../../src/kube/client/errors.ts';
import type { ReconcileReport } from '../../src/reconciling/report.ts';
import type { Message } from '../../src/sqs/message.ts';
import type { QueueRecord } from '../../src/sqs/record.ts';
import { asRetry } from '../sqs/messages.ts';
import {
  client,
  done,
  failed,
  lastTry,
  postponed,
  record,
  requeued,
  settle,
  setUp,
  untilAborted,
} from './batch-harness.ts';

it('duplicates of a key are reconciled once and deleted together', async () => {
  const { run, reconciled } = setUp();
  const twice = [record('north'), { ...record('north'), messageId: 'm2', receiptHandle: 'r2' }];
  expect(await run(twice)).toEqual([]);
  expect(reconciled).toEqual(['north']);
});

it.each<[string, QueueRecord, ReconcileReport, ClusterLookup?]>([
  ['timer', record('north'), requeued],
  ['retry', record('north'), failed()],
  ['postponement', record('north'), postponed()],
  ['dead letter', record('north', lastTry), failed()],
  ['dead letter of an unknown cluster', record('north'), done, { type: 'unknown' }],
  ['dead letter of a malformed body', { ...record('north'), body: 'hello' }, done],
])('a message stays on the queue, and is returned early, if its %s cannot be sent', async (_, one, report, cluster) => {
  const { run, seen, returned } = setUp(report);
  seen.clusterAnswer = cluster;
  seen.sending = false;
  expect(await run([one])).toEqual(['m-north']);
  expect(returned).toMatchObject([{ receiptHandle: 'r-north' }]);
});

it('a message whose reconcile was aborted at its deadline, or ended after it, keeps its visibility timeout, and the others are deleted', async () => {
  const { runOutOfTime, seen, returned } = setUp(async ({ signal, message: { name } }) => {
    if (name === 'quick') return done;
    await untilAborted(signal);
    if (name === 'late') return requeued;
    throw signal.reason;
  });
  seen.sending = false;
  expect(await runOutOfTime([record('aborted'), record('late'), record('quick')])).toEqual(['m-aborted', 'm-late']);
  expect(returned).toEqual([]);
});

it('a reconcile that ignores its signal ends the process, after the finished messages were deleted, a second after the start', async () => {
  const { run, advance, seen, deleted, returned } = setUp(({ message }) =>
    message.name === 'deaf' ? new Promise(() => {}) : Promise.resolve(done),
  );
  const ended = expect(run([record('deaf'), record('quick')])).rejects.toThrow('ignored its signal');
  for (const [milliseconds, gone] of [[0], [1_000, 'r-quick'], [24_000, 'r-quick'], [1_000, 'r-quick']] as const) {
    expect(seen.died).toBe('');
    advance(milliseconds);
    await settle();
    expect(deleted).toEqual(gone === undefined ? [] : [gone]);
  }
  await ended;
  expect(seen.died).toContain('ignored its signal');
  expect(returned).toEqual([]);
});

it('the log line of a reconcile counts its requests, those that failed as well, and the time in which one was open', async () => {
  const { run, lines, advance } = setUp(async ({ client, message: { name } }) => {
    const request = async () => await client.request({ method: 'GET', path: '/version' }).catch(() => undefined);
    if (name === 'south') return done;
    const both = Promise.all([request(), request()]);
    advance(70);
    await both;
    advance(300);
    await request();
    return done;
  });
  await run([record('north')]);
  await run([record('south')]);
  expect(lines.map(({ fields }) => fields)).toMatchObject([
    { requests: 3, requestMs: 70, durationMs: 370 },
    { requests: 0, requestMs: 0 },
  ]);
});

it('B20: a key of a cluster that the table does not have is postponed for a day with an error in the log, and then a dead letter', async () => {
  const { run, seen, reconciled, timers, deadLetters, lines } = setUp();
  seen.clusterAnswer = { type: 'unknown' };
  expect(await run([record('north'), record('south', asRetry({ postponements: 99 }))])).toEqual([]);
  expect(timers()).toMatchObject([1, 100].map((postponements) => ({ cause: { type: 'retry', postponements } })));
  expect([reconciled, deadLetters()]).toEqual([[], []]);
  const fields = { reason: 'unknown-cluster', error: expect.stringContaining('the clusters table has no a; add it') };
  expect(lines).toMatchObject(Array(2).fill({ level: 'error', fields }));
  expect(await run([record('north', asRetry({ postponements: 100 }))])).toEqual([]);
  expect(deadLetters()).toMatchObject([{ attributes: { reason: 'unknown cluster a' } }]);
});

const gone: ReconcileReport = { outcome: { type: 'nothing', reason: 'gone' }, writes: 0 };
const isOther = async (uid: string) => uid !== 'uid-of-a';
/** A cluster that cannot be compared. */
const unanswered = { type: 'client', client, isOther: async () => Promise.reject(new Error('no uid')) } as const;

it('B19: a key that is gone in another cluster than the one it was seen in is postponed for a day with an error in the log', async () => {
  const { run, seen, timers, deadLetters, lines } = setUp(gone);
  seen.clusterAnswer = { type: 'client', client, isOther };
  expect(await run([record('north', { clusterUid: 'uid-of-b' })])).toEqual([]);
  expect(timers()).toMatchObject([{ name: 'north', clusterUid: 'uid-of-b', cause: { postponements: 1 } }]);
  const error = expect.stringContaining('the clusters table has the address of another cluster for a');
  expect(lines).toMatchObject([{ level: 'error', fields: { reason: 'other-cluster', error } }]);
  // The same cluster, a message without its cluster, and after a day, as when a cluster was replaced by a new one.
  const late = { clusterUid: 'uid-of-b', ...asRetry({ postponements: 100 }) };
  expect(await run([record('south', { clusterUid: 'uid-of-a' }), record('east'), record('west', late)])).toEqual([]);
  expect([timers().length, deadLetters()]).toEqual([1, []]);
  seen.clusterAnswer = unanswered;
  expect(await run([record('later', { clusterUid: 'uid-of-a' })])).toEqual([]);
  expect(timers().map(({ name }) => name)).toEqual(['north', 'later']);
});

it('an object that was lost before its finalize was done is a dead letter, also if its cluster cannot be compared', async () => {
  const orphan = { uid: 'u', reason: 'finalize failed', object: '{}' };
  const { run, seen, timers, deadLetters } = setUp({ ...gone, orphan });
  seen.clusterAnswer = unanswered;
  expect(await run([record('north', { clusterUid: 'uid-of-a' })])).toEqual([]);
  expect(timers()).toEqual([]);
  expect(deadLetters()).toMatchObject([{ attributes: { reason: 'finalize failed' } }]);
});

it('a message of a cluster that is being decommissioned is deleted, and is logged', async () => {
  const { run, seen, queues, reconciled, lines, counts } = setUp();
  seen.clusterAnswer = { type: 'decommissioning' };
  expect(await run([record('north')])).toEqual([]);
  expect([[...queues], reconciled]).toEqual([[], []]);
  expect(lines).toMatchObject([{ level: 'info', fields: { outcome: 'nothing', reason: 'decommissioning' } }]);
  expect(counts.get('DecommissioningClusterMessages')).toBe(1);
});

it('a key of a controller with 20 attempts is retried after the 13th, and is a dead letter after the 20th', async () => {
  const { run, timers, deadLetters } = setUp(failed(), { retry: { ...defaultRetry, attempts: 20 } });
  const records = [record('thirteenth', asRetry({ attempt: 12 })), record('last', asRetry({ attempt: 19 }))];
  expect(await run(records)).toEqual([]);
  expect(timers()).toMatchObject([{ name: 'thirteenth', cause: { attempt: 13 } }]);
  expect(deadLetters()).toMatchObject([{ attributes: { attempts: '20', error: 'no' } }]);
});

const declares = ({ resource }: { readonly resource: string }) => resource === 'watertanks';
const secret = (changes: Partial<Message> = {}) => record('north', { resource: 'secrets', group: '', ...changes });

// Control T42.
it('a message of a kind that the controller does not declare is a dead letter, and no reconcile runs for it', async () => {
  const { run, reconciled, timers, deadLetters } = setUp(done, { declares });
  expect(await run([secret(), record('south')])).toEqual([]);
  expect(reconciled).toEqual(['south']);
  expect(timers()).toEqual([]);
  expect(deadLetters()).toMatchObject([{ attributes: { reason: 'water-tank declares no secrets.' } }]);
});

it('a key of a full pass over a kind that the controller does not declare is postponed for a day, then a dead letter, and at once in an unknown cluster', async () => {
  const { run, seen, reconciled, timers, deadLetters } = setUp(done, { declares });
  // A watcher is upgraded before the functions.
  expect(await run([secret({ cause: { type: 'resync', run: '1' } })])).toEqual([]);
  expect(await run([secret(asRetry({ postponements: 99 }))])).toEqual([]);
  expect(timers()).toMatchObject([1, 100].map((postponements) => ({ resource: 'secrets', cause: { postponements } })));
  expect(deadLetters()).toEqual([]);
  expect(await run([secret(asRetry({ postponements: 100 })), secret(asRetry({ attempt: 2 }))])).toEqual([]);
  expect(deadLetters()).toHaveLength(2);
  seen.clusterAnswer = { type: 'unknown' };
  expect(await run([secret({ cluster: 'invented', cause: { type: 'resync', run: '1' } })])).toEqual([]);
  expect([reconciled, timers().length]).toEqual([[], 2]);
  expect(deadLetters()[2]).toMatchObject({ attributes: { reason: 'unknown cluster invented' } });
});

it('in a batch of more than a second, finished messages are deleted at once', async () => {
  const slow = Promise.withResolvers<void>();
  const { run, deleted, advance } = setUp(async ({ message }) => {
    if (message.name === 'slow') await slow.promise;
    else advance(1_500);
    return done;
  });
  const finished = run([record('slow'), record('quick')]);
  await expect.poll(() => deleted).toEqual(['r-quick']);
  slow.resolve();
  expect(await finished).toEqual([]);
});

const seven = ['1', '2', '3', '4', '5', '6', '7'];
const onceEach = seven.map((name) => ({ name, cause: { type: 'retry', attempt: 0, postponements: 1 } }));

it('after five failures in a row a cluster is not called, and each key is postponed without an attempt', async () => {
  const { run, counts, reconciled, timers } = setUp(postponed());
  for (const name of seven) expect(await run([record(name)])).toEqual([]);
  expect(reconciled).toEqual(['1', '2', '3', '4', '5']);
  expect(counts.get('ClusterPostponements')).toBe(seven.length);
  expect(timers()).toMatchObject(onceEach);
});

it('no key of a paused cluster is reconciled or lost: each is postponed without an attempt, and the breaker stays closed', async () => {
  const { run, seen, counts, deleted, reconciled, timers, deadLetters } = setUp();
  const connect = async () => await Promise.reject(new Error('a paused cluster is not called'));
  seen.clusterAnswer = { type: 'paused', connect };
  for (const name of seven) expect(await run([record(name)])).toEqual([]);
  expect([reconciled, deadLetters(), deleted]).toEqual([[], [], []]);
  expect(timers()).toMatchObject(onceEach);
  expect([counts.get('ReconcilesPostponed'), counts.get('ClusterPostponements')]).toEqual([seven.length, undefined]);
  seen.clusterAnswer = undefined;
  await run([record('8')]);
  expect(reconciled).toEqual(['8']);
});

const respondingWith = (request: KubeClient['request']): ClusterLookup => {
  return { type: 'client', client: { ...client, request } };
};

it('a key of a slow cluster is postponed once, without a reconcile, and its retry has no time limit', async () => {
  const ended: string[] = [];
  const { run, seen, timers } = setUp(async ({ client, message }) => {
    const error = await client.request({ method: 'GET', path: `/${message.cluster}` }).catch(toError);
    if (error instanceof Error) return failed(error);
    ended.push(`${message.cluster} ${message.cause.type}`);
    return done;
  });
  seen.clusterAnswer = respondingWith(async ({ path, timeoutSeconds = 60 }) => {
    if (path === '/slow' && timeoutSeconds < 2) throw new DeadlineError('no response yet');
    return { status: 200, body: {}, headers: {} };
  });
  await run([record('quick', { cluster: 'fast' })]);
  expect(await run([record('first', { cluster: 'slow' })])).toEqual([]);
  expect(timers()).toMatchObject([{ name: 'first', cause: { type: 'retry', attempt: 0, postponements: 0 } }]);
  expect(ended).toEqual(['fast change']);
  await run([record('first', { cluster: 'slow', ...asRetry() })]);
  expect(ended).toEqual(['fast change', 'slow retry']);
});

it('the keys of a cluster that is much slower than another are postponed for a while, without an attempt', async () => {
  const { run, seen, advance, reconciled, timers } = setUp(async ({ client, message }) => {
    await client.request({ method: 'GET', path: `/${message.cluster}` }).catch(() => undefined);
    return done;
  });
  seen.clusterAnswer = respondingWith(async ({ path }) => {
    advance(path === '/slow' ? 2_000 : 1);
    throw new Error('not found');
  });
  for (const cluster of ['fast', 'slow', 'slow', 'slow', 'fast']) {
    expect(await run([record(cluster, { cluster })])).toEqual([]);
  }
  expect(reconciled).toEqual(['fast', 'slow', 'slow', 'fast']);
  expect(timers()).toMatchObject([{ cluster: 'slow', cause: { type: 'retry', attempt: 0, postponements: 0 } }]);
});
