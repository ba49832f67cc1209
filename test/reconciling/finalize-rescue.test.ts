// An object that is deleted during its first reconcile in spite of its finalizer, while the API server also fails:
// finalize is still called, or a dead letter says that it was not. Against the in-memory API server.
import { beforeEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import type { KubeClient, KubeRequest } from '../../src/kube/client/client.ts';
import { ConnectError } from '../../src/kube/client/errors.ts';
import { ConfigMap } from '../../src/kubernetes.ts';
import type { Outcome } from '../../src/reconciling/outcome.ts';
import { createReconcile } from '../../src/reconciling/reconcile.ts';
import { useApiServer } from '../harness/api-server.ts';
import { aMessage } from '../sqs/messages.ts';
import type { BeforeRequest } from '../support/intercept-requests.ts';
import { built, silent, widget, widgetsOn } from './widgets.ts';

const { connect } = await useApiServer();
const widgets = widgetsOn(connect);
const { reconcile } = widgets;
const createOne = async () => await widgets.apply('one', { size: 1 });
/** Removes the object as a DELETE does that was decided before the finalizer was added. */
const deleteInSpite = async () => await widgets.vanish('one');

let resources: Set<string>;
let finalizeFails: boolean;
let errors: string[];
const log = { ...silent, error: (text: string) => void errors.push(text) };
beforeEach(() => {
  errors = [];
  resources = new Set();
  finalizeFails = false;
  widgets.behaviour.reconcile = async ({ metadata }) => {
    resources.add(metadata.uid);
    return { status: {}, conditions: { Built: built } };
  };
  widgets.behaviour.finalize = async ({ metadata }) => {
    if (finalizeFails) throw new Error('the external service is down');
    resources.delete(metadata.uid);
    return 'done';
  };
});

const orphan = z.looseObject({ metadata: z.looseObject({ uid: z.string() }) });
/** Returns the object that the dead letter of an outcome holds. */
const orphanIn = (outcome: Outcome) => orphan.parse(JSON.parse('orphan' in outcome ? (outcome.orphan ?? '') : ''));

/** Reconciles a new object, which is deleted just before its status is written. These requests then fail. */
async function reconcileDeleted(
  fails: (request: KubeRequest, after: number) => boolean,
  { maxWaits = Number.POSITIVE_INFINITY, deletes = true } = {},
) {
  await createOne();
  let requests = 0;
  let isDeleted = false;
  const deadline = new AbortController();
  widgets.onWait((waits) => {
    if (waits > maxWaits) deadline.abort(new Error('out of time'));
  });
  const before: BeforeRequest = async (request) => {
    if (!isDeleted && request.path.endsWith('/status')) {
      isDeleted = true;
      if (deletes) await deleteInSpite();
    }
    if (!isDeleted) return;
    requests += 1;
    if (fails(request, requests)) throw new ConnectError('connection reset');
  };
  return await reconcile('one', {}, { before, signal: deadline.signal, log });
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
  expect(errors).toEqual(['finalize failed after deletion; external resources may be orphaned']);
});

it.each([
  ['until the time ends', 5],
  ['long before the time ends, which are not repeated for ever', Number.POSITIVE_INFINITY],
])('an object whose write shows that it is gone, and whose reads fail %s, is retried, and its dead letter has the object', async (_, maxWaits) => {
  const { outcome } = await reconcileDeleted(({ method }) => method === 'GET', { maxWaits });
  expect(outcome).toMatchObject({
    ...{ type: 'postponed', reason: 'unreachable' },
    error: { message: expect.stringContaining('not finalized, and possibly deleted') },
  });
  expect(resources).toEqual(new Set([orphanIn(outcome).metadata.uid]));
});

it('an object that still exists after failed reads is no dead letter', async () => {
  const { outcome } = await reconcileDeleted((_, requests) => requests === 1, { deletes: false });
  expect(outcome).toMatchObject({ type: 'postponed' });
  expect(outcome).not.toHaveProperty('orphan');
});

it('an API server that fails from the status write until the time ends leaves the uid to the retry, which finds the object gone', async () => {
  const { outcome } = await reconcileDeleted(() => true, { maxWaits: 5 });
  const [uid] = resources;
  expect(outcome).toMatchObject({ type: 'postponed', reason: 'unreachable', unverifiedUid: uid });
  expect(outcome).not.toHaveProperty('orphan');
  // No dead letter, to which the line would refer: the retry finds out.
  expect(errors).toEqual([]);
  expect(await reconcile('one')).toMatchObject({ outcome: { type: 'nothing', reason: 'gone' }, foundUid: null });
});

it('an object that exists when the time ends is no dead letter', async () => {
  // The last of the reads, after the end of the time, is answered.
  const outcome = reconcileDeleted((_, requests) => requests < 9, { maxWaits: 6, deletes: false });
  await expect(outcome).rejects.toThrow('out of time');
});

const removeFinalizers = async () => await widgets.mergePatch('one', { metadata: { finalizers: [] } });

describe.each([
  { response: 'a conflict', fails: false },
  { response: 'no response', fails: true },
])('an object whose finalizer another client removes before the status write, which gets $response,', ({ fails }) => {
  const removeBeforeStatus = () => {
    const seen = { statusWrites: 0, reads: 0 };
    const before: BeforeRequest = async ({ method, path }) => {
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
    const { before } = removeBeforeStatus();
    expect((await reconcile('one', {}, { before })).outcome).toEqual({ type: 'done' });
    const stored = { metadata: { finalizers: ['outrigger.dev/widget'] }, status: {} };
    expect(await widgets.read('one')).toMatchObject(stored);
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
    const thenDelete: BeforeRequest = async (request) => {
      await before(request);
      if (seen.reads !== lastRead) return;
      seen.reads += 1;
      await widgets.remove('one');
    };
    const report = await reconcile('one', {}, { before: thenDelete });
    expect(report).toMatchObject({ outcome: { type: 'nothing', reason: 'gone' }, foundUid: null });
    expect([...resources]).toEqual(isDown ? [object.metadata.uid] : []);
    expect(report.orphan?.uid).toBe(isDown ? object.metadata.uid : undefined);
    expect(report.orphan?.object ?? '').toContain(isDown ? '"size":1' : '');
  });
});

it('an object that gets its finalizer again, whose status needs no write, is finalized if it is deleted in spite of it', async () => {
  await createOne();
  await reconcile('one');
  await removeFinalizers();
  let patched = false;
  const before: BeforeRequest = async ({ method }) => {
    if (patched && method === 'GET') await deleteInSpite().catch(() => undefined);
    patched ||= method === 'PATCH';
  };
  const report = await reconcile('one', {}, { before });
  expect([report.outcome, resources]).toEqual([{ type: 'done' }, new Set()]);
});

it('an object that is deleted without its finalizer before setMetadata is finalized, although another finalizer keeps it', async () => {
  await createOne();
  const labelling = widget.controller('labelling', {
    sets: { labels: ['example.com/size'] },
    async reconcile({ metadata: { uid } }, { setMetadata }) {
      resources.add(uid);
      await widgets.mergePatch('one', { metadata: { finalizers: ['example.com/other'] } });
      await widgets.remove('one');
      await setMetadata({ labels: { 'example.com/size': 'small' } });
      return { status: {}, conditions: { Built: built } };
    },
    async finalize({ metadata: { uid } }) {
      resources.delete(uid);
      return 'done';
    },
  });
  await widgets.reconcileBy(labelling, log)('one');
  expect([...resources]).toEqual([]);
  await widgets.mergePatch('one', { metadata: { finalizers: [] } });
});

it('an object of a kind without a status is finalized if it is deleted in spite of its finalizer', async () => {
  const { client, namespace } = widgets;
  const path = `/api/v1/namespaces/${namespace}/configmaps`;
  await client.request({
    method: 'POST',
    path,
    body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'one' } },
  });
  const reconciled: string[] = [];
  const { name, declaration, start } = ConfigMap.controller('config', {
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
      if (request.method === 'PATCH') await widgets.vanish('one', `${path}/one`);
      return response;
    },
  };
  const message = aMessage({ controller: 'config', group: '', resource: 'configmaps', namespace, name: 'one' });
  const run = createReconcile({ name, declaration, instance: start({}), now: () => new Date() });
  const signal = AbortSignal.timeout(10_000);
  const { outcome } = await run({ client: intercepted, message, messageId: 'm', log: silent, signal });
  expect(outcome).toEqual({ type: 'done' });
  expect(reconciled).toHaveLength(1);
  expect(resources).toEqual(new Set());
});
