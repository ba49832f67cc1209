// How a batch ends when time runs out, the clusters table or SQS fails, or the function crashes. Also its metrics.
import { describe, expect, it } from 'vitest';
import { defaultRetry } from '../../src/core/controller-options.ts';
import type { ReconcileInput, ReconcileReport } from '../../src/reconciling/report.ts';
import { type Message, parseMessage } from '../../src/sqs/message.ts';
import { asChange, asCommand, asRequeue, asResync, asRetry } from '../sqs/messages.ts';
import { done, record, setUp } from './batch-harness.ts';

const failed = (error: Error): ReconcileReport => ({
  outcome: { type: 'failed', error, stalledBefore: false },
  writes: 0,
});
const whenAborted = ({ signal }: ReconcileInput) =>
  new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));

describe('createBatch, out of time', () => {
  it('a batch out of time still sends the timer of a finished reconcile', async () => {
    const { run, queues, advance } = setUp(async (input) => {
      queueMicrotask(() => advance(25_000));
      await whenAborted(input);
      return { outcome: { type: 'done', requeueAfterSeconds: 5 }, writes: 0 };
    });
    expect(await run([record('late')])).toEqual([]);
    expect(queues.get('timers')).toHaveLength(1);
  });

  it('a batch out of time still sends the dead letter of a last attempt', async () => {
    const { run, queues, advance } = setUp(async (input) => {
      queueMicrotask(() => advance(25_000));
      await whenAborted(input);
      return failed(new Error('no'));
    });
    expect(await run([record('late', asRetry({ attempt: defaultRetry.attempts - 1 }))])).toEqual([]);
    expect(queues.get('water-tank-dlq.fifo')).toHaveLength(1);
  });

  it('an object that may be gone is a dead letter with the object, and a retry', async () => {
    const error = new Error('not finalized, and possibly deleted: u');
    const orphan = '{"metadata":{"name":"late","uid":"u"}}';
    const { run, queues, seen, returned } = setUp(async () => {
      return { outcome: { type: 'postponed', reason: 'unreachable', error, orphan }, writes: 2 };
    });
    expect(await run([record('late')])).toEqual([]);
    const [letter] = queues.get('water-tank-dlq.fifo') ?? [];
    expect(letter?.attributes).toMatchObject({ reason: error.message, object: orphan });
    expect(queues.get('timers')).toHaveLength(1);
    seen.sending = false;
    expect(await run([record('other')])).toEqual(['m-other']);
    expect(returned).toEqual(['r-other']);
  });

  it('a conflict that lasts is postponed five times, then costs attempts, and is a dead letter in the end', async () => {
    const error = new Error('409 Conflict by a webhook');
    const { run, queues } = setUp(async () => ({
      ...{ outcome: { type: 'postponed', reason: 'conflict', error }, foundUid: 'u', writes: 0 },
    }));
    const attempts = defaultRetry.attempts - 1;
    const at = (attempt: number, postponements: number) => asRetry({ attempt, postponements });
    await run([record('first', at(3, 4)), record('sixth', at(3, 5)), record('last', at(attempts, 5))]);
    expect(queues.get('timers')?.map(({ body }) => parseMessage(body))).toMatchObject([
      { name: 'first', cause: { type: 'retry', attempt: 3, postponements: 5 } },
      { name: 'sixth', cause: { type: 'retry', attempt: 4, postponements: 0 } },
    ]);
    const letters = queues.get('water-tank-dlq.fifo') ?? [];
    expect(letters.map(({ attributes }) => attributes?.error)).toEqual([error.message]);
  });

  it('a batch does not wait beyond its deadline for a clusters table that never responds', async () => {
    const { run, seen, advance } = setUp(async () => done);
    seen.clusterAnswer = 'never';
    const finished = run([record('north')]);
    await Promise.resolve();
    advance(25_000);
    expect(await finished).toEqual(['m-north']);
    expect(seen.died).toBe('');
  });
});

describe('createBatch, with a deletion that hangs', () => {
  it('a deletion that hangs ends with the deadline, and the response deletes the messages', async () => {
    const { run, seen, advance } = setUp(async () => {
      advance(2_000);
      return done;
    });
    seen.deleting = false;
    const finished = run([record('a'), record('b')]);
    for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
    advance(25_000);
    expect(await finished).toEqual([]);
    expect(seen.died).toBe('');
  });
});

describe('createBatch, with long reconciles and redeliveries', () => {
  it('a batch deletes finished messages after one second, even if no other reconcile ends', async () => {
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

  it('a batch reverses the order of redelivered messages at every second receipt', async () => {
    const order: string[] = [];
    const { run } = setUp(async ({ message }) => {
      order.push(message.name);
      return done;
    });
    const names = ['a', 'b', 'c', 'd'];
    await run(names.map((name) => record(name, {}, 2)));
    const first = order.splice(0);
    await run(names.map((name) => record(name, {}, 3)));
    expect(first.toSorted()).toEqual(names);
    expect(order).toEqual(first.toReversed());
  });

  it('a batch runs redelivered messages one by one, each after the finished ones were deleted', async () => {
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

describe('createBatch, with a failing cluster lookup', () => {
  it.each([
    'the table is unavailable',
    'cluster "a": ca missing',
  ])('a failing cluster lookup postpones the key without an attempt: %s', async (message) => {
    const { run, seen, queues } = setUp(async () => done);
    seen.clusterAnswer = new Error(message);
    expect(await run([record('north', asRetry({ attempt: 2 }))])).toEqual([]);
    const next = parseMessage(queues.get('timers')?.[0]?.body ?? '');
    expect(next).toMatchObject({ cause: { type: 'retry', attempt: 2, postponements: 1 } });
  });

  it('a cluster is not called after five failing lookups in a row', async () => {
    let reconciles = 0;
    const { run, seen } = setUp(async () => {
      reconciles += 1;
      return done;
    });
    seen.clusterAnswer = new Error('unavailable');
    for (const name of ['1', '2', '3', '4', '5']) await run([record(name)]);
    seen.clusterAnswer = undefined;
    await run([record('6')]);
    expect(reconciles).toBe(0);
  });
});

describe('createBatch, dead letters', () => {
  it.each([
    ['without a message', new Error(''), 'Error'],
    ['whose message is blank', new TypeError(' \n'), 'TypeError'],
  ])('a dead letter of an error %s has a value in every attribute, as SQS requires', async (_, error, attribute) => {
    const { run, queues } = setUp(async () => failed(error));
    expect(await run([record('north', asRetry({ attempt: defaultRetry.attempts - 1 }))])).toEqual([]);
    expect(queues.get('water-tank-dlq.fifo')?.[0]?.attributes?.error).toBe(attribute);
  });

  it('a dead letter is counted when SQS accepts it, and a rejection is logged', async () => {
    const { run, seen, counts, lines } = setUp(async () => failed(new Error('no')));
    seen.sending = false;
    const last = [record('north', asRetry({ attempt: defaultRetry.attempts - 1 }))];
    expect(await run(last)).toEqual(['m-north']);
    expect(counts.get('DeadLetters') ?? 0).toBe(0);
    expect(lines.some(({ fields }) => JSON.stringify(fields).includes('queue is unavailable'))).toBe(true);
    seen.sending = true;
    expect(await run(last)).toEqual([]);
    expect(counts.get('DeadLetters')).toBe(1);
  });

  it('a dead letter of an unknown cluster is logged', async () => {
    const { run, seen, lines } = setUp(async () => done);
    seen.clusterAnswer = { type: 'unknown' };
    await run([record('north')]);
    expect(lines).toMatchObject([{ level: 'error', fields: { reason: 'unknown cluster a' } }]);
  });
});

describe('createBatch, metrics', () => {
  const driftOf = async (report: Partial<ReconcileReport>, cause: Pick<Message, 'cause'> = asResync()) => {
    const { run, counts } = setUp(async () => ({ ...done, ...report }));
    await run([record('north', cause)]);
    return counts.get('DriftCorrected') ?? 0;
  };

  it('DriftCorrected counts a resync that writes to an observed object, and nothing else', async () => {
    expect(await driftOf({ writes: 1, observedBefore: true })).toBe(1);
    expect(await driftOf({ writes: 0, observedBefore: true })).toBe(0);
    expect(await driftOf({ writes: 1, observedBefore: false })).toBe(0);
    expect(await driftOf({ writes: 1, observedBefore: true }, asChange())).toBe(0);
  });

  it('DriftCorrected does not count a resync that was merged with a change', async () => {
    const { run, counts } = setUp(async () => ({ ...done, writes: 1, observedBefore: true }));
    const resync = record('north', asResync());
    expect(await run([resync, { ...record('north'), messageId: 'm2', receiptHandle: 'r2' }])).toEqual([]);
    expect(counts.get('DriftCorrected') ?? 0).toBe(0);
  });

  it.each([
    ['change', asChange(), 1],
    ['retry', asRetry(), 1],
    ['requeue', asRequeue(), 0],
    ['resync', asResync(), 0],
    ['command', asCommand(), 0],
  ] as const)('ReconcileLatency is measured only for changes and their retries: %s', async (_, cause, measured) => {
    const { run, counts } = setUp(async () => done);
    await run([record('north', cause)]);
    expect(counts.get('ReconcilesDone')).toBe(1);
    expect(counts.get('ReconcileLatency') ?? 0).toBe(measured);
  });

  it('ApplyNoops counts applies that changed nothing', async () => {
    const { run, counts } = setUp(async () => ({ ...done, noops: 2 }));
    await run([record('north')]);
    expect(counts.get('ApplyNoops')).toBe(2);
  });
});
