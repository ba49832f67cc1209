// A reconcile function whose controller has a secret setting: environment, Secrets Manager (a local server) and status.
// Excluded: how long a secret is cached (test/clusters/auth/secret-reader.test.ts).
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import * as z from 'zod';
import { secret } from '../../src/api/secret.ts';
import { createReconcileHandler } from '../../src/lambda/reconcile-handler.ts';
import { startHttpServer } from '../support/listen.ts';
import { functionSystem, widgetRecord } from './function-system.ts';
import { aContext, anEvent } from './invocation.ts';
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
const secretsManager = await startHttpServer(async (request, response) => {
  requests.push(`${request.headers['x-amz-target']} ${await text(request)}`);
  response.setHeader('content-type', 'application/x-amz-json-1.1');
  response.end(JSON.stringify({ SecretString: '{"phrase":"swordfish"}' }));
});
const functions = functionSystem();
beforeAll(async () => {
  await writeFile(path.join(functions.system.folder, 'passphrase'), 'open sesame\n');
});
afterAll(() => secretsManager.close());
beforeEach(() => void vi.stubEnv('AWS_ENDPOINT_URL_SECRETS_MANAGER', secretsManager.url));

async function reconciled(name: string, passphrase: string): Promise<unknown> {
  vi.stubEnv('PASSPHRASE', passphrase);
  await functions.apply(name);
  const event = anEvent(widgetRecord(name));
  expect(await createReconcileHandler(controller)(event, aContext())).toEqual({ batchItemFailures: [] });
  return (await functions.read(name))?.status;
}

it('a secret setting is read from Secrets Manager by the name in its variable', async () => {
  const status = await reconciled('one', 'outrigger/dev/settings/passphrase#phrase');
  expect(status).toMatchObject({ note: '9 characters' });
  expect(requests).toEqual(['secretsmanager.GetSecretValue {"SecretId":"outrigger/dev/settings/passphrase"}']);
});

it('a secret setting can be read from a file', async () => {
  const status = await reconciled('two', `file:${path.join(functions.system.folder, 'passphrase')}`);
  expect(status).toMatchObject({ note: '11 characters' });
});

it('a missing secret file is reported in the object’s status, with the name of the setting', async () => {
  const status = await reconciled('three', 'file:/nowhere/passphrase');
  expect(JSON.stringify(status)).toContain('controller widget (PASSPHRASE): file:/nowhere/passphrase cannot be read');
});
