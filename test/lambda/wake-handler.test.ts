// Only the wake function and enqueue() as AWS and a program call them: environment and event in, keys on the queues.
import { expect, it, onTestFinished } from 'vitest';
import { wake } from '../../src/api/wake.ts';
import { enqueue } from '../../src/lambda/enqueue.ts';
import { createWakeHandler } from '../../src/lambda/wake-handler.ts';
import { parseMessage } from '../../src/sqs/message.ts';
import { captureConsole } from '../support/capture-console.ts';
import { functionSystem } from './function-system.ts';
import { aContext, linesWhenLost } from './invocation.ts';
import { widget } from './widget.ts';

const built = { status: 'True', reason: 'Built' } as const;
const controller = widget.controller('widget', {
  wakes: [wake({ source: 'shop', detailType: 'Sold' }, () => [{ namespace: 'default', name: 'one' }])],
  reconcile: async () => ({ status: { note: '' }, conditions: { Built: built } }),
});
const event = (source: string) => ({
  version: '0',
  id: `event-of-${source}`,
  source,
  'detail-type': 'Sold',
  account: '1',
  region: 'x',
  time: '2026-11-25T00:00:00Z',
  resources: [],
  detail: {},
});

const functions = functionSystem({ clusters: (entry) => ({ alpha: entry, beta: entry }) });
const received = async () => (await functions.queues.drain('widget.fifo')).map(({ Body = '' }) => parseMessage(Body));

it('an event that a wake matches is a message in every cluster, and it carries the source and the id', async () => {
  const handler = createWakeHandler([controller]);
  expect(await handler(event('shop'), aContext())).toEqual({ keys: 2 });
  const messages = await received();
  expect(messages.map(({ cluster }) => cluster).sort()).toEqual(['alpha', 'beta']);
  expect(messages[0]).toMatchObject({
    controller: 'widget',
    group: widget.group,
    resource: widget.plural,
    namespace: 'default',
    name: 'one',
    cause: { type: 'wake', source: 'shop', id: 'event-of-shop' },
  });
  expect(await handler(event('street'), aContext())).toEqual({ keys: 0 });
});

it('enqueue sends a key once for each id, and rejects a key that no object can have', async () => {
  const key = { cluster: 'alpha', namespace: 'default', name: 'two' };
  await enqueue(controller, key, { source: 'shop', id: 'order-1' });
  await enqueue(controller, key, { source: 'shop', id: 'order-1' });
  await enqueue(controller, key);
  const messages = await received();
  expect(messages).toMatchObject([
    { name: 'two', cluster: 'alpha', cause: { type: 'wake', source: 'shop', id: 'order-1' } },
    { name: 'two', cause: { type: 'wake', source: 'enqueue' } },
  ]);
  await expect(enqueue(controller, { ...key, name: 'a/b' })).rejects.toThrow(/object/);
  await expect(enqueue(controller, { cluster: 'alpha', name: 'two' })).rejects.toThrow('namespace: widgets have one');
  await expect(enqueue(controller, key, { queueUrlPrefix: `${functions.queues.urlPrefix}missing-` })).rejects.toThrow(
    /widget/,
  );
});

it('a promise that a mapping function does not await, and that is rejected, is logged by the wake function', async () => {
  const { lines, restore } = captureConsole();
  onTestFinished(restore);
  const losing = wake({ source: 'shop', detailType: 'Sold' }, () => {
    void Promise.reject(new Error('lost'));
    return [];
  });
  const reconcile = async () => ({ status: { note: '' }, conditions: { Built: built } });
  const handler = createWakeHandler([widget.controller('widget', { wakes: [losing], reconcile })]);
  const linesOfRuntime = linesWhenLost('unhandledRejection', lines);
  await handler(event('shop'), aContext());
  expect((await linesOfRuntime).join('\n')).toMatch(
    /"service":"wake".*"error":"lost"|"error":"lost".*"service":"wake"/,
  );
});
