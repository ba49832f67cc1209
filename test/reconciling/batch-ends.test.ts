// How a batch ends when time runs out, the clusters table or SQS fails, or the function crashes. Also its metrics.
import { expect, it } from 'vitest';
import { defaultRetry } from '../../src/core/controller-options.ts';
import type { ReconcileReport } from '../../src/reconciling/report.ts';
import type { Message } from '../../src/sqs/message.ts';
import type { QueueRecord } from '../../src/sqs/record.ts';
import { startWireServer } from '../kube/wire-server.ts';
import { asCommand, asRequeue, asResync, asRetry } from '../sqs/messages.ts';
import { done, failed, lastTry, postponed, record, requeued, settle, setUp, untilAborted } from './batch-harness.ts';

it.each<[string, ReconcileReport, Partial<Message>, 'timers' | 'water-tank-dlq.fifo']>([
  ['timer of a finished reconcile', requeued, {}, 'timers'],
  ['dead letter of a last attempt', failed(), lastTry, 'water-tank-dlq.fifo'],
])('a batch out of time still sends the %s', async (_, report, message, queue) => {
  const { runOutOfTime, queues } = setUp(async ({ signal }) => {
    await untilAborted(signal);
    return report;
  });
  expect(await runOutOfTime([record('late', message)])).toEqual([]);
  expect([...queues].map(([name, { length }]) => [name, length])).toEqual([[queue, 1]]);
});

it('a follow-up that SQS does not accept by the deadline keeps its message, names SQS in the log, and ends no process', async () => {
  const { run, seen, advance, lines, counts } = setUp(requeued);
  seen.sending = 'hanging';
  const finished = run([record('north')]);
  for (const milliseconds of [25_000, 1_000]) {
    await settle();
    advance(milliseconds);
  }
  expect(await finished).toEqual(['m-north']);
  expect(seen.died).toBe('');
  expect(lines.at(-1)).toMatchObject({
    message: 'message not deleted: its follow-up was rejected by SQS',
    fields: { reason: 'SQS did not respond before the deadline' },
  });
  expect(counts.has('ReconcileTimeouts')).toBe(false);
});

it('a reconcile that throws is a failure and no timeout, and only its message is received again', async () => {
  const { run, lines, counts, queues } = setUp(async ({ message: { name } }) => {
    if (name === 'north') throw new TypeError('undefined is no cluster');
    return done;
  });
  expect(await run([record('good'), record('north'), record('fine')])).toEqual(['m-north']);
  const failure = { message: 'reconcile failed unexpectedly', fields: { error: 'undefined is no cluster' } };
  expect(lines.find(({ level }) => level === 'error')).toMatchObject(failure);
  expect([...queues]).toEqual([]);
  expect([counts.get('ReconcilesFailed'), counts.get('ReconcileTimeouts')]).toEqual([1, undefined]);
});

it('a batch does not wait beyond its deadline for a clusters table that never responds', async () => {
  const { runOutOfTime, seen, lines } = setUp();
  seen.clusterAnswer = 'never';
  expect(await runOutOfTime([record('north')])).toEqual(['m-north']);
  expect(seen.died).toBe('');
  expect(lines).toMatchObject([{ fields: { error: 'the clusters table did not respond before the deadline' } }]);
});

it('a batch whose senders cannot be judged by its deadline ends with it', async () => {
  const admission = async () => await new Promise<never>(() => {});
  const { runOutOfTime } = setUp(done, { senders: { admission, explain: () => '', mayCopy: () => true } });
  await expect(runOutOfTime([record('north')])).rejects.toThrow('out of time');
});

it('keys of a cluster that has not responded at the deadline are postponed, and its breaker opens', async () => {
  const { run, seen, advance, timers, reconciled } = setUp(async ({ client, signal }) => {
    await client.request({ method: 'GET', path: '/', signal });
    return done;
  });
  // It never responds.
  const server = await startWireServer(() => {});
  seen.clusterAnswer = { type: 'client', client: server.client() };
  const names = ['a', 'b', 'c', 'd', 'e'];
  const finished = run(names.map((name) => record(name)));
  await expect.poll(() => server.arrived.length).toBe(names.length);
  advance(25_000);
  expect(await finished).toEqual([]);
  expect(timers()).toMatchObject(names.map((name) => ({ name, cause: { attempt: 0, postponements: 1 } })));
  expect(await run([record('f')])).toEqual([]);
  expect(reconciled).toEqual(names);
});

it('requests that the deadline aborts within a second neither postpone their keys nor open the breaker', async () => {
  const { run, seen, advance, timers, reconciled } = setUp(async ({ client, signal }) => {
    advance(24_500);
    await client.request({ method: 'GET', path: '/', signal });
    return done;
  });
  // It never responds.
  const server = await startWireServer(() => {});
  seen.clusterAnswer = { type: 'client', client: server.client() };
  const names = ['a', 'b', 'c', 'd', 'e', 'f'];
  for (const [index, name] of names.entries()) {
    const finished = run([record(name)]);
    await expect.poll(() => server.arrived.length).toBe(index + 1);
    advance(500);
    expect(await finished).toEqual([`m-${name}`]);
  }
  expect(timers()).toEqual([]);
  expect(reconciled).toEqual(names);
});

it('a deletion that hangs ends with the deadline, and the response deletes the messages', async () => {
  const { runOutOfTime, seen, advance } = setUp(async () => {
    advance(2_000);
    return done;
  });
  seen.deleting = false;
  expect(await runOutOfTime([record('a'), record('b')])).toEqual([]);
  expect(seen.died).toBe('');
});

it('a batch reverses the order of redelivered messages at every second receipt', async () => {
  const { run, reconciled } = setUp();
  const names = ['a', 'b', 'c', 'd'];
  for (const receipt of [2, 3]) await run(names.map((name) => record(name, {}, receipt)));
  expect(reconciled.slice(0, 4).toSorted()).toEqual(names);
  expect(reconciled.slice(4)).toEqual(reconciled.slice(0, 4).toReversed());
});

it('a batch runs redelivered messages after the others were deleted, the first one alone', async () => {
  const order: string[] = [];
  const { run, deleted } = setUp(async ({ message }) => {
    order.push(`${message.name} after ${deleted.join(' ')}`);
    return done;
  });
  expect(await run([record('p1', {}, 2), record('p2', {}, 3), record('a')])).toEqual([]);
  const lines = [
    ['a after ', 'p1 after r-a', 'p2 after r-a r-p1'],
    ['a after ', 'p2 after r-a', 'p1 after r-a r-p2'],
  ];
  expect(lines).toContainEqual(order);
});

it('a batch doubles the redelivered messages that it runs at a time, as after throttling all are redelivered', async () => {
  const together: number[] = [];
  let running = 0;
  const { run } = setUp(async () => {
    running += 1;
    await settle();
    together.push(running);
    await settle();
    running -= 1;
    return done;
  });
  const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j'];
  await run(names.map((name) => record(name, {}, 12)));
  expect(together).toEqual([1, 2, 2, 4, 4, 4, 4, 3, 3, 3]);
});

it('redelivered messages that no time is left for are returned as at their first receipt', async () => {
  const { runOutOfTime, reconciled, returned } = setUp(async ({ signal }) => {
    await untilAborted(signal);
    throw signal.reason;
  });
  const records = ['a', 'b', 'c'].map((name) => record(name, {}, 12));
  expect(await runOutOfTime(records)).toEqual(['m-a', 'm-b', 'm-c']);
  expect(reconciled).toHaveLength(1);
  const handles = returned.map(({ receiptHandle }) => receiptHandle);
  expect([...handles, ...reconciled.map((name) => `r-${name}`)].toSorted()).toEqual(['r-a', 'r-b', 'r-c']);
  expect(returned.map(({ receiveCount }) => receiveCount)).toEqual([1, 1]);
});

// Of four: waves of one, two and one. The last begins after 13.5 s, and the longest took nine.
it.each([
  ['are returned when less time is left than the one before them took', 13_000, ['a', 'b', 'c'], 2, 1],
  ['run when more time is left than a wave of them took, however long it ran', 4_500, ['a', 'b', 'c', 'd'], 0, 4],
])('redelivered messages %s', async (_, tookMs, names, kept, count) => {
  const { run, advance, reconciled, returned } = setUp(async () => {
    advance(tookMs);
    return done;
  });
  expect(await run(names.map((name) => record(name, {}, 12)))).toHaveLength(kept);
  expect(reconciled).toHaveLength(count);
  expect(returned.map(({ receiveCount }) => receiveCount)).toEqual(Array(kept).fill(1));
});

it.each([
  'the table is unavailable',
  'cluster "a": ca missing',
])('a failing cluster lookup postpones each key without an attempt, and the fifth in a row opens the breaker: %s', async (message) => {
  const { run, seen, timers, reconciled } = setUp();
  seen.clusterAnswer = new Error(message);
  for (const name of ['1', '2', '3', '4', '5']) await run([record(name, asRetry({ attempt: 2 }))]);
  seen.clusterAnswer = undefined;
  await run([record('6', asRetry({ attempt: 2 }))]);
  expect(timers()).toMatchObject(Array(6).fill({ cause: { type: 'retry', attempt: 2, postponements: 1 } }));
  expect(reconciled).toEqual([]);
});

it('an object that may be gone is a dead letter with the object, and a retry, or its message stays', async () => {
  const reason = 'not finalized, and possibly deleted: u';
  const orphan = { uid: 'u', reason, object: '{"metadata":{"name":"late","uid":"u"}}' };
  const outcome = { type: 'postponed', reason: 'unreachable', error: new Error('no') } as const;
  const { run, deadLetters, timers, seen, returned } = setUp({ outcome, orphan, writes: 2 });
  expect(await run([record('late')])).toEqual([]);
  expect(deadLetters()).toMatchObject([{ attributes: { reason, object: orphan.object } }]);
  expect(timers()).toHaveLength(1);
  seen.rejecting = 'water-tank-dlq.fifo';
  expect(await run([record('later')])).toEqual(['m-later']);
  expect(returned).toMatchObject([{ receiptHandle: 'r-later' }]);
});

it('a conflict that lasts is postponed five times, however long an outage was before, then costs attempts, and is a dead letter in the end', async () => {
  const error = new Error('409 Conflict by a webhook');
  const { run, counts, timers, deadLetters } = setUp(postponed('conflict', error));
  const at = (attempt: number, conflicts: number) => asRetry({ attempt, postponements: conflicts, conflicts });
  const last = at(defaultRetry.attempts - 1, 5);
  const afterOutage = record('outage', asRetry({ postponements: 14 }));
  await run([record('first', at(3, 4)), record('sixth', at(3, 5)), record('last', last), afterOutage]);
  expect(timers()).toMatchObject([
    { name: 'first', cause: { type: 'retry', attempt: 3, postponements: 5, conflicts: 5 } },
    { name: 'sixth', cause: { type: 'retry', attempt: 4, postponements: 0 } },
    { name: 'outage', cause: { type: 'retry', attempt: 0, postponements: 15, conflicts: 1 } },
  ]);
  expect(deadLetters()).toMatchObject([{ attributes: { error: error.message } }]);
  // The alarm of missed changes stays on.
  expect(counts.has('ClusterPostponements')).toBe(false);
});

it.each([
  ['without a message', new Error(''), 'Error'],
  ['whose message is blank', new TypeError(' \n'), 'TypeError'],
])('a dead letter of an error %s has a value in every attribute, as SQS requires', async (_, error, attribute) => {
  const { run, deadLetters } = setUp(failed(error));
  expect(await run([record('north', lastTry)])).toEqual([]);
  expect(deadLetters()).toMatchObject([{ attributes: { error: attribute } }]);
});

it('a dead letter is counted when SQS accepts it, and a rejection is logged', async () => {
  const { run, seen, counts, lines } = setUp(failed());
  seen.sending = false;
  const last = [record('north', lastTry)];
  expect(await run(last)).toEqual(['m-north']);
  expect(counts.get('DeadLetters') ?? 0).toBe(0);
  expect(lines.some(({ fields }) => JSON.stringify(fields).includes('queue is unavailable'))).toBe(true);
  seen.sending = true;
  expect(await run(last)).toEqual([]);
  expect(counts.get('DeadLetters')).toBe(1);
});

const drifted: ReconcileReport = { ...done, writes: 1, observedBefore: true };
const [resync, change] = [record('north', asResync()), { ...record('north'), messageId: 'm2', receiptHandle: 'r2' }];
it.each<[string, number, string, ReconcileReport, readonly QueueRecord[]]>([
  ['DriftCorrected', 1, 'a resync that writes to an observed object', drifted, [resync]],
  ['DriftCorrected', 0, 'a resync that writes nothing', { ...drifted, writes: 0 }, [resync]],
  ['DriftCorrected', 0, 'a resync of an object not observed', { ...drifted, observedBefore: false }, [resync]],
  ['DriftCorrected', 0, 'a change', drifted, [change]],
  ['DriftCorrected', 0, 'a resync that was merged with a change', drifted, [resync, change]],
  ['ReconcileLatency', 1, 'a change', done, [change]],
  ['ReconcileLatency', 1, 'a retry', done, [record('north', asRetry())]],
  ['ReconcileLatency', 0, 'a requeue', done, [record('north', asRequeue())]],
  ['ReconcileLatency', 0, 'a resync', done, [resync]],
  ['ReconcileLatency', 0, 'a command', done, [record('north', asCommand())]],
  ['ApplyNoops', 2, 'applies that changed nothing', { ...done, noops: 2 }, [change]],
])('%s counts %i for %s', async (metric, counted, _, report, records) => {
  const { run, counts } = setUp(report);
  expect(await run(records)).toEqual([]);
  expect([counts.get(metric) ?? 0, counts.get('ReconcilesDone')]).toEqual([counted, 1]);
});

it('while the clusters table cannot be read, metrics have the cluster of a message only if the table had it', async () => {
  const { run, seen, clusters } = setUp();
  seen.clusterAnswer = new Error('unavailable');
  await run(['a', 'x', 'y'].map((cluster) => record(cluster, { cluster })));
  expect([...clusters]).toEqual(['a', 'not known']);
});
