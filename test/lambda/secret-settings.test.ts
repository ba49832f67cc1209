// A reconcile function whose controller has a secret setting: environment, Secrets Manager (a local server) and status.
// Excluded: how long a secret is cached (test/clusters/auth/secret-reader.test.ts).
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import http from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import * as z from 'zod';
import { secret } from '../../src/api/secret.ts';
import { startApiServer } from '../../src/apiserver/server.ts';
import { applyObject } from '../../src/kube/apply/apply.ts';
import { createClient, type KubeClient } from '../../src/kube/client/client.ts';
import { getObject } from '../../src/kube/client/read.ts';
import { createReconcileHandler } from '../../src/lambda/reconcile-handler.ts';
import { formatMessage } from '../../src/sqs/message.ts';
import { startTestQueues, type TestQueues } from '../sqs/fauxqs.ts';
import { aMessage } from '../sqs/messages.ts';
import { applyDefinition } from '../support/established.ts';
import { widgetDefinition } from '../support/widget-crd.ts';
import { aContext, anEvent, aRecord } from './invocation.ts';
import { widget } from './widget.ts';

const controller = widget.controller('widget', {
  settings: z.object({ PASSPHRASE: secret() }),
  clients: ({ PASSPHRASE }) => ({ measure: async () => `${(await PASSPHRASE.read()).length} characters` }),
  reconcile: async (_, { clients }) => ({
    status: { note: await clients.measure() },
    conditions: { Built: { status: 'True', reason: 'Built' } },
  }),
});

const requests: string[] = [];
const secretsManager = http.createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    requests.push(`${request.headers['x-amz-target']} ${Buffer.concat(chunks)}`);
    response.setHeader('content-type', 'application/x-amz-json-1.1');
    response.end(JSON.stringify({ SecretString: '{"phrase":"swordfish"}' }));
  });
});
let server: Awaited<ReturnType<typeof startApiServer>>;
let client: KubeClient;
let queues: TestQueues;
let folder: string;
beforeAll(async () => {
  await new Promise<void>((resolve) => secretsManager.listen(0, '127.0.0.1', resolve));
  server = await startApiServer();
  client = createClient({ server: new URL(server.url) });
  queues = await startTestQueues();
  await queues.create('widget.fifo', 'widget-dlq.fifo', 'timers');
  folder = await mkdtemp(path.join(tmpdir(), 'outrigger-secret-'));
  const entry = { server: server.url, access: { type: 'none' } };
  await writeFile(path.join(folder, 'clusters.json'), JSON.stringify({ alpha: entry }));
  await writeFile(path.join(folder, 'passphrase'), 'open sesame\n');
  await applyDefinition(client, widgetDefinition);
});
afterAll(async () => {
  client.close();
  secretsManager.closeAllConnections();
  secretsManager.close();
  await Promise.all([server.close(), queues.stop(), rm(folder, { recursive: true })]);
});
beforeEach(() => {
  const address = secretsManager.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const environment = {
    AWS_REGION: 'us-east-1',
    AWS_ENDPOINT_URL_SQS: queues.endpoint,
    AWS_ENDPOINT_URL_SECRETS_MANAGER: `http://127.0.0.1:${port}`,
    QUEUE_URL_PREFIX: queues.urlPrefix,
    CLUSTERS: path.join(folder, 'clusters.json'),
    LOG_LEVEL: 'ERROR',
    POWERTOOLS_METRICS_DISABLED: 'true',
  };
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
});
afterEach(() => vi.unstubAllEnvs());

async function reconciled(name: string, passphrase: string): Promise<unknown> {
  vi.stubEnv('PASSPHRASE', passphrase);
  const { apiVersion, kind, group, plural: resource } = widget;
  const object = { apiVersion, kind, metadata: { name, namespace: 'default' }, spec: { size: 1 } };
  await applyObject(client, widget, object, { fieldManager: 'user' });
  const message = aMessage({ controller: 'widget', group, resource, namespace: 'default', name });
  const event = anEvent(aRecord(name, formatMessage(message)));
  expect(await createReconcileHandler(controller)(event, aContext())).toEqual({ batchItemFailures: [] });
  return (await getObject(client, widget, { namespace: 'default', name }))?.status;
}

it('a secret setting is read from Secrets Manager by the name in its variable', async () => {
  const status = await reconciled('one', 'outrigger/dev/settings/passphrase#phrase');
  expect(status).toMatchObject({ note: '9 characters' });
  expect(requests).toEqual(['secretsmanager.GetSecretValue {"SecretId":"outrigger/dev/settings/passphrase"}']);
});

it('a secret setting can be read from a file', async () => {
  const status = await reconciled('two', `file:${path.join(folder, 'passphrase')}`);
  expect(status).toMatchObject({ note: '11 characters' });
});

it('a missing secret file is reported in the object’s status, with the name of the setting', async () => {
  const status = await reconciled('three', 'file:/nowhere/passphrase');
  expect(JSON.stringify(status)).toContain('controller widget: PASSPHRASE: file:/nowhere/passphrase cannot be read');
});
