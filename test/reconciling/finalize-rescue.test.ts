// An object that is deleted during its first reconcile in spite of its finalizer, while the API server also fails:
// finalize is still called, or a dead letter says that it was not. Against the in-memory API server.
import { beforeEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { defineKind } from '../../src/api/custom-kind.ts';
import { applyObject } from '../../src/kube/apply/apply.ts';
import type { KubeClient, KubeRequest } from '../../src/kube/client/client.ts';
import { ConnectError } from '../../src/kube/client/errors.ts';
import { ConfigMap } from '../../src/kubernetes.ts';
import type { Outcome } from '../../src/reconciling/outcome.ts';
import { createReconcile } from '../../src/reconciling/reconcile.ts';
import { useClient } from '../harness/api-server.ts';
import { aMessage } from '../sqs/messages.ts';
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

const orphan = z.looseObject({ metadata: z.looseObject({ uid: z.string() }) });
/** Returns the object that the dead letter of an outcome holds. */
const orphanIn = (outcome: Outcome) => orphan.parse(JSON.parse('orphan' in outcome ? (outcome.orphan ?? '') : ''));

const client = await useClient(widgetDefinition);
beforeEach(() => {
  resources = new Set();
  finalizeFails = false;
});

const keyOfOne = {
  controller: 'widget',
  group: Widget.group,
  resource: Widget.plural,
  namespace: 'default',
  name: 'one',
};
const widgetPath = '/apis/reconcile.example.com/v1/namespaces/default/widgets/one';
/** Removes the object as a DELETE does that was decided before the finalizer was added. */
async function deleteInSpite(path = widgetPath): Promise<void> {
  const without = { metadata: { finalizers: [] } };
  await client.request({ method: 'PATCH', path, body: without, contentType: 'application/merge-patch+json' });
  await client.request({ method: 'DELETE', path });
}

/** Reconciles a new object, which is deleted just before its status is written. These requests then fail. */
async function reconcileDeleted(
  fails: (request: KubeRequest, after: number) => boolean,
  { maxWaits = Number.POSITIVE_INFINITY, deletes = true } = {},
) {
  const object = { apiVersion: Widget.apiVersion, kind: Widget.kind, metadata: { name: 'one', namespace: 'default' } };
  await applyObject(client, Widget, { ...object, spec: { size: 1 } }, { fieldManager: 'user' });
  let requests = 0;
  let isDeleted = false;
  let waits = 0;
  const deadline = new AbortController();
  const intercepted: KubeClient = {
    ...client,
    request: async (request) => {
      if (!isDeleted && request.path.endsWith('/status')) {
        isDeleted = true;
        if (deletes) await deleteInSpite();
      }
      if (isDeleted) requests += 1;
      if (isDeleted && fails(request, requests)) throw new ConnectError('connection reset');
      return await client.request(request);
    },
  };
  const runReconcile = createReconcile({
    ...{ name: controller.name, declaration: controller.declaration, instance: controller.start({}) },
    now: () => new Date(),
    wait: async (_, signal) => {
      waits += 1;
      if (waits > maxWaits) deadline.abort(new Error('out of time'));
      signal.throwIfAborted();
    },
  });
  const { log } = createRecorder();
  const input = {
    client: intercepted,
    message: aMessage(keyOfOne),
    messageId: 'm',
    log,
    signal: deadline.signal,
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
  expect(orphanIn(outcome)).toMatchObject({ kind: 'Widget', metadata: { name: 'one' }, spec: { size: 1 } });
  expect(resources).toEqual(new Set([orphanIn(outcome).metadata.uid]));
});

it('an object whose write shows that it is gone, and whose reads fail until the time ends, is retried, and its dead letter has the object', async () => {
  const { outcome } = await reconcileDeleted(({ method }) => method === 'GET', { maxWaits: 5 });
  expect(outcome).toMatchObject({
    ...{ type: 'postponed', reason: 'unreachable' },
    error: { message: expect.stringContaining('not finalized, and possibly deleted') },
  });
  expect(resources).toEqual(new Set([orphanIn(outcome).metadata.uid]));
});

it('reads of an object that may be gone, which fail long before the time ends, are not repeated for ever', async () => {
  const { outcome } = await reconcileDeleted(({ method }) => method === 'GET');
  expect(outcome).toMatchObject({ type: 'postponed', reason: 'unreachable' });
  expect(resources).toEqual(new Set([orphanIn(outcome).metadata.uid]));
});

it('an object that still exists after failed reads is no dead letter', async () => {
  const { outcome } = await reconcileDeleted((_, requests) => requests === 1, { deletes: false });
  expect(outcome).toMatchObject({ type: 'postponed' });
  expect(outcome).not.toHaveProperty('orphan');
  await deleteInSpite();
});

it('an API server that fails from the status write until the time ends leaves the uid to the retry, which finds the object gone', async () => {
  const { outcome } = await reconcileDeleted(() => true, { maxWaits: 5 });
  const [uid] = resources;
  expect(outcome).toMatchObject({ type: 'postponed', reason: 'unreachable', unverifiedUid: uid });
  expect(outcome).not.toHaveProperty('orphan');
  const { log } = createRecorder();
  const { name, declaration, start } = controller;
  const again = createReconcile({ name, declaration, instance: start({}), now: () => new Date() });
  const input = { client, message: aMessage(keyOfOne), messageId: 'm', log, signal: AbortSignal.timeout(10_000) };
  expect(await again(input)).toMatchObject({ outcome: { type: 'nothing', reason: 'gone' }, foundUid: null });
});

it('an object that exists when the time ends is no dead letter', async () => {
  // The last of the reads, after the end of the time, is answered.
  const outcome = reconcileDeleted((_, requests) => requests < 9, { maxWaits: 6, deletes: false });
  await expect(outcome).rejects.toThrow('out of time');
  await deleteInSpite();
});

/** Reconciles the object. `before` is called before each request and may change the object. */
async function reconcileOne(before: (request: KubeRequest) => Promise<void>) {
  const { name, declaration, start } = controller;
  const intercepted: KubeClient = {
    ...client,
    request: async (request) => {
      await before(request);
      return await client.request(request);
    },
  };
  const deps = { name, declaration, instance: start({}), now: () => new Date(), wait: async () => undefined };
  const run = createReconcile(deps);
  const { log } = createRecorder();
  const message = aMessage(keyOfOne);
  return await run({ client: intercepted, message, messageId: 'm', log, signal: AbortSignal.timeout(10_000) });
}
const createOne = async () => {
  const object = { apiVersion: Widget.apiVersion, kind: Widget.kind, metadata: { name: 'one', namespace: 'default' } };
  return await applyObject(client, Widget, { ...object, spec: { size: 1 } }, { fieldManager: 'user' });
};
const removeFinalizers = async () => {
  const body = { metadata: { finalizers: [] } };
  await client.request({ method: 'PATCH', path: widgetPath, body, contentType: 'application/merge-patch+json' });
};

describe.each([
  { response: 'a conflict', fails: false },
  { response: 'no response', fails: true },
])('an object whose finalizer another client removes before the status write, which gets $response,', ({ fails }) => {
  const removeBeforeStatus = () => {
    const seen = { statusWrites: 0, reads: 0 };
    const before = async ({ method, path }: KubeRequest) => {
      if (path.endsWith('/status')) {
        seen.statusWrites += 1;
        if (seen.statusWrites > 1) return;
        await removeFinalizers();
        if (fails) throw new ConnectError('connection reset');
      } else if (method === 'GET' && seen.statusWrites > 0) seen.reads += 1;
    };
    return { seen, before };
  };

  it('an object that lost its finalizer before its status was written gets it again', async () => {
    await createOne();
    expect((await reconcileOne(removeBeforeStatus().before)).outcome).toEqual({ type: 'done' });
    const { body } = await client.request({ method: 'GET', path: widgetPath });
    expect(body).toMatchObject({ metadata: { finalizers: ['outrigger.dev/widget'] }, status: {} });
    await deleteInSpite();
  });

  it.each([
    { finalize: 'finalize is called', fails: false },
    { finalize: 'a dead letter has the object', fails: true },
  ])('and that is deleted before the next read: $finalize', async ({ fails: isDown }) => {
    finalizeFails = isDown;
    const object = await createOne();
    const { seen, before } = removeBeforeStatus();
    // One read after the failed write, one that verifies the object, and the read of the next pass.
    const lastRead = fails ? 2 : 3;
    const report = await reconcileOne(async (request) => {
      await before(request);
      if (seen.reads !== lastRead) return;
      seen.reads += 1;
      await client.request({ method: 'DELETE', path: widgetPath });
    });
    expect(report).toMatchObject({ outcome: { type: 'nothing', reason: 'gone' }, foundUid: null });
    expect([...resources]).toEqual(isDown ? [object.metadata.uid] : []);
    expect(report.orphan?.uid).toBe(isDown ? object.metadata.uid : undefined);
    expect(report.orphan?.object ?? '').toContain(isDown ? '"size":1' : '');
  });
});

it('an object that gets its finalizer again, whose status needs no write, is finalized if it is deleted in spite of it', async () => {
  await createOne();
  await reconcileOne(async () => undefined);
  await removeFinalizers();
  let patched = false;
  const report = await reconcileOne(async ({ method }) => {
    if (patched && method === 'GET') await deleteInSpite().catch(() => undefined);
    patched ||= method === 'PATCH';
  });
  expect([report.outcome, resources]).toEqual([{ type: 'done' }, new Set()]);
});

it('an object of a kind without a status is finalized if it is deleted in spite of its finalizer', async () => {
  const metadata = { name: 'one', namespace: 'default' };
  const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata };
  await client.request({ method: 'POST', path: '/api/v1/namespaces/default/configmaps', body });
  const reconciled: string[] = [];
  const configController = ConfigMap.controller('config', {
    async reconcile({ metadata: { uid } }) {
      reconciled.push(uid);
      resources.add(uid);
    },
    async finalize({ metadata: { uid } }) {
      resources.delete(uid);
      return 'done';
    },
  });
  const intercepted: KubeClient = {
    ...client,
    request: async (request) => {
      const response = await client.request(request);
      if (request.method === 'PATCH') await deleteInSpite('/api/v1/namespaces/default/configmaps/one');
      return response;
    },
  };
  const key = { controller: 'config', group: '', resource: 'configmaps', namespace: 'default', name: 'one' };
  const input = { client: intercepted, message: aMessage(key), messageId: 'm', log: createRecorder().log };
  const { name, declaration, start } = configController;
  const run = createReconcile({ name, declaration, instance: start({}), now: () => new Date() });
  expect((await run({ ...input, signal: AbortSignal.timeout(10_000) })).outcome).toEqual({ type: 'done' });
  expect(reconciled).toHaveLength(1);
  expect(resources).toEqual(new Set());
});
