// How a batch ends when something around it fails: time, the clusters table, SQS, the function itself. And what it counts.
import { describe, expect, it } from 'vitest';
import { maxAttempts } from '../../src/core/backoff.ts';
import { parseMessage } from '../../src/queue/message.ts';
import type { Job, Report } from '../../src/runtime/job.ts';
import { done, record, setUp } from './batch-harness.ts';

const failed = (error: Error): Report => ({ outcome: { type: 'failed', error, stalledBefore: false }, writes: 0 });
const whenAborted = ({ signal }: Job) =>
  new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));

describe('a batch that is out of time', () => {
  it('still sends the timer of an outcome that is known', async () => {
    const { run, queues, advance } = setUp(async (job) => {
      queueMicrotask(() => advance(25_000));
      await whenAborted(job);
      return { outcome: { type: 'done', requeueAfterSeconds: 5 }, writes: 0 };
    });
    expect(await run([record('late')])).toEqual([]);
    expect(queues.get('timers')).toHaveLength(1);
  });

  it('still buries what had its last attempt', async () => {
    const { run, queues, advance } = setUp(async (job) => {
      queueMicrotask(() => advance(25_000));
      await whenAborted(job);
      return failed(new Error('no'));
    });
    expect(await run([record('late', { attempt: maxAttempts - 1 })])).toEqual([]);
    expect(queues.get('water-tank-dlq.fifo')).toHaveLength(1);
  });

  it('does not wait for a clusters table that never answers', async () => {
    const { run, seen, advance } = setUp(async () => done);
    seen.clusterAnswer = 'never';
    const running = run([record('north')]);
    await Promise.resolve();
    advance(25_000);
    expect(await running).toEqual(['m-north']);
    expect(seen.died).toBe('');
  });
});

describe('a deletion that never answers', () => {
  it('ends with the deadline, and harms nobody: the answer deletes as well', async () => {
    const { run, seen, advance } = setUp(async () => {
      advance(2_000);
      return done;
    });
    seen.deleting = false;
    const running = run([record('a'), record('b')]);
    for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
    advance(25_000);
    expect(await running).toEqual([]);
    expect(seen.died).toBe('');
  });
});

describe('a batch that lasts', () => {
  it('deletes after a second what was done before, though nothing else ends', async () => {
    const { run, deleted, advance, seen } = setUp(({ message }) =>
      message.name === 'deaf' ? new Promise(() => {}) : Promise.resolve(done),
    );
    const ended = expect(run([record('quick'), record('deaf')])).rejects.toThrow('ignored its signal');
    await expect
      .poll(() => {
        advance(250);
        return deleted;
      })
      .toEqual(['r-quick']);
    expect(seen.died).toBe('');
    await expect
      .poll(() => {
        advance(5_000);
        return seen.died;
      })
      .not.toBe('');
    await ended;
  });

  it('runs those that were received before from the other end at every second receipt, so that none is always behind the same', async () => {
    const order: string[] = [];
    const { run } = setUp(async ({ message }) => {
      order.push(message.name);
      return done;
    });
    const names = ['a', 'b', 'c', 'd'];
    await run(names.map((name) => record(name, {}, 2)));
    const there = order.splice(0);
    await run(names.map((name) => record(name, {}, 3)));
    expect(there.toSorted()).toEqual(names);
    expect(order).toEqual(there.toReversed());
  });

  it('runs what was received before one by one, each after those before it are deleted', async () => {
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
});

describe('a way to a cluster that is lost', () => {
  it.each(['the table is away', 'cluster "a": ca missing'])('puts the key off without an attempt: %s', async (said) => {
    const { run, seen, queues } = setUp(async () => done);
    seen.clusterAnswer = new Error(said);
    expect(await run([record('north', { attempt: 2 })])).toEqual([]);
    const next = parseMessage(queues.get('timers')?.[0]?.body ?? '');
    expect(next).toMatchObject({ lane: 'retry', attempt: 2, deferrals: 1 });
  });

  it('is left alone after five failures in a row', async () => {
    let asked = 0;
    const { run, seen } = setUp(async () => {
      asked += 1;
      return done;
    });
    seen.clusterAnswer = new Error('away');
    for (const name of ['1', '2', '3', '4', '5']) await run([record(name)]);
    seen.clusterAnswer = undefined;
    await run([record('6')]);
    expect(asked).toBe(0);
  });
});

describe('a dead letter', () => {
  it.each([
    ['without a message', new Error(''), 'Error'],
    ['whose message is blank', new TypeError(' \n'), 'TypeError'],
  ])('of an error %s has a value in every attribute, as SQS demands', async (_, error, said) => {
    const { run, queues } = setUp(async () => failed(error));
    expect(await run([record('north', { attempt: maxAttempts - 1 })])).toEqual([]);
    expect(queues.get('water-tank-dlq.fifo')?.[0]?.attributes?.error).toBe(said);
  });

  it('is counted when it is one, and the log says why it is not', async () => {
    const { run, seen, counts, lines } = setUp(async () => failed(new Error('no')));
    seen.sending = false;
    const last = [record('north', { attempt: maxAttempts - 1 })];
    expect(await run(last)).toEqual(['m-north']);
    expect(counts.get('DeadLetters') ?? 0).toBe(0);
    expect(lines.some(({ fields }) => JSON.stringify(fields).includes('queue is away'))).toBe(true);
    seen.sending = true;
    expect(await run(last)).toEqual([]);
    expect(counts.get('DeadLetters')).toBe(1);
  });

  it('of an unknown cluster is in the log', async () => {
    const { run, seen, lines } = setUp(async () => done);
    seen.clusterAnswer = { type: 'unknown' };
    await run([record('north')]);
    expect(lines).toMatchObject([{ level: 'error', fields: { reason: 'unknown cluster a' } }]);
  });
});

describe('what is counted', () => {
  const repairs = async (report: Partial<Report>, lane: 'resync' | 'watch' = 'resync') => {
    const { run, counts } = setUp(async () => ({ ...done, ...report }));
    await run([record('north', { lane, run: 'r' })]);
    return counts.get('Repaired') ?? 0;
  };

  it('a resync that had to change what had been observed is a repair, and nothing else is', async () => {
    expect(await repairs({ writes: 1, observedBefore: true })).toBe(1);
    expect(await repairs({ writes: 0, observedBefore: true })).toBe(0);
    expect(await repairs({ writes: 1, observedBefore: false })).toBe(0);
    expect(await repairs({ writes: 1, observedBefore: true }, 'watch')).toBe(0);
  });

  it('a message of the watch and one of the resync are no repair together', async () => {
    const { run, counts } = setUp(async () => ({ ...done, writes: 1, observedBefore: true }));
    const resync = record('north', { lane: 'resync', run: 'r' });
    expect(await run([resync, { ...record('north'), messageId: 'm2', receiptHandle: 'r2' }])).toEqual([]);
    expect(counts.get('Repaired') ?? 0).toBe(0);
  });

  it.each([
    ['watch', 1],
    ['retry', 1],
    ['requeue', 0],
    ['resync', 0],
    ['replay', 0],
  ] as const)('on the %s lane a status that follows a change has a lag, what comes by itself has none', async (lane, lags) => {
    const { run, counts } = setUp(async () => done);
    await run([record('north', { lane, ...(lane === 'resync' ? { run: 'r' } : {}) })]);
    expect(counts.get('ReconcilesDone')).toBe(1);
    expect(counts.get('LagMilliseconds') ?? 0).toBe(lags);
  });

  it('applies that changed nothing are counted', async () => {
    const { run, counts } = setUp(async () => ({ ...done, noops: 2 }));
    await run([record('north')]);
    expect(counts.get('ApplyNoops')).toBe(2);
  });
});
