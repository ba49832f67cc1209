// The life of a Namespace under TenantNetwork, and of a Deployment under a controller that only reports, against an API
// server: kinds that are not ours, whose status is never written.
import { beforeEach, describe, expect, it } from 'vitest';
import { tenantNetwork } from '../../src/controllers/tenant-network.ts';
import { applyObject } from '../../src/kube/apply/apply.ts';
import { objectPath } from '../../src/kube/client/path.ts';
import { ConfigMap, Deployment, Namespace, NetworkPolicy, ResourceQuota } from '../../src/kubernetes.ts';
import { useReconciles } from './client-reconciles.ts';

const user = { fieldManager: 'user' };
const held = 'outrigger.dev/managed-by-tenant-network';

const { client, deployed, events, keyOf, labelled, read: readObject, requests, run } = await useReconciles();
const reconcile = async () => await run(tenantNetwork);
const policy = async () => await readObject(NetworkPolicy, 'default-deny');
const quota = async () => await readObject(ResourceQuota, 'tenant');
const read = async () => await readObject(Namespace);

describe('TenantNetwork', () => {
  it('TN1, TN2, TN3: a Namespace with the label gets both children and a mark, and no status and no finalizer of ours; then a reconcile is one GET and one read an owned child, and a child that was deleted is created again', async () => {
    const before = await read();
    expect((await reconcile()).outcome).toEqual({ type: 'done' });
    expect(await policy()).toMatchObject({ spec: { podSelector: {}, policyTypes: ['Ingress'] } });
    expect(await quota()).toMatchObject({ spec: { hard: { pods: '50' } } });
    const after = await read();
    expect(after?.metadata.labels).toMatchObject({ tenant: 'true', [held]: 'true' });
    expect(after?.metadata.finalizers).toEqual(before?.metadata.finalizers);
    expect(after?.status).toEqual(before?.status);

    requests.length = 0;
    expect(await reconcile()).toMatchObject({ outcome: { type: 'done' }, writes: 0, noops: 0 });
    expect(requests.map((request) => request.split(' ')[0])).toEqual(['GET', 'GET', 'GET']);

    await client.request({ method: 'DELETE', path: objectPath(NetworkPolicy, keyOf(NetworkPolicy, 'default-deny')) });
    expect(await reconcile()).toMatchObject({ outcome: { type: 'done' }, writes: 1 });
    expect(await policy()).toBeDefined();
  });

  it('TN4: a Namespace that loses the label loses both children and the mark, and nothing else', async () => {
    await reconcile();
    await labelled({ team: 'blue' });
    expect((await reconcile()).outcome).toEqual({ type: 'done' });
    expect([await policy(), await quota()]).toEqual([undefined, undefined]);
    const { labels = {} } = (await read())?.metadata ?? {};
    expect(labels).toMatchObject({ team: 'blue' });
    expect(Object.keys(labels)).not.toContain(held);
    expect((await reconcile()).outcome).toEqual({ type: 'nothing', reason: 'not-selected' });
  });

  it('TN4: a Namespace that never had the label is left alone, whatever message names it', async () => {
    await labelled({ team: 'blue' });
    requests.length = 0;
    expect((await reconcile()).outcome).toEqual({ type: 'nothing', reason: 'not-selected' });
    expect(requests).toHaveLength(1);
    expect(await policy()).toBeUndefined();
  });

  it('the Namespaces of the cluster itself are not selected, even with the label', async () => {
    expect((await run(tenantNetwork, { name: 'kube-public' })).outcome).toMatchObject({ type: 'nothing' });
  });
});

it('leaving the selection runs finalize until it is done, and then removes the finalizer and the mark', async () => {
  let isDone = false;
  const controller = Namespace.controller('closing', {
    selector: { matchLabels: { tenant: 'true' } },
    reconcile: async () => undefined,
    finalize: async () => (isDone ? 'done' : { requeueAfterSeconds: 5, reason: 'Closing' }),
  });
  await run(controller);
  expect((await read())?.metadata.finalizers).toContain('outrigger.dev/closing');
  await labelled({});
  expect((await run(controller)).outcome).toEqual({ type: 'done', requeueAfterSeconds: 5 });
  expect((await read())?.metadata.finalizers).toContain('outrigger.dev/closing');
  isDone = true;
  await run(controller);
  const { finalizers = [], labels = {} } = (await read())?.metadata ?? {};
  expect(finalizers).not.toContain('outrigger.dev/closing');
  expect(Object.keys(labels)).not.toContain('outrigger.dev/managed-by-closing');
});

describe('a controller on Deployments', () => {
  beforeEach(async () => await deployed(1));

  it('an error is reported in an Event and retried, and the status of the Deployment is not touched', async () => {
    const failing = Deployment.controller('failing', {
      reconcile: async () => {
        throw new Error('no registry');
      },
    });
    expect((await run(failing)).outcome).toMatchObject({ type: 'failed' });
    expect(await events()).toContainEqual(
      expect.objectContaining({ type: 'Warning', message: expect.stringContaining('no registry') }),
    );
    const managers = (await readObject(Deployment))?.metadata.managedFields?.map(({ manager }) => manager) ?? [];
    expect(managers).not.toContain('outrigger-failing');
  });

  it('a result with a status is refused, since it would not be written', async () => {
    const wrong = Deployment.controller('wrong', { reconcile: (async () => ({ status: {} })) as never });
    expect((await run(wrong)).outcome).toMatchObject({ error: { message: expect.stringContaining('status') } });
  });
});

it('a namespace that is being deleted, or missing, holds up no child elsewhere, and the error names it', async () => {
  const { name: own } = keyOf(Namespace);
  const [going, missing] = [`${own}-going`, `${own}-missing`];
  const stays = { name: 'stays', namespace: going, finalizers: ['example.com/stays'] };
  const stayed = { apiVersion: 'v1', kind: 'ConfigMap', metadata: stays };
  await applyObject(client, Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: going } }, user);
  await applyObject(client, ConfigMap, stayed, user);
  await client.request({ method: 'DELETE', path: objectPath(Namespace, { name: going }) });
  const spreading = (...namespaces: readonly string[]) =>
    Namespace.controller('spreading', {
      owns: [ConfigMap],
      reconcile: async (_, { applyAll }) => {
        await applyAll(
          ConfigMap,
          namespaces.map((namespace) => ({ metadata: { name: 'spread', namespace } })),
        );
      },
    });
  const message = expect.stringMatching(new RegExp(`${going} because it is being .*"${missing}" not found`));
  expect((await run(spreading(going, missing, own))).outcome).toMatchObject({ type: 'failed', error: { message } });
  expect(await readObject(ConfigMap, 'spread')).toBeDefined();
  const waiting = { type: 'postponed', reason: 'child-namespace-terminating' };
  expect((await run(spreading(going))).outcome).toMatchObject(waiting);
  await applyObject(client, ConfigMap, { ...stayed, metadata: { ...stays, finalizers: [] } }, user);
});
