// A reconciler that ignores its signal, in a batch on the in-memory API server: what its object, the queues and the log
// show. Reconcilers that never end in other ways are test/reconciling/batch-ends.test.ts.
import { beforeEach, expect, it } from 'vitest';
import * as z from 'zod';
import { Event } from '../../src/kubernetes.ts';
import { groupIdOf } from '../../src/sqs/deduplication.ts';
import { formatMessage, type Message, parseMessage } from '../../src/sqs/message.ts';
import { useApiServer } from '../harness/api-server.ts';
import { lastTry, record, settle, setUp } from './batch-harness.ts';
import { widgetsOn } from './widgets.ts';

const { connect } = await useApiServer();
const widgets = widgetsOn(connect);
beforeEach(async () => void (await widgets.apply('one', { size: 1 })));

/** Runs a batch with one message until its deadline, and resolves when its process exits or the batch ends. */
async function runUntilDeadline(more: Partial<Message> = {}) {
  const started = Promise.withResolvers<void>();
  widgets.beforeReconciler(async () => started.resolve());
  const { finalize } = widgets.behaviour;
  widgets.behaviour.finalize = (...args) => {
    started.resolve();
    return finalize(...args);
  };
  const harness = setUp(async (input) => await widgets.runReconcile({ ...input, client: widgets.client }));
  const message = { ...widgets.messageFor('one', more), controller: 'water-tank' };
  const ended = harness
    .run([{ ...record('one'), body: formatMessage(message), groupId: groupIdOf(message) }])
    .catch(() => 'exited');
  await started.promise;
  await settle();
  harness.advance(25_000);
  return { ...harness, ended: await ended };
}

const never = () => new Promise<never>(() => undefined);
const events = async () => await widgets.list(Event);

it('a reconciler that ignores its signal is reported on its object, is retried, and its process exits', async () => {
  widgets.behaviour.reconcile = never;
  const { ended, seen, queues, deleted } = await runUntilDeadline();
  expect(ended).toBe('exited');
  expect(seen.died).toContain(`water-tank:test:widgets.reconcile.example.com/${widgets.namespace}/one`);
  expect(deleted).toEqual(['r-one']);
  const [retry, ...others] = queues.get('timers') ?? [];
  expect(others).toEqual([]);
  expect(parseMessage(retry?.body ?? '').cause).toMatchObject({ type: 'retry', attempt: 1 });
  // The process has exited before.
  expect(retry?.delaySeconds).toBeGreaterThanOrEqual(10);
  const object = await widgets.read('one');
  expect(widgets.condition(object, 'Ready')).toMatchObject({
    status: 'Unknown',
    reason: 'Retrying',
    message: expect.stringContaining('ignored its signal'),
  });
  expect(await events()).toMatchObject([
    { type: 'Warning', reason: 'DeadlineExceeded', message: expect.stringContaining('ignored its signal') },
  ]);
});

it('a reconciler that ignores its signal at the last attempt becomes a dead letter, and its object is Stalled', async () => {
  widgets.behaviour.reconcile = never;
  const { deadLetters } = await runUntilDeadline(lastTry);
  const attributes = z.record(z.string(), z.string()).parse(deadLetters()[0]?.attributes);
  expect(attributes.reason).toContain('retries exhausted');
  expect(Object.values(attributes).join()).toContain('ignored its signal');
  expect(widgets.condition(await widgets.read('one'), 'Stalled')).toMatchObject({ status: 'True' });
});

it('a finalize that ignores its signal is reported on its object, which keeps its finalizer', async () => {
  await widgets.apply('one', { size: 1 }, { finalizers: ['outrigger.dev/widget'] });
  await widgets.remove('one');
  widgets.behaviour.finalize = never;
  const { ended, queues } = await runUntilDeadline();
  expect(ended).toBe('exited');
  expect(queues.get('timers')).toHaveLength(1);
  const object = await widgets.read('one');
  expect(object?.metadata.finalizers).toEqual(['outrigger.dev/widget']);
  expect(widgets.condition(object, 'Finalized')).toMatchObject({
    status: 'False',
    message: expect.stringContaining('ignored its signal'),
  });
});

it('a reconciler that ignores its signal is retried even if its object cannot be written', async () => {
  widgets.behaviour.reconcile = async () => {
    await widgets.apply('one', { size: 2 });
    return await never();
  };
  const { ended, queues } = await runUntilDeadline();
  expect(ended).toBe('exited');
  expect(queues.get('timers')).toHaveLength(1);
});

it('an object that goes while its reconciler ignores its signal is not finalized beside it, and is a dead letter', async () => {
  const external = new Set(['one']);
  widgets.behaviour.reconcile = async () => {
    await widgets.vanish('one');
    return await never();
  };
  widgets.behaviour.finalize = async () => {
    external.delete('one');
    return 'done';
  };
  const { ended, deadLetters } = await runUntilDeadline();
  expect(ended).toBe('exited');
  expect([...external]).toEqual(['one']);
  expect(deadLetters()).toMatchObject([{ attributes: { object: expect.stringContaining('"name":"one"') } }]);
});

it.each([
  ['an error', new Error('no response yet'), /did not end within its time limit.*no response yet/],
  ['undefined', undefined, /did not end within its time limit/],
])('a reconciler that throws %s when its signal aborts is a failed attempt, and its object and an Event name the time limit', async (_name, thrown, message) => {
  widgets.behaviour.reconcile = (_, { signal }) =>
    new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(thrown)));
  const { ended, timers } = await runUntilDeadline();
  // No message stays: the function's response deletes it.
  expect(ended).toEqual([]);
  expect(timers()).toMatchObject([{ cause: { type: 'retry', attempt: 1 } }]);
  expect(widgets.condition(await widgets.read('one'), 'Ready')).toMatchObject({
    status: 'Unknown',
    reason: 'Retrying',
    message: expect.stringMatching(message),
  });
  expect(await events()).toContainEqual(expect.objectContaining({ message: expect.stringContaining('time limit') }));
});
