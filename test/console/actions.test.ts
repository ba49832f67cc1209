// What the actions of the console leave in the cluster and in the queues, and which of the changes of a dry run are those
// of the object itself. Excluded: the operations behind them (test/operations), and the page (test/console/browser).

import { startApiServer } from '@outrigger/apiserver';
import { type ActionDeps, createActions, type DryRunReport } from '@outrigger/cli/console/actions';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { Foo, foo } from '../../src/controllers/foo.ts';
import { pausedAnnotation } from '../../src/core/names.ts';
import { createClient, type KubeClient } from '../../src/kube/client/client.ts';
import { getObject } from '../../src/kube/client/read.ts';
import { formatMessage, parseMessage } from '../../src/sqs/message.ts';
import { createSend } from '../../src/sqs/send.ts';
import { shortPolls } from '../cli/command-result.ts';
import { applySamples } from '../cli/operated-system.ts';
import { startTestQueues, type TestQueues } from '../sqs/fauxqs.ts';
import { aMessage } from '../sqs/messages.ts';

const id = 'lab:foos.samples.example.com/default/example';
const never = async () => await Promise.reject(new Error('not in this test'));
const operator = {
  dryRun: never,
  pauseController: async (name: string, paused: boolean) => `${name} ${paused}`,
  pauseCluster: async (name: string, paused: boolean) => `cluster ${name} ${paused}`,
};
const parts = new AsyncDisposableStack();
const { signal } = new AbortController();
let client: KubeClient;
let queues: TestQueues;
const actionsWith = (changes: Partial<ActionDeps> = {}) => {
  const { sqs, urlPrefix } = queues;
  return createActions([foo], { sqs, urlPrefix, at: '', clientOf: () => client, ...operator, ...changes });
};

beforeAll(async () => {
  const server = await startApiServer();
  parts.defer(() => server.close());
  client = createClient({ server: new URL(server.url) });
  parts.defer(async () => client.close());
  await applySamples(server, ['foo']);
  queues = await startTestQueues();
  parts.defer(() => queues.stop());
  await queues.create('foo.fifo', 'foo-dlq.fifo', 'timers-dlq');
});
afterAll(async () => await parts.disposeAsync());

it('a dry run has the YAML of the object with the fields that it would write on it, and on no other one', async () => {
  const report: DryRunReport = {
    lines: ['change Foo default/example (status)'],
    changes: [
      { object: 'Foo default/example (status)', fields: [{ path: 'status.availableReplicas', after: 1 }] },
      { object: 'Foo default/example', fields: [{ path: 'metadata.finalizers', after: ['foo'] }] },
      { object: 'Foo default/example-2', fields: [{ path: 'status.availableReplicas', after: 7 }] },
      { object: 'Deployment default/example', fields: [{ path: 'spec.replicas', after: 9 }] },
    ],
  };
  const act = actionsWith({ dryRun: async () => report });
  const dryRun = { type: 'dry-run', id } as const;
  const result = await act(dryRun, signal);
  expect(result.lines).toEqual(report.lines);
  const written = result.yaml?.filter(({ mark }) => mark !== ' ').map(({ mark, text }) => `${mark}${text}`);
  expect(written).toEqual(['+  finalizers:', '+    - foo', '+status:', '+  availableReplicas: 1']);
  expect(result.yaml?.map(({ text }) => text)).toContain('  name: example');
  // It is not written.
  expect((await act(dryRun, signal)).yaml).toEqual(result.yaml);
  await expect(act({ type: 'dry-run', id: 'lab:pods/default/example' }, signal)).rejects.toThrow('no controller');
});

const key = { controller: 'foo', cluster: 'lab', group: 'samples.example.com', resource: 'foos', namespace: 'default' };
/** Takes the names and causes of the keys that were sent to the controller. */
const sent = async () =>
  (await queues.drain('foo.fifo')).map(({ Body = '' }) => {
    const { name, cause, ...rest } = parseMessage(Body);
    return [name, cause.type, rest];
  });

it('reconcile sends the key of the object, and pause and resume change its annotation alone', async () => {
  const act = actionsWith();
  expect(await act({ type: 'reconcile', id }, signal)).toEqual({ text: 'Sent to foo.' });
  expect(await sent()).toEqual([['example', 'command', key]]);
  const read = async () => await getObject(client, Foo, { namespace: 'default', name: 'example' }, { signal });
  const before = await read();
  expect((await act({ type: 'pause', id }, signal)).text).toMatch(/^Paused: /);
  expect((await read())?.metadata.annotations).toEqual({ ...before?.metadata.annotations, [pausedAnnotation]: 'true' });
  expect((await act({ type: 'resume', id }, signal)).text).toBe('Resumed.');
  expect(await read()).toMatchObject({ metadata: { generation: before?.metadata.generation } });
  expect((await read())?.metadata.annotations ?? {}).not.toHaveProperty([pausedAnnotation]);
});

it('an action redrives or deletes one dead letter, those of one object or all, and one that is refused stays with its reason', async () => {
  onTestFinished(shortPolls().mockRestore);
  const queue = 'foo-dlq.fifo';
  const bodies = ['a', 'b', 'c', 'd'].map((name) => formatMessage(aMessage({ ...key, name })));
  const entries = [...bodies, 'no message'].map((body, index) => ({
    body,
    groupId: `${index}`,
    deduplicationId: `${index}`,
    attributes: { messageId: `m-${index}` },
  }));
  await createSend(queues.sqs, queues.urlPrefix)(queue, entries, { signal });
  const act = actionsWith();
  const texts = [];
  const redrive = { type: 'redrive', queue } as const;
  const remove = { type: 'delete', queue } as const;
  const ofOne = { ...redrive, id: id.replace(/[^/]+$/, 'd') };
  for (const one of [{ ...redrive, messageId: 'm-1' }, { ...remove, messageId: 'm-0' }, ofOne, redrive, remove])
    texts.push((await act(one, signal)).text);
  expect(texts).toEqual([
    '1 dead letter sent again.',
    '1 dead letter deleted.',
    '1 dead letter sent again.',
    '1 dead letter sent again, 1 refused: its body is not a message.',
    '1 dead letter deleted.',
  ]);
  expect((await sent()).map(([name]) => name)).toEqual(['b', 'd', 'c']);
  await expect(act({ type: 'delete', queue }, signal)).rejects.toThrow('it is not there any more');
});

it.each([
  [{ type: 'pause-controller', controller: 'foo' }, 'foo true'],
  [{ type: 'resume-controller', controller: 'foo' }, 'foo false'],
  [{ type: 'pause-cluster', cluster: 'lab' }, 'cluster lab true'],
  [{ type: 'resume-cluster', cluster: 'lab' }, 'cluster lab false'],
] as const)('%j is what the command of this name does', async (action, text) => {
  expect(await actionsWith()(action, signal)).toEqual({ text });
});

it.each([
  [{ type: 'reconcile', id: 'lab:pods//example' }, 'no controller reconciles this object'],
  [{ type: 'pause', id: 'lab:foos.samples.example.com/default/' }, 'no controller reconciles this object'],
  [{ type: 'pause-controller', controller: 'bar' }, 'there is no such controller'],
  [{ type: 'delete', queue: 'foo.fifo' }, 'this is not a dead-letter queue'],
  [{ type: 'break', fault: 'sqs-down' }, 'only a system on this machine can be broken'],
] as const)('%j is refused', async (action, message) => {
  await expect(actionsWith()(action, signal)).rejects.toThrow(message);
});

it('reconcile of an object whose controller has no queue is refused with the queue', async () => {
  const act = actionsWith({ urlPrefix: `${queues.urlPrefix}other-` });
  await expect(act({ type: 'reconcile', id }, signal)).rejects.toThrow(/^not sent to foo: .*foo\.fifo/);
});
