// Only from records to what is on the queues and what stays: reconciles are given. The reconcile itself is reconcile.test.ts.
import { beforeEach, describe, expect, it } from 'vitest';
import { maxAttempts } from '../../src/core/backoff.ts';
import { toError } from '../../src/core/errors.ts';
import { createClient, type KubeClient } from '../../src/kube/client/client.ts';
import { DeadlineError } from '../../src/kube/client/errors.ts';
import { parseMessage } from '../../src/queue/message.ts';
import { done, messageFor, record, setUp } from './batch-harness.ts';

describe('a batch', () => {
  let reconciled: string[];
  beforeEach(() => {
    reconciled = [];
  });

  it('one that fails keeps only its own message', async () => {
    const { run, queues } = setUp(async ({ message }) => {
      if (message.name === 'bad') throw new Error('unexpected');
      return done;
    });
    expect(await run([record('good'), record('bad'), record('fine')])).toEqual(['m-bad']);
    expect([...queues]).toEqual([]);
  });

  it('duplicates of a key are reconciled once and go together', async () => {
    const { run } = setUp(async ({ message }) => {
      reconciled.push(message.name);
      return done;
    });
    const twice = [record('north'), { ...record('north'), messageId: 'm2', receiptHandle: 'r2' }];
    expect(await run(twice)).toEqual([]);
    expect(reconciled).toEqual(['north']);
  });

  it('a message is kept when what must follow it cannot be sent', async () => {
    const { run, seen } = setUp(async () => ({ outcome: { type: 'done', requeueAfterSeconds: 5 }, writes: 0 }));
    seen.sending = false;
    expect(await run([record('north')])).toEqual(['m-north']);
  });

  it('a requeue is on the timers queue before its message goes', async () => {
    const { run, queues } = setUp(async () => ({ outcome: { type: 'done', requeueAfterSeconds: 5 }, writes: 0 }));
    expect(await run([record('north')])).toEqual([]);
    const [entry] = queues.get('timers') ?? [];
    expect(parseMessage(entry?.body ?? '')).toMatchObject({ name: 'north', lane: 'requeue' });
  });

  it('a body that is not ours is a dead letter with its reason, unchanged, and reaches no API server', async () => {
    const { run, queues } = setUp(async ({ message }) => {
      reconciled.push(message.name);
      return done;
    });
    const bad = { ...record('x'), body: JSON.stringify({ ...messageFor('x'), name: '../x' }) };
    expect(await run([bad, record('good')])).toEqual([]);
    const [letter] = queues.get('water-tank-dlq.fifo') ?? [];
    expect(letter?.body).toBe(bad.body);
    expect(letter?.attributes?.reason).toContain('name');
    expect(reconciled).toEqual(['good']);
  });

  it('a body that is not ours stays when the dead-letter queue is away', async () => {
    const { run, seen } = setUp(async () => done);
    seen.sending = false;
    expect(await run([{ ...record('x'), body: 'hello' }])).toEqual(['m-x']);
  });

  it('an unknown cluster is a dead letter with the reason', async () => {
    const { run, seen, queues } = setUp(async () => done);
    seen.clusterAnswer = { type: 'unknown' };
    expect(await run([record('north')])).toEqual([]);
    expect(queues.get('water-tank-dlq.fifo')?.[0]?.attributes?.reason).toBe('unknown cluster a');
  });

  it('a message of a cluster that is being left is deleted', async () => {
    const { run, seen, queues } = setUp(async () => done);
    seen.clusterAnswer = { type: 'leaving' };
    expect(await run([record('north')])).toEqual([]);
    expect([...queues]).toEqual([]);
  });

  it('the last attempt leaves a dead letter with the error, without credentials', async () => {
    const error = new Error('refused: token=abc123secret');
    const { run, queues } = setUp(async () => ({
      outcome: { type: 'failed', error, stalledBefore: false },
      writes: 0,
    }));
    expect(await run([record('north', { attempt: maxAttempts - 1 })])).toEqual([]);
    const [letter] = queues.get('water-tank-dlq.fifo') ?? [];
    expect(letter?.attributes?.error).toContain('refused');
    expect(letter?.attributes?.attempts).toBe('10');
    expect(JSON.stringify(letter?.attributes)).not.toContain('abc123secret');
  });

  it('a message of an object that is Stalled already has one attempt: no retry, and no letter more', async () => {
    const error = new Error('no');
    const { run, queues } = setUp(async () => ({ outcome: { type: 'failed', error, stalledBefore: true }, writes: 0 }));
    expect(await run([record('north')])).toEqual([]);
    expect([...queues]).toEqual([]);
  });

  it('a record that was received before runs alone, after the others are done and deleted', async () => {
    const { run, deleted } = setUp(async ({ message }) => {
      reconciled.push(`${message.name} with ${deleted.length} deleted`);
      return done;
    });
    expect(await run([record('poison', {}, 2), record('a'), record('b')])).toEqual([]);
    expect(reconciled).toEqual(['a with 0 deleted', 'b with 0 deleted', 'poison with 2 deleted']);
  });

  it('in a batch longer than a second, what is finished is deleted at once', async () => {
    let finish = () => {};
    const slow = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const { run, deleted, advance } = setUp(async ({ message }) => {
      if (message.name === 'slow') await slow;
      else advance(1_500);
      return done;
    });
    const running = run([record('slow'), record('quick')]);
    await expect.poll(() => deleted).toEqual(['r-quick']);
    finish();
    expect(await running).toEqual([]);
  });

  it('a reconcile that heeds its signal keeps its message and harms no other', async () => {
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

  it('a reconcile that ignores its signal ends the process, after everything finished is deleted', async () => {
    const { run, advance, seen, deleted } = setUp(({ message }) =>
      message.name === 'deaf' ? new Promise(() => {}) : Promise.resolve(done),
    );
    const ended = expect(run([record('deaf'), record('quick')])).rejects.toThrow('ignored its signal');
    await Promise.resolve();
    advance(25_000);
    const died = () => {
      advance(1_000);
      return seen.died;
    };
    await expect.poll(died).toContain('ignored its signal');
    await ended;
    expect(deleted).toEqual(['r-quick']);
  });

  it('after five failures in a row a cluster is left alone, and each key is put off without an attempt', async () => {
    const error = new Error('connect');
    const { run, queues } = setUp(async ({ message }) => {
      reconciled.push(message.name);
      return { outcome: { type: 'deferred', why: 'unreachable', error }, writes: 0 };
    });
    for (const name of ['1', '2', '3', '4', '5', '6', '7']) expect(await run([record(name)])).toEqual([]);
    expect(reconciled).toEqual(['1', '2', '3', '4', '5']);
    expect(queues.get('timers')).toHaveLength(7);
    expect(parseMessage(queues.get('timers')?.at(-1)?.body ?? '')).toMatchObject({ attempt: 0, deferrals: 1 });
  });

  it('of a cluster that is back, every key of the first batch is reconciled: none is put off while another one finds out', async () => {
    let away = true;
    const { run, queues, advance } = setUp(async ({ message }) => {
      if (away) return { outcome: { type: 'deferred', why: 'unreachable', error: new Error('connect') }, writes: 0 };
      reconciled.push(message.name);
      return done;
    });
    for (const name of ['1', '2', '3', '4', '5']) await run([record(name)]);
    away = false;
    advance(10_000);
    const batch = ['6', '7', '8', '9'];
    expect(await run(batch.map((name) => record(name)))).toEqual([]);
    expect(reconciled.sort()).toEqual(batch);
    expect(queues.get('timers')).toHaveLength(5);
  });

  it('a key whose cluster takes long while another is fast is put off once, with nothing done, and awaited when it comes again', async () => {
    const { run, seen, queues } = setUp(async ({ client, message }) => {
      const error = await client.request({ method: 'GET', path: `/${message.cluster}` }).catch(toError);
      if (error instanceof Error) return { outcome: { type: 'failed', error, stalledBefore: false }, writes: 0 };
      reconciled.push(`${message.cluster} ${message.lane}`);
      return done;
    });
    const answering: KubeClient = {
      ...createClient({ server: new URL('http://127.0.0.1:1') }),
      request: async ({ path, timeoutSeconds = 60 }) => {
        if (path === '/slow' && timeoutSeconds < 2) throw new DeadlineError('no answer yet');
        return { status: 200, body: {}, headers: {} };
      },
    };
    seen.clusterAnswer = { type: 'client', client: answering };
    await run([record('quick', { cluster: 'fast' })]);
    expect(await run([record('first', { cluster: 'slow' })])).toEqual([]);
    const put = (queues.get('timers') ?? []).map(({ body }) => parseMessage(body));
    expect(put).toMatchObject([{ name: 'first', lane: 'retry', attempt: 0, deferrals: 0 }]);
    expect(reconciled).toEqual(['fast watch']);
    await run([record('first', { cluster: 'slow', lane: 'retry' })]);
    expect(reconciled).toEqual(['fast watch', 'slow retry']);
  });

  it('a cluster that answers far more slowly than another is put off for a while, without an attempt, and the other is not', async () => {
    const { run, seen, advance, queues } = setUp(async ({ client, message }) => {
      reconciled.push(message.name);
      await client.request({ method: 'GET', path: `/${message.cluster}` }).catch(() => undefined);
      return done;
    });
    const answering: KubeClient = {
      ...createClient({ server: new URL('http://127.0.0.1:1') }),
      request: async ({ path }) => {
        advance(path === '/slow' ? 2_000 : 1);
        throw new Error('not found');
      },
    };
    seen.clusterAnswer = { type: 'client', client: answering };
    for (const cluster of ['fast', 'slow', 'slow', 'slow', 'fast']) {
      expect(await run([record(cluster, { cluster })])).toEqual([]);
    }
    expect(reconciled).toEqual(['fast', 'slow', 'slow', 'fast']);
    const waiting = (queues.get('timers') ?? []).map(({ body }) => parseMessage(body));
    expect(waiting).toMatchObject([{ cluster: 'slow', lane: 'retry', attempt: 0, deferrals: 0 }]);
  });
});
