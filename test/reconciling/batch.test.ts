// Only the batch: from records to the messages on the queues and the messages that stay. The reconciles are given; the
// reconcile itself is in reconcile.test.ts.
import { beforeEach, describe, expect, it } from 'vitest';
import { defaultRetry } from '../../src/core/controller-options.ts';
import { toError } from '../../src/core/errors.ts';
import { createClient, type KubeClient } from '../../src/kube/client/client.ts';
import { DeadlineError } from '../../src/kube/client/errors.ts';
import type { ReconcileReport } from '../../src/reconciling/report.ts';
import { formatMessage, type Message, parseMessage } from '../../src/sqs/message.ts';
import { asRetry } from '../sqs/messages.ts';
import { done, messageFor, record, setUp } from './batch-harness.ts';

describe('createBatch', () => {
  let reconciled: string[];
  beforeEach(() => {
    reconciled = [];
  });

  it('a reconcile that throws keeps only its own message on the queue', async () => {
    const { run, queues } = setUp(async ({ message }) => {
      if (message.name === 'bad') throw new Error('unexpected');
      return done;
    });
    expect(await run([record('good'), record('bad'), record('fine')])).toEqual(['m-bad']);
    expect([...queues]).toEqual([]);
  });

  it('duplicates of a key are reconciled once and deleted together', async () => {
    const { run } = setUp(async ({ message }) => {
      reconciled.push(message.name);
      return done;
    });
    const twice = [record('north'), { ...record('north'), messageId: 'm2', receiptHandle: 'r2' }];
    expect(await run(twice)).toEqual([]);
    expect(reconciled).toEqual(['north']);
  });

  it.each<[string, ReconcileReport, Partial<Message>]>([
    ['timer', { outcome: { type: 'done', requeueAfterSeconds: 5 }, writes: 0 }, {}],
    ['retry', { outcome: { type: 'failed', error: new Error('no'), stalledBefore: false }, writes: 0 }, {}],
    ['postponement', { outcome: { type: 'postponed', reason: 'unreachable', error: new Error('') }, writes: 0 }, {}],
    [
      'dead letter',
      { outcome: { type: 'failed', error: new Error('no'), stalledBefore: false }, writes: 0 },
      asRetry({ attempt: defaultRetry.attempts - 1 }),
    ],
  ])('a message stays on the queue, and is returned early, if its %s cannot be sent', async (_, report, message) => {
    const { run, seen, returned } = setUp(async () => report);
    seen.sending = false;
    expect(await run([record('north', message)])).toEqual(['m-north']);
    expect(returned).toEqual(['r-north']);
  });

  it('a message of an unknown cluster is returned early if its dead letter cannot be sent', async () => {
    const { run, seen, returned } = setUp(async () => done);
    seen.clusterAnswer = { type: 'unknown' };
    seen.sending = false;
    expect(await run([record('north')])).toEqual(['m-north']);
    expect(returned).toEqual(['r-north']);
  });

  it('a message whose reconcile was aborted or may still be running keeps its visibility timeout', async () => {
    const { run, advance, returned, seen } = setUp(
      async ({ signal, message: { name } }) =>
        await new Promise((_, reject) => {
          if (name === 'aborted') signal.addEventListener('abort', () => reject(signal.reason));
        }),
    );
    const aborted = run([record('aborted')]);
    await new Promise(setImmediate);
    advance(25_000);
    expect(await aborted).toEqual(['m-aborted']);
    const hung = run([record('hung')]).catch(() => 'exited');
    await new Promise(setImmediate);
    advance(25_000);
    await new Promise(setImmediate);
    advance(1_000);
    await new Promise(setImmediate);
    advance(1_000);
    expect(await hung).toBe('exited');
    expect(seen.died).toContain('ignored its signal');
    expect(returned).toEqual([]);
  });

  it('a message whose reconcile ended after its deadline keeps its visibility timeout', async () => {
    const { run, advance, returned, seen } = setUp(
      async ({ signal }) =>
        await new Promise((resolve) => {
          signal.addEventListener('abort', () =>
            resolve({ outcome: { type: 'done', requeueAfterSeconds: 5 }, writes: 0 }),
          );
        }),
    );
    seen.sending = false;
    const late = run([record('late')]);
    await new Promise(setImmediate);
    advance(25_000);
    expect(await late).toEqual(['m-late']);
    expect(returned).toEqual([]);
  });

  it('a requeue is sent to the timers queue before its message is deleted', async () => {
    const { run, queues } = setUp(async () => ({ outcome: { type: 'done', requeueAfterSeconds: 5 }, writes: 0 }));
    expect(await run([record('north')])).toEqual([]);
    const [entry] = queues.get('timers') ?? [];
    expect(parseMessage(entry?.body ?? '')).toMatchObject({ name: 'north', cause: { type: 'requeue' } });
  });

  it('the log line of a reconcile counts its requests, those that failed as well', async () => {
    const { run, lines } = setUp(async ({ client, message: { name } }) => {
      const request = async () => await client.request({ method: 'GET', path: '/version' }).catch(() => undefined);
      if (name === 'south') return done;
      await Promise.all([request(), request()]);
      return done;
    });
    await run([record('north'), record('south')]);
    const counted = lines.map(({ fields }) => ('requests' in fields ? fields.requests : undefined));
    expect(counted.sort()).toEqual([0, 2]);
  });

  it('a malformed body becomes a dead letter with the reason, unchanged, and is not reconciled', async () => {
    const { run, queues } = setUp(async ({ message }) => {
      reconciled.push(message.name);
      return done;
    });
    const bad = { ...record('x'), body: formatMessage(messageFor('x')).replace('"x"', '"../x"') };
    expect(await run([bad, record('good')])).toEqual([]);
    const [deadLetter] = queues.get('water-tank-dlq.fifo') ?? [];
    expect(deadLetter?.body).toBe(bad.body);
    expect(deadLetter?.attributes?.reason).toContain('object.3');
    expect(reconciled).toEqual(['good']);
  });

  it('a malformed body stays on the queue if the dead-letter queue is unavailable', async () => {
    const { run, seen, returned } = setUp(async () => done);
    seen.sending = false;
    expect(await run([{ ...record('x'), body: 'hello' }])).toEqual(['m-x']);
    expect(returned).toEqual(['r-x']);
  });

  it('a message of an unknown cluster becomes a dead letter with the reason', async () => {
    const { run, seen, queues } = setUp(async () => done);
    seen.clusterAnswer = { type: 'unknown' };
    expect(await run([record('north')])).toEqual([]);
    expect(queues.get('water-tank-dlq.fifo')?.[0]?.attributes?.reason).toBe('unknown cluster a');
  });

  it('a message of a cluster that is being decommissioned is deleted', async () => {
    const { run, seen, queues } = setUp(async () => done);
    seen.clusterAnswer = { type: 'decommissioning' };
    expect(await run([record('north')])).toEqual([]);
    expect([...queues]).toEqual([]);
  });

  it('a failed last attempt becomes a dead letter with the error, without credentials', async () => {
    const error = new Error('refused: token=abc123secret');
    const { run, queues } = setUp(async () => ({
      outcome: { type: 'failed', error, stalledBefore: false },
      writes: 0,
    }));
    expect(await run([record('north', asRetry({ attempt: defaultRetry.attempts - 1 }))])).toEqual([]);
    const [deadLetter] = queues.get('water-tank-dlq.fifo') ?? [];
    expect(deadLetter?.attributes?.error).toContain('refused');
    expect(deadLetter?.attributes?.attempts).toBe('10');
    expect(JSON.stringify(deadLetter?.attributes)).not.toContain('abc123secret');
  });

  it('a key of a controller with 20 attempts is retried after the 13th, and is a dead letter after the 20th', async () => {
    const failed: ReconcileReport = {
      outcome: { type: 'failed', error: new Error('no'), stalledBefore: false },
      writes: 0,
    };
    const { run, queues } = setUp(async () => failed, { retry: { ...defaultRetry, attempts: 20 } });
    const records = [record('thirteenth', asRetry({ attempt: 12 })), record('last', asRetry({ attempt: 19 }))];
    expect(await run(records)).toEqual([]);
    expect((queues.get('timers') ?? []).map(({ body }) => parseMessage(body))).toMatchObject([
      { name: 'thirteenth', cause: { attempt: 13 } },
    ]);
    expect(queues.get('water-tank-dlq.fifo')).toMatchObject([{ attributes: { attempts: '20' } }]);
  });

  it('a message of a kind that the controller does not declare is a dead letter, and no reconcile runs for it', async () => {
    const reconciled: string[] = [];
    const { run, queues } = setUp(
      async ({ message }) => {
        reconciled.push(message.resource);
        return done;
      },
      { declares: ({ resource }) => resource === 'watertanks' },
    );
    expect(await run([record('north', { resource: 'secrets', group: '' }), record('south')])).toEqual([]);
    expect(reconciled).toEqual(['watertanks']);
    expect(queues.get('water-tank-dlq.fifo')).toMatchObject([
      { attributes: { reason: 'water-tank declares no secrets.' } },
    ]);
  });

  it('a message of a Stalled object gets one attempt, without a retry or another dead letter', async () => {
    const error = new Error('no');
    const { run, queues } = setUp(async () => ({ outcome: { type: 'failed', error, stalledBefore: true }, writes: 0 }));
    expect(await run([record('north')])).toEqual([]);
    expect([...queues]).toEqual([]);
  });

  it('in a batch of more than a second, finished messages are deleted at once', async () => {
    let finish = () => {};
    const slow = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const { run, deleted, advance } = setUp(async ({ message }) => {
      if (message.name === 'slow') await slow;
      else advance(1_500);
      return done;
    });
    const finished = run([record('slow'), record('quick')]);
    await expect.poll(() => deleted).toEqual(['r-quick']);
    finish();
    expect(await finished).toEqual([]);
  });

  it('a reconcile that obeys its signal keeps its message, and the others are deleted', async () => {
    const { run, advance } = setUp(
      ({ message, signal }) =>
        new Promise((resolve, reject) => {
          if (message.name !== 'slow') return resolve(done);
          signal.addEventListener('abort', () => reject(new Error('aborted')));
          queueMicrotask(() => advance(25_000));
        }),
    );
    expect(await run([record('slow'), record('quick')])).toEqual(['m-slow']);
  });

  it('a reconcile that ignores its signal ends the process, after the finished messages were deleted', async () => {
    const { run, advance, seen, deleted } = setUp(({ message }) =>
      message.name === 'deaf' ? new Promise(() => {}) : Promise.resolve(done),
    );
    const ended = expect(run([record('deaf'), record('quick')])).rejects.toThrow('ignored its signal');
    await Promise.resolve();
    advance(25_000);
    const exitReason = () => {
      advance(1_000);
      return seen.died;
    };
    await expect.poll(exitReason).toContain('ignored its signal');
    await ended;
    expect(deleted).toEqual(['r-quick']);
  });

  it('after five failures in a row a cluster is not called, and each key is postponed without an attempt', async () => {
    const error = new Error('connect');
    const { run, queues } = setUp(async ({ message }) => {
      reconciled.push(message.name);
      return { outcome: { type: 'postponed', reason: 'unreachable', error }, writes: 0 };
    });
    for (const name of ['1', '2', '3', '4', '5', '6', '7']) expect(await run([record(name)])).toEqual([]);
    expect(reconciled).toEqual(['1', '2', '3', '4', '5']);
    expect(queues.get('timers')).toHaveLength(7);
    expect(parseMessage(queues.get('timers')?.at(-1)?.body ?? '')).toMatchObject({
      cause: { type: 'retry', attempt: 0, postponements: 1 },
    });
  });

  it('no key of a paused cluster is reconciled or lost: each is postponed without an attempt, and the breaker stays closed', async () => {
    const { run, queues, seen, counts, deleted } = setUp(async ({ message }) => {
      reconciled.push(message.name);
      return done;
    });
    const connect = async () => await Promise.reject(new Error('a paused cluster is not called'));
    seen.clusterAnswer = { type: 'paused', connect };
    const names = ['1', '2', '3', '4', '5', '6', '7'];
    for (const name of names) expect(await run([record(name)])).toEqual([]);
    expect(reconciled).toEqual([]);
    expect((queues.get('timers') ?? []).map(({ body }) => parseMessage(body))).toMatchObject(
      names.map((name) => ({ name, cause: { type: 'retry', attempt: 0, postponements: 1 } })),
    );
    expect([queues.has('water-tank-dlq.fifo'), deleted]).toEqual([false, []]);
    expect(counts.get('ReconcilesPostponed')).toBe(names.length);
    seen.clusterAnswer = undefined;
    await run([record('8')]);
    expect(reconciled).toEqual(['8']);
  });

  it('all keys of the first batch are reconciled after a cluster has recovered', async () => {
    let isDown = true;
    const { run, queues, advance } = setUp(async ({ message }) => {
      if (isDown)
        return { outcome: { type: 'postponed', reason: 'unreachable', error: new Error('connect') }, writes: 0 };
      reconciled.push(message.name);
      return done;
    });
    for (const name of ['1', '2', '3', '4', '5']) await run([record(name)]);
    isDown = false;
    advance(10_000);
    const batch = ['6', '7', '8', '9'];
    expect(await run(batch.map((name) => record(name)))).toEqual([]);
    expect(reconciled.sort()).toEqual(batch);
    expect(queues.get('timers')).toHaveLength(5);
  });

  it('a key of a slow cluster is postponed once, without a reconcile, and its retry has no time limit', async () => {
    const { run, seen, queues } = setUp(async ({ client, message }) => {
      const error = await client.request({ method: 'GET', path: `/${message.cluster}` }).catch(toError);
      if (error instanceof Error) return { outcome: { type: 'failed', error, stalledBefore: false }, writes: 0 };
      reconciled.push(`${message.cluster} ${message.cause.type}`);
      return done;
    });
    const cluster: KubeClient = {
      ...createClient({ server: new URL('http://127.0.0.1:1') }),
      request: async ({ path, timeoutSeconds = 60 }) => {
        if (path === '/slow' && timeoutSeconds < 2) throw new DeadlineError('no response yet');
        return { status: 200, body: {}, headers: {} };
      },
    };
    seen.clusterAnswer = { type: 'client', client: cluster };
    await run([record('quick', { cluster: 'fast' })]);
    expect(await run([record('first', { cluster: 'slow' })])).toEqual([]);
    const postponed = (queues.get('timers') ?? []).map(({ body }) => parseMessage(body));
    expect(postponed).toMatchObject([{ name: 'first', cause: { type: 'retry', attempt: 0, postponements: 0 } }]);
    expect(reconciled).toEqual(['fast change']);
    await run([record('first', { cluster: 'slow', ...asRetry() })]);
    expect(reconciled).toEqual(['fast change', 'slow retry']);
  });

  it('the keys of a cluster that is much slower than another are postponed for a while, without an attempt', async () => {
    const { run, seen, advance, queues } = setUp(async ({ client, message }) => {
      reconciled.push(message.name);
      await client.request({ method: 'GET', path: `/${message.cluster}` }).catch(() => undefined);
      return done;
    });
    const cluster: KubeClient = {
      ...createClient({ server: new URL('http://127.0.0.1:1') }),
      request: async ({ path }) => {
        advance(path === '/slow' ? 2_000 : 1);
        throw new Error('not found');
      },
    };
    seen.clusterAnswer = { type: 'client', client: cluster };
    for (const cluster of ['fast', 'slow', 'slow', 'slow', 'fast']) {
      expect(await run([record(cluster, { cluster })])).toEqual([]);
    }
    expect(reconciled).toEqual(['fast', 'slow', 'slow', 'fast']);
    const waiting = (queues.get('timers') ?? []).map(({ body }) => parseMessage(body));
    expect(waiting).toMatchObject([{ cluster: 'slow', cause: { type: 'retry', attempt: 0, postponements: 0 } }]);
  });
});
