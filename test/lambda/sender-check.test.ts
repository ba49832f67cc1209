// Only that the functions apply the sender check where it is on: SENDER_CHECK, SENDER_IDS, SENDERS and the watchers of
// the clusters table. The table of senders is in test/reconciling/sender-check.test.ts.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { SQSRecord } from 'aws-lambda';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { startApiServer } from '../../src/apiserver/server.ts';
import { applyObject } from '../../src/kube/apply/apply.ts';
import { createClient, type KubeClient } from '../../src/kube/client/client.ts';
import { getObject } from '../../src/kube/client/read.ts';
import { createReconcileHandler } from '../../src/lambda/reconcile-handler.ts';
import { createResyncHandler } from '../../src/lambda/resync-handler.ts';
import { createTimersHandler } from '../../src/lambda/timers-handler.ts';
import { formatResyncMessage } from '../../src/resync/message.ts';
import { formatMessage, type Message } from '../../src/sqs/message.ts';
import { startTestQueues, type TestQueues } from '../sqs/fauxqs.ts';
import { aMessage, asChange, asCommand, asRetry } from '../sqs/messages.ts';
import { applyDefinition } from '../support/established.ts';
import { widgetDefinition } from '../support/widget-crd.ts';
import { aContext, anEvent, aRecord } from './invocation.ts';
import { widget } from './widget.ts';

const watcher = 'AROAWATCHER000001';
const controller = widget.controller('widget', {
  reconcile: async () => ({ status: { note: 'done' }, conditions: { Built: { status: 'True', reason: 'Built' } } }),
});

let server: Awaited<ReturnType<typeof startApiServer>>;
let client: KubeClient;
let queues: TestQueues;
let folder: string;
beforeAll(async () => {
  server = await startApiServer();
  client = createClient({ server: new URL(server.url) });
  queues = await startTestQueues();
  await queues.create('widget.fifo', 'widget-dlq.fifo', 'timers', 'timers-dlq', 'resync', 'resync-dlq');
  folder = await mkdtemp(path.join(tmpdir(), 'outrigger-senders-'));
  const entry = { server: server.url, access: { type: 'none' } };
  const watchers = [{ arn: 'arn:aws:iam::123456789012:role/watcher', id: watcher }];
  await writeFile(path.join(folder, 'clusters.json'), JSON.stringify({ alpha: { ...entry, watchers }, open: entry }));
  await applyDefinition(client, widgetDefinition);
});
afterAll(async () => {
  client.close();
  await Promise.all([server.close(), queues.stop(), rm(folder, { recursive: true })]);
});
beforeEach(() => {
  const environment = {
    AWS_REGION: 'us-east-1',
    AWS_ENDPOINT_URL_SQS: queues.endpoint,
    QUEUE_URL_PREFIX: queues.urlPrefix,
    CLUSTERS: path.join(folder, 'clusters.json'),
    LOG_LEVEL: 'ERROR',
    POWERTOOLS_METRICS_DISABLED: 'true',
    SENDER_CHECK: 'on',
    SENDER_IDS: 'widget=AROAWIDGET,timers=AROATIMERS,resync=AROARESYNC',
    SENDERS: 'AROAREQUESTER',
  };
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
});
afterEach(() => vi.unstubAllEnvs());

/** A record with the name of its object as its id, as SQS delivers it from this sender. */
function from(senderId: string, name: string, more: Partial<Message>): SQSRecord {
  const { group, plural: resource } = widget;
  const key = { controller: 'widget', cluster: 'alpha', group, resource, namespace: 'default', name };
  return sentBy(senderId, aRecord(name, formatMessage(aMessage({ ...key, ...more }))));
}
const sentBy = (senderId: string, one: SQSRecord): SQSRecord => ({
  ...one,
  attributes: { ...one.attributes, SenderId: senderId },
});
/** The ids of the messages on a dead-letter queue, with their reasons. */
async function deadLetters(queue: string): Promise<Readonly<Record<string, string | undefined>>> {
  const all = await queues.drain(queue);
  const value = (name: string, { MessageAttributes = {} }: (typeof all)[number]) =>
    MessageAttributes[name]?.StringValue;
  return Object.fromEntries(all.map((one) => [value('messageId', one), value('reason', one)]));
}

it('a reconcile function reconciles the keys of the watcher that the table names, and refuses those of another', async () => {
  const { apiVersion, kind } = widget;
  for (const name of ['genuine', 'forged', 'requested', 'announced']) {
    const object = { apiVersion, kind, metadata: { name, namespace: 'default' }, spec: { size: 1 } };
    await applyObject(client, widget, object, { fieldManager: 'user' });
  }
  const records = [
    from(`${watcher}:session`, 'genuine', asChange()),
    from(`AROAOTHER:${watcher}`, 'forged', asChange()),
    from('AROAREQUESTER:session', 'requested', { cluster: 'open', ...asCommand() }),
    from('AROAREQUESTER:session', 'announced', { cluster: 'open', ...asChange() }),
  ];
  expect(await createReconcileHandler(controller)(anEvent(...records), aContext())).toEqual({ batchItemFailures: [] });
  const noted = await Promise.all(
    ['genuine', 'forged', 'requested', 'announced'].map(async (name) => {
      const object = await getObject(client, widget, { namespace: 'default', name });
      return object?.status === undefined ? [] : [name];
    }),
  );
  expect(noted.flat()).toEqual(['genuine', 'requested']);
  expect(await deadLetters('widget-dlq.fifo')).toEqual({ forged: 'sender', announced: 'sender' });
});

it('the timers function forwards retries of the controller’s own role, with that sender, and refuses a watcher’s', async () => {
  const due = asRetry({ dueAt: Math.floor(Date.now() / 1000) });
  const records = [from('AROAWIDGET:session', 'genuine', due), from(`${watcher}:AROAWIDGET`, 'forged', due)];
  expect(await createTimersHandler(['widget'])(anEvent(...records), aContext())).toEqual({ batchItemFailures: [] });
  expect(await queues.drain('widget.fifo')).toMatchObject([
    { MessageAttributes: { sender: { StringValue: 'AROAWIDGET' } } },
  ]);
  expect(await deadLetters('timers-dlq')).toEqual({ forged: 'sender' });
});

it('the resync function refuses a message that it did not send', async () => {
  const run = new Date().toISOString();
  const body = formatResyncMessage({ v: 1, type: 'resync', run, cluster: 'alpha', controller: 'widget' });
  const records = [sentBy(`${watcher}:AROARESYNC`, aRecord('forged', body))];
  expect(await createResyncHandler([controller])(anEvent(...records), aContext())).toEqual({ batchItemFailures: [] });
  expect(await deadLetters('resync-dlq')).toEqual({ forged: 'sender' });
});
