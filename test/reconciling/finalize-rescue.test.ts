// An object that is deleted during its first reconcile in spite of its finalizer, while the API server also fails:
// finalize is still called, or a dead letter says that it was not. Against the in-memory API server.
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import * as z from 'zod';
import { defineKind } from '../../src/api/custom-kind.ts';
import { startApiServer } from '../../src/apiserver/server.ts';
import { applyObject } from '../../src/kube/apply/apply.ts';
import { createClient, type KubeClient, type KubeRequest } from '../../src/kube/client/client.ts';
import { ConnectError } from '../../src/kube/client/errors.ts';
import { createReconcile } from '../../src/reconciling/reconcile.ts';
import { aMessage } from '../sqs/messages.ts';
import { applyDefinition } from '../support/established.ts';
import { createRecorder } from '../support/recorder.ts';
import { widgetDefinition } from '../support/widget-crd.ts';

const Widget = defineKind({
  group: 'reconcile.example.com',
  version: 'v1',
  kind: 'Widget',
  spec: z.object({ size: z.number() }),
  status: z.object({ size: z.number().optional() }),
  conditions: ['Built'],
});
let resources: Set<string>;
let finalizeFails: boolean;
const controller = Widget.controller('widget', {
  async reconcile({ metadata }) {
    resources.add(metadata.uid);
    return { status: {}, conditions: { Built: { status: 'True', reason: 'Built' } } };
  },
  async finalize({ metadata }) {
    if (finalizeFails) throw new Error('the external service is down');
    resources.delete(metadata.uid);
    return 'done';
  },
});

let server: Awaited<ReturnType<typeof startApiServer>>;
let client: KubeClient;
beforeAll(async () => {
  server = await startApiServer();
  client = createClient({ server: new URL(server.url) });
  await applyDefinition(client, widgetDefinition);
});
afterAll(async () => {
  client.close();
  await server.close();
});
beforeEach(() => {
  resources = new Set();
  finalizeFails = false;
});

const path = '/apis/reconcile.example.com/v1/namespaces/default/widgets/one';
/** Removes the object as a DELETE does that was decided before the finalizer was added. */
async function deleteInSpite(): Promise<void> {
  const without = { metadata: { finalizers: [] } };
  await client.request({ method: 'PATCH', path, body: without, contentType: 'application/merge-patch+json' });
  await client.request({ method: 'DELETE', path });
}

/** Reconciles a new object, which is deleted just before its status is written. These requests then fail. */
async function reconcileDeleted(fails: (request: KubeRequest, after: number) => boolean) {
  const object = { apiVersion: Widget.apiVersion, kind: Widget.kind, metadata: { name: 'one', namespace: 'default' } };
  await applyObject(client, Widget, { ...object, spec: { size: 1 } }, { fieldManager: 'user' });
  let requests = 0;
  let isDeleted = false;
  const intercepted: KubeClient = {
    ...client,
    request: async (request) => {
      if (!isDeleted && request.path.endsWith('/status')) {
        isDeleted = true;
        await deleteInSpite();
      }
      if (isDeleted) requests += 1;
      if (isDeleted && fails(request, requests)) throw new ConnectError('connection reset');
      return await client.request(request);
    },
  };
  const runReconcile = createReconcile({
    ...{ name: controller.name, declaration: controller.declaration, instance: controller.start({}) },
    now: () => new Date(),
    wait: async (_, signal) => signal.throwIfAborted(),
  });
  const key = { controller: 'widget', group: Widget.group, resource: Widget.plural, namespace: 'default', name: 'one' };
  const { log } = createRecorder();
  const input = {
    client: intercepted,
    message: aMessage(key),
    messageId: 'm',
    log,
    signal: AbortSignal.timeout(10_000),
  };
  return await runReconcile(input);
}

it('an object that is deleted in spite of its finalizer is finalized although its status write and three reads fail', async () => {
  await reconcileDeleted((_, requests) => requests <= 4);
  expect(resources).toEqual(new Set());
});

it('an object that is deleted in spite of its finalizer becomes a dead letter if finalize fails', async () => {
  finalizeFails = true;
  const { outcome } = await reconcileDeleted(() => false);
  expect(outcome).toMatchObject({ type: 'refused', error: { message: expect.stringContaining('finalize failed') } });
  expect(resources.size).toBe(1);
});
