// Detaching controllers from the objects of a kind, their children and copies of children, also with concurrent writes and
// failures. Cases for any API server. The command is in test/cli/detach.test.ts.

import { type DetachTarget, detach, findControllers } from '@outrigger/cli/operations/detach';
import { expect, inject, it } from 'vitest';
import { ok } from '../../src/api/conditions.ts';
import { foreignKind } from '../../src/api/foreign-kind.ts';
import { dinner } from '../../src/controllers/dinner.ts';
import { Ingredient } from '../../src/controllers/ingredient.ts';
import { WaterTank, waterTank } from '../../src/controllers/water-tank.ts';
import { silentLog } from '../../src/core/log.ts';
import { pausedAnnotation } from '../../src/core/names.ts';
import { applyObject } from '../../src/kube/apply/apply.ts';
import type { KubeClient } from '../../src/kube/client/client.ts';
import { ApiError } from '../../src/kube/client/errors.ts';
import type { KubeObject } from '../../src/kube/client/object.ts';
import { parseObject } from '../../src/kube/client/object.ts';
import { ConfigMap } from '../../src/kubernetes.ts';
import { createReconcile } from '../../src/reconciling/reconcile.ts';
import { withoutQueue } from '../../src/reconciling/without-queue.ts';
import { useApiServer } from '../harness/api-server.ts';
import { aMessage } from '../sqs/messages.ts';
import { confine, useSystem } from '../statements/harness.ts';
import { interceptRequests } from '../support/intercept-requests.ts';

const { signal } = new AbortController();
const tank: DetachTarget = { resource: WaterTank, scope: { controllers: new Set([waterTank.name]), as: 'primary' } };

const { connect } = await useApiServer();
const system = useSystem(connect);
/** A client that reads no other namespace than that of the case. */
const ownClient = () => confine(system.client, system.namespace);
/** Creates tanks and reconciles them. */
async function tanks(...names: readonly string[]): Promise<void> {
  for (const name of names) await system.apply(WaterTank, name, { targetLevel: 40, capacity: 100 });
  await system.reconcile(WaterTank, ...names);
}
const detachFrom = async (target: DetachTarget, through = ownClient()) =>
  await detach(through, target, { dryRun: false, signal });
/** Returns the field managers of Outrigger controllers on an object. */
const managersOf = ({ metadata }: KubeObject) =>
  (metadata.managedFields ?? []).flatMap(({ manager = '' }) => (manager.startsWith('outrigger-') ? [manager] : []));

it('detach removes finalizers, field ownership and annotations, and leaves spec and status unchanged', async () => {
  await tanks('north');
  const before = await system.patch(WaterTank, 'north', {
    metadata: { annotations: { [pausedAnnotation]: 'true', foreign: 'x' } },
  });
  expect(before.metadata.finalizers).toHaveLength(1);
  expect(managersOf(before)).not.toEqual([]);
  const counts = { objects: 1, affected: 1, finalizers: 1, metadata: 1 };
  expect(await detachFrom(tank)).toMatchObject({ ...counts, failed: [], deleting: [] });
  const after = await system.read(WaterTank, 'north');
  // The user of this test writes with the field manager "outrigger", the default of the client.
  expect(JSON.stringify(after.metadata)).not.toMatch(/outrigger[.-]/);
  expect(after.metadata.annotations).toEqual({ foreign: 'x' });
  expect(after.spec).toEqual(before.spec);
  expect(after.status).toEqual(before.status);
  expect(after.metadata.generation).toBe(before.metadata.generation);
});

it('detach keeps the finalizers and the field ownership of others', async () => {
  await tanks('north');
  await system.patch(WaterTank, 'north', {
    metadata: { finalizers: ['example.com/foreign', 'outrigger.dev/water-tank'] },
  });
  expect((await detachFrom(tank)).failed).toEqual([]);
  const { metadata } = await system.read(WaterTank, 'north');
  expect(metadata.finalizers).toEqual(['example.com/foreign']);
  expect(metadata.managedFields?.map(({ manager }) => manager)).toContain('user');
  await system.patch(WaterTank, 'north', { metadata: { finalizers: null } });
});

it('detach releases an object whose deletion waits for the finalizer, and names it', async () => {
  await tanks('north', 'south');
  await system.delete(WaterTank, 'north');
  expect(await system.get(WaterTank, 'north')).toBeDefined();
  const { deleting } = await detachFrom(tank);
  expect(deleting).toEqual([`${system.namespace}/north`]);
  expect(await system.get(WaterTank, 'north')).toBeUndefined();
});

it('findControllers finds controllers in no registry, by their finalizers and status managers', async () => {
  await tanks('north');
  await system.patch(WaterTank, 'north', {
    metadata: { finalizers: ['outrigger.dev/pump', 'example.com/foreign'] },
  });
  expect(await findControllers(ownClient(), WaterTank, { signal })).toEqual(new Set(['pump', 'water-tank']));
  await system.patch(WaterTank, 'north', { metadata: { finalizers: null } });
});

it('detach with `shared` removes the metadata of one controller, and keeps the pause of a user', async () => {
  await tanks('north');
  await system.patch(WaterTank, 'north', {
    metadata: {
      finalizers: ['outrigger.dev/former', 'outrigger.dev/water-tank'],
      annotations: { [pausedAnnotation]: 'true' },
    },
  });
  const scope = { controllers: new Set(['former']), as: 'primary', shared: true } as const;
  expect(await detachFrom({ resource: WaterTank, scope })).toMatchObject({ finalizers: 1, managers: 0, metadata: 0 });
  const after = await system.read(WaterTank, 'north');
  expect(after.metadata.finalizers).toEqual(['outrigger.dev/water-tank']);
  expect(after.metadata.annotations).toEqual({ [pausedAnnotation]: 'true' });
  expect(managersOf(after)).toContain('outrigger-water-tank');
  await system.patch(WaterTank, 'north', { metadata: { finalizers: null } });
});

it('detach with `finalizersOnly` takes the finalizer of a running controller without finalize, except during a deletion', async () => {
  await tanks('north', 'south');
  const { start, ...later } = WaterTank.controller(waterTank.name, {
    reconcile: async () => ({
      status: { action: 'Holding' },
      conditions: { AtLevel: ok('Full'), SensorReachable: ok('Reading') },
    }),
  });
  const { group, plural: resource } = WaterTank;
  const { client, namespace } = system;
  const reconcile = withoutQueue(createReconcile({ ...later, instance: start({}), now: () => new Date() }));
  const run = async (name = 'north') => {
    const message = aMessage({ controller: later.name, group, resource, namespace, name });
    return (await reconcile({ client, message, messageId: 'm', log: silentLog, signal })).outcome.type;
  };
  expect(await run()).toBe('done');
  const before = await system.read(WaterTank, 'north');
  expect(before.metadata.finalizers).toEqual(['outrigger.dev/water-tank']);
  const only = { ...tank, scope: { ...tank.scope, finalizersOnly: true } };
  await system.delete(WaterTank, 'south');
  const counts = { affected: 1, finalizers: 1, managers: 0, metadata: 0 };
  expect(await detachFrom(only)).toMatchObject({ ...counts, deleting: [`${namespace}/south`] });
  expect(await run('south')).toBe('done');
  expect(await system.get(WaterTank, 'south')).toBeUndefined();
  expect(await run()).toBe('done');
  const { metadata, status } = await system.read(WaterTank, 'north');
  expect([metadata.finalizers, status]).toEqual([undefined, before.status]);
  expect(await detachFrom(only)).toMatchObject({ affected: 0 });
  await system.delete(WaterTank, 'north');
  expect(await system.get(WaterTank, 'north')).toBeUndefined();
});

it('detach with `dryRun` counts, and writes nothing', async () => {
  await tanks('north');
  const before = await system.read(WaterTank, 'north');
  expect(await detach(ownClient(), tank, { dryRun: true, signal })).toMatchObject({ affected: 1, finalizers: 1 });
  expect(await system.read(WaterTank, 'north')).toEqual(before);
});

/** A client that runs an action before its first write. */
const once = (act: () => Promise<unknown>) => {
  let acted = false;
  return interceptRequests(ownClient(), async ({ method }) => {
    if (acted || method !== 'PATCH') return;
    acted = true;
    await act();
  });
};

/** A client whose lists have one object per page, and call back with each continue token, or none. */
const onePerPage = (onPage: (token: string | undefined, path: string) => void): KubeClient => ({
  ...ownClient(),
  request: async (request) => {
    const { continue: token, limit } = request.query ?? {};
    if (limit === undefined) return await ownClient().request(request);
    onPage(token === undefined ? undefined : String(token), request.path);
    return await ownClient().request({ ...request, query: { ...request.query, limit: 1 } });
  },
});

it('detach keeps a finalizer that is added between its read and its write', async () => {
  await tanks('north');
  const through = once(async () => {
    const finalizers = ['outrigger.dev/water-tank', 'example.com/late'];
    await system.patch(WaterTank, 'north', { metadata: { finalizers } });
  });
  expect(await detachFrom(tank, through)).toMatchObject({ affected: 1, failed: [] });
  expect((await system.read(WaterTank, 'north')).metadata.finalizers).toEqual(['example.com/late']);
  await system.patch(WaterTank, 'north', { metadata: { finalizers: null } });
});

it('detach ignores an object that is deleted meanwhile', async () => {
  await tanks('north');
  const through = once(async () => {
    await system.patch(WaterTank, 'north', { metadata: { finalizers: null } });
    await system.delete(WaterTank, 'north');
  });
  expect(await detachFrom(tank, through)).toMatchObject({ failed: [] });
});

it('detach continues a list whose continue token expires after each page, and counts every object once', async () => {
  await tanks('a', 'b', 'c');
  let lists = 0;
  let isValid = true;
  const expiring = onePerPage((token, path) => {
    if (token === undefined) lists += 1;
    if (lists === 9) throw new Error('the list does not end');
    isValid = token === undefined || !isValid;
    const body = { kind: 'Status', reason: 'Expired', metadata: { continue: token } };
    if (!isValid) throw new ApiError(`GET ${path}`, 410, body);
  });
  expect(await detachFrom(tank, expiring)).toMatchObject({ objects: 3, affected: 3, failed: [] });
});

it('detach ends with the 410 of a list that expires after its first page for the 21st time', async () => {
  await tanks('a', 'b');
  let lists = 0;
  const expiring = onePerPage((token, path) => {
    if (token !== undefined) throw new ApiError(`GET ${path}`, 410, { kind: 'Status', reason: 'Expired' });
    lists += 1;
  });
  await expect(detachFrom(tank, expiring)).rejects.toThrow('410');
  expect(lists).toBe(21);
});

it('detach reports an object that could not be written, detaches the others, and can be rerun', async () => {
  await tanks('a', 'b', 'c');
  const failing = interceptRequests(ownClient(), ({ method, path }) => {
    if (method === 'PATCH' && path.endsWith('/b')) throw new Error('no such luck');
  });
  const { affected, failed } = await detachFrom(tank, failing);
  expect(affected).toBe(2);
  expect(failed).toEqual([{ object: `${system.namespace}/b`, reason: 'no such luck' }]);
  expect(await detachFrom(tank)).toMatchObject({ objects: 3, affected: 1, failed: [] });
  expect(await detach(ownClient(), tank, { dryRun: true, signal })).toMatchObject({ objects: 3, affected: 0 });
});

it('after detach objects can be deleted, and a controller that runs again adds its finalizer', async () => {
  await tanks('north', 'south');
  await detachFrom(tank);
  await system.reconcile(WaterTank, 'south');
  expect((await system.read(WaterTank, 'south')).metadata.finalizers).toEqual(['outrigger.dev/water-tank']);
  await detachFrom(tank);
  for (const name of ['north', 'south']) await system.delete(WaterTank, name);
  expect(await system.list(WaterTank)).toEqual([]);
});

const Dinner = dinner.declaration.resource;
const childrenOfDinners = (orphan: boolean): DetachTarget => ({
  resource: Ingredient,
  scope: { controllers: new Set([dinner.name]), as: 'child', orphan },
});

async function aDinner(): Promise<void> {
  await system.apply(Dinner, 'soup', { ingredients: [{ name: 'leek', item: 'leek', amount: 1, unit: 'g' }] });
  await system.reconcile(Dinner, 'soup');
  await system.reconcile(Ingredient, 'soup-leek');
}

it('detach removes labels, annotations and field ownership of children, and keeps their owner', async () => {
  await aDinner();
  const before = await system.read(Ingredient, 'soup-leek');
  expect(await detachFrom(childrenOfDinners(false))).toMatchObject({ affected: 1, finalizers: 0, metadata: 3 });
  const after = await system.read(Ingredient, 'soup-leek');
  expect(managersOf(after)).not.toContain('outrigger-dinner');
  expect(JSON.stringify([after.metadata.labels ?? {}, after.metadata.annotations ?? {}])).not.toContain('outrigger');
  expect(after.metadata.ownerReferences).toEqual(before.metadata.ownerReferences);
  // The child also has a controller of its own, which still runs.
  expect(after.metadata.finalizers).toEqual(['outrigger.dev/ingredient']);
  expect(managersOf(after)).toContain('outrigger-ingredient');
});

it('detach with `orphan` removes the owner references of children', async () => {
  await aDinner();
  await detachFrom(childrenOfDinners(true));
  expect((await system.read(Ingredient, 'soup-leek')).metadata).not.toHaveProperty('ownerReferences');
});

it('detach removes the managed fields of a child whose only manager was the controller', async () => {
  const labels = { 'outrigger.dev/controller': 'former', 'outrigger.dev/owner-uid': 'gone' };
  const metadata = { name: 'left', namespace: system.namespace, labels };
  const made = parseObject({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { a: 'b' } });
  await applyObject(system.client, ConfigMap, made, { fieldManager: 'outrigger-former' });
  await detachFrom({ resource: ConfigMap, scope: { controllers: new Set(['former']), as: 'child' } });
  const after = await system.read(ConfigMap, 'left');
  expect(after.metadata).not.toHaveProperty('managedFields');
  expect(after.data).toEqual({ a: 'b' });
});

it('detach of a former controller keeps the labels of the child’s new controller', async () => {
  await aDinner();
  const labels = { 'outrigger.dev/controller': 'other' };
  await system.patch(Ingredient, 'soup-leek', { metadata: { labels } });
  const counts = { objects: 1, affected: 1, managers: 1, metadata: 0 };
  expect(await detachFrom(childrenOfDinners(true))).toMatchObject(counts);
  const { metadata } = await system.read(Ingredient, 'soup-leek');
  expect(metadata.labels).toMatchObject(labels);
  expect(metadata.ownerReferences).toHaveLength(1);
  expect(await detachFrom(childrenOfDinners(true))).toMatchObject({ objects: 1, affected: 0 });
});

it.runIf(inject('apiServer') === 'memory')(
  'detach of copies removes the annotation after the original has none',
  async () => {
    const meta = (name: string) => ({
      name,
      namespace: system.namespace,
      annotations: { 'outrigger.dev/owner': 'shop/one', foreign: 'x' },
    });
    const selector = { matchLabels: { a: 'b' } };
    const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'c' }] } };
    const apps = (kind: string) => foreignKind({ group: 'apps', version: 'v1', kind });
    const create = async (kind: string, metadata: object) => {
      const object = parseObject({ apiVersion: 'apps/v1', kind, metadata, spec: { replicas: 0, selector, template } });
      return await applyObject(system.client, apps(kind), object, { fieldManager: 'test' });
    };
    const { metadata: deployment } = await create('Deployment', meta('web'));
    const owner = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web', uid: deployment.uid, controller: true };
    await create('ReplicaSet', { ...meta('web-1'), ownerReferences: [owner] });
    const copies: DetachTarget = {
      resource: apps('ReplicaSet'),
      scope: { controllers: new Set(['former']), as: 'copy' },
    };
    expect(await detachFrom(copies)).toMatchObject({ affected: 0 });
    await system.patch(apps('Deployment'), 'web', {
      metadata: { annotations: { 'outrigger.dev/owner': null } },
    });
    expect(await detachFrom(copies)).toMatchObject({ affected: 1, metadata: 1 });
    expect((await system.read(apps('ReplicaSet'), 'web-1')).metadata.annotations).toEqual({ foreign: 'x' });
  },
);
