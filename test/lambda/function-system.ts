// What the functions of a test call: an API server with the kind of the tests, SQS, and a clusters table in a file. The
// environment of the functions names them.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startApiServer } from '@outrigger/apiserver';
import { afterAll, afterEach, beforeAll, beforeEach, vi } from 'vitest';
import { applyObject } from '../../src/kube/apply/apply.ts';
import { createClient } from '../../src/kube/client/client.ts';
import { getObject } from '../../src/kube/client/read.ts';
import { formatMessage, type Message } from '../../src/sqs/message.ts';
import { startTestQueues } from '../sqs/fauxqs.ts';
import { aMessage, asChange } from '../sqs/messages.ts';
import { applyDefinition } from '../support/established.ts';
import { widgetDefinition } from '../support/widget-crd.ts';
import { aRecord } from './invocation.ts';
import { widget } from './widget.ts';

/** The entry of a cluster in the clusters table. */
export type ClusterEntry = { readonly server: string; readonly access: { readonly type: 'none' } };

const widgetQueues = ['widget.fifo', 'widget-dlq.fifo', 'timers', 'timers-dlq', 'resync', 'resync-dlq'];

/** Starts the system. `clusters` makes the clusters table from the entry of the API server; default: one, `alpha`. */
export async function startFunctionSystem(clusters = (entry: ClusterEntry): object => ({ alpha: entry })) {
  const resources = new AsyncDisposableStack();
  const server = await startApiServer();
  resources.defer(() => server.close());
  const client = createClient({ server: new URL(server.url) });
  resources.defer(() => client.close());
  const queues = await startTestQueues();
  resources.defer(() => queues.stop());
  await queues.create(...widgetQueues);
  const folder = await mkdtemp(path.join(tmpdir(), 'outrigger-lambda-'));
  resources.defer(() => rm(folder, { recursive: true }));
  const writeTable = async (more: object = {}) => {
    const table = { ...clusters({ server: server.url, access: { type: 'none' } }), ...more };
    await writeFile(path.join(folder, 'clusters.json'), JSON.stringify(table));
  };
  await writeTable();
  await applyDefinition(client, widgetDefinition);
  return {
    server,
    client,
    queues,
    folder,
    writeTable,
    /** The environment of the functions. */
    environment: {
      AWS_REGION: 'us-east-1',
      AWS_ENDPOINT_URL_SQS: queues.endpoint,
      QUEUE_URL_PREFIX: queues.urlPrefix,
      CLUSTERS: path.join(folder, 'clusters.json'),
    },
    apply: async (name: string) => {
      const { apiVersion, kind } = widget;
      const object = { apiVersion, kind, metadata: { name, namespace: 'default' }, spec: { size: 1 } };
      await applyObject(client, widget, object, { fieldManager: 'user' });
    },
    read: async (name: string) => await getObject(client, widget, { namespace: 'default', name }),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

/** Starts the system for all tests of a file, and sets the environment of the functions for each. */
export function functionSystem({
  clusters,
  environment = {},
}: {
  readonly clusters?: (entry: ClusterEntry) => object;
  readonly environment?: Readonly<Record<string, string>>;
} = {}) {
  let system: Awaited<ReturnType<typeof startFunctionSystem>>;
  beforeAll(async () => {
    system = await startFunctionSystem(clusters);
  });
  afterAll(async () => await system[Symbol.asyncDispose]());
  const environmentNow = (): Readonly<Record<string, string>> => ({
    LOG_LEVEL: 'ERROR',
    MONITORING: 'off',
    ...system.environment,
    ...environment,
  });
  beforeEach(() => {
    for (const [name, value] of Object.entries(environmentNow())) vi.stubEnv(name, value);
  });
  afterEach(() => vi.unstubAllEnvs());
  return {
    get system() {
      return system;
    },
    get queues() {
      return system.queues;
    },
    environment: environmentNow,
    apply: async (name: string) => await system.apply(name),
    read: async (name: string) => await system.read(name),
    /** The ids of the messages on a dead-letter queue, with their reasons. */
    deadLetters: async (queue: string): Promise<Readonly<Record<string, string | undefined>>> => {
      const all = await system.queues.drain(queue);
      const value = (name: string, { MessageAttributes = {} }: (typeof all)[number]) =>
        MessageAttributes[name]?.StringValue;
      return Object.fromEntries(all.map((one) => [value('messageId', one), value('reason', one)]));
    },
  };
}

/** Makes a message for a widget of the cluster `alpha`, by default because of a change now. */
export function widgetMessage(name: string, more: Partial<Message> = {}): Message {
  const key = { controller: 'widget', group: widget.group, resource: widget.plural, namespace: 'default', name };
  return aMessage({ ...key, ...asChange({ observedAt: Date.now() }), ...more });
}

/** Makes a record of such a message, with the name of the object as its id. */
export const widgetRecord = (name: string, more: Partial<Message> = {}, messageId = name) =>
  aRecord(messageId, formatMessage(widgetMessage(name, more)));
