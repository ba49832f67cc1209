// Detaching controllers from the objects of a kind, also with concurrent writes and failures. Cases for any API server.
// Children are in detach-children.test.ts, the command in test/cli/detach.test.ts.
import { expect, it } from 'vitest';
import { ok } from '../../src/api/conditions.ts';
import { WaterTank, waterTank } from '../../src/controllers/water-tank.ts';
import { silentLog } from '../../src/core/log.ts';
import { pausedAnnotation } from '../../src/core/names.ts';
import type { KubeClient } from '../../src/kube/client/client.ts';
import { ApiError } from '../../src/kube/client/errors.ts';
import { type DetachTarget, detach, findControllers } from '../../src/operations/detach.ts';
import { createReconcile } from '../../src/reconciling/reconcile.ts';
import { useApiServer } from '../harness/api-server.ts';
import { aMessage } from '../sqs/messages.ts';
import { interceptRequests } from '../support/intercept-requests.ts';
import { detachFixture, managersOf } from './detach-fixture.ts';

const { signal } = new AbortController();
const tank: DetachTarget = { resource: WaterTank, scope: { controllers: new Set([waterTank.name]), as: 'primary' } };

const { connect } = await useApiServer();
const fixture = detachFixture(connect);
const { detachFrom, tanks } = fixture;

it('detach removes finalizers, field ownership and annotations, and leaves spec and status unchanged', async () => {
  await tanks('north');
  const before = await fixture.system.patch(WaterTank, 'north', {
    metadata: { annotations: { [pausedAnnotation]: 'true', foreign: 'x' } },
  });
  expect(before.metadata.finalizers).toHaveLength(1);
  expect(managersOf(before)).not.toEqual([]);
  const counts = { objects: 1, affected: 1, finalizers: 1, metadata: 1 };
  expect(await detachFrom(tank)).toMatchObject({ ...counts, failed: [], deleting: [] });
  const after = await fixture.system.read(WaterTank, 'north');
  // The user of this test writes with the field manager "outrigger", the default of the client.
  expect(JSON.stringify(after.metadata)).not.toMatch(/outrigger[.-]/);
  expect(after.metadata.annotations).toEqual({ foreign: 'x' });
  expect(after.spec).toEqual(before.spec);
  expect(after.status).toEqual(before.status);
  expect(after.metadata.generation).toBe(before.metadata.generation);
});

it('detach keeps the finalizers and the field ownership of others', async () => {
  await tanks('north');
  await fixture.system.patch(WaterTank, 'north', {
    metadata: { finalizers: ['example.com/foreign', 'outrigger.dev/water-tank'] },
  });
  expect((await detachFrom(tank)).failed).toEqual([]);
  const { metadata } = await fixture.system.read(WaterTank, 'north');
  expect(metadata.finalizers).toEqual(['example.com/foreign']);
  expect(metadata.managedFields?.map(({ manager }) => manager)).toContain('user');
  await fixture.system.patch(WaterTank, 'north', { metadata: { finalizers: null } });
});

it('detach releases an object whose deletion waits for the finalizer, and names it', async () => {
  await tanks('north', 'south');
  await fixture.system.delete(WaterTank, 'north');
  expect(await fixture.system.get(WaterTank, 'north')).toBeDefined();
  const { deleting } = await detachFrom(tank);
  expect(deleting).toEqual([`${fixture.system.namespace}/north`]);
  expect(await fixture.system.get(WaterTank, 'north')).toBeUndefined();
});

it('findControllers finds controllers in no registry, by their finalizers and status managers', async () => {
  await tanks('north');
  await fixture.system.patch(WaterTank, 'north', {
    metadata: { finalizers: ['outrigger.dev/pump', 'example.com/foreign'] },
  });
  expect(await findControllers(fixture.client, WaterTank, { signal })).toEqual(new Set(['pump', 'water-tank']));
  await fixture.system.patch(WaterTank, 'north', { metadata: { finalizers: null } });
});

it('detach with `shared` removes the metadata of one controller, and keeps the pause of a user', async () => {
  await tanks('north');
  await fixture.system.patch(WaterTank, 'north', {
    metadata: {
      finalizers: ['outrigger.dev/former', 'outrigger.dev/water-tank'],
      annotations: { [pausedAnnotation]: 'true' },
    },
  });
  const scope = { controllers: new Set(['former']), as: 'primary', shared: true } as const;
  expect(await detachFrom({ resource: WaterTank, scope })).toMatchObject({ finalizers: 1, managers: 0, metadata: 0 });
  const after = await fixture.system.read(WaterTank, 'north');
  expect(after.metadata.finalizers).toEqual(['outrigger.dev/water-tank']);
  expect(after.metadata.annotations).toEqual({ [pausedAnnotation]: 'true' });
  expect(managersOf(after)).toContain('outrigger-water-tank');
  await fixture.system.patch(WaterTank, 'north', { metadata: { finalizers: null } });
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
  const { client, namespace } = fixture.system;
  const reconcile = createReconcile({ ...later, instance: start({}), now: () => new Date() });
  const run = async (name = 'north') => {
    const message = aMessage({ controller: later.name, group, resource, namespace, name });
    return (await reconcile({ client, message, messageId: 'm', log: silentLog, signal })).outcome.type;
  };
  expect(await run()).toBe('done');
  const before = await fixture.system.read(WaterTank, 'north');
  expect(before.metadata.finalizers).toEqual(['outrigger.dev/water-tank']);
  const only = { ...tank, scope: { ...tank.scope, finalizersOnly: true } };
  await fixture.system.delete(WaterTank, 'south');
  const counts = { affected: 1, finalizers: 1, managers: 0, metadata: 0 };
  expect(await detachFrom(only)).toMatchObject({ ...counts, deleting: [`${namespace}/south`] });
  expect(await run('south')).toBe('done');
  expect(await fixture.system.get(WaterTank, 'south')).toBeUndefined();
  expect(await run()).toBe('done');
  const { metadata, status } = await fixture.system.read(WaterTank, 'north');
  expect([metadata.finalizers, status]).toEqual([undefined, before.status]);
  expect(await detachFrom(only)).toMatchObject({ affected: 0 });
  await fixture.system.delete(WaterTank, 'north');
  expect(await fixture.system.get(WaterTank, 'north')).toBeUndefined();
});

it('detach with `dryRun` counts, and writes nothing', async () => {
  await tanks('north');
  const before = await fixture.system.read(WaterTank, 'north');
  expect(await detach(fixture.client, tank, { dryRun: true, signal })).toMatchObject({ affected: 1, finalizers: 1 });
  expect(await fixture.system.read(WaterTank, 'north')).toEqual(before);
});

/** A client that runs an action before its first write. */
const once = (act: () => Promise<unknown>) => {
  let acted = false;
  return interceptRequests(fixture.client, async ({ method }) => {
    if (acted || method !== 'PATCH') return;
    acted = true;
    await act();
  });
};

/** A client whose lists have one object per page, and call back with each continue token, or none. */
const onePerPage = (onPage: (token: string | undefined, path: string) => void): KubeClient => ({
  ...fixture.client,
  request: async (request) => {
    const { continue: token, limit } = request.query ?? {};
    if (limit === undefined) return await fixture.client.request(request);
    onPage(token === undefined ? undefined : String(token), request.path);
    return await fixture.client.request({ ...request, query: { ...request.query, limit: 1 } });
  },
});

it('detach keeps a finalizer that is added between its read and its write', async () => {
  await tanks('north');
  const through = once(async () => {
    const finalizers = ['outrigger.dev/water-tank', 'example.com/late'];
    await fixture.system.patch(WaterTank, 'north', { metadata: { finalizers } });
  });
  expect(await detachFrom(tank, through)).toMatchObject({ affected: 1, failed: [] });
  expect((await fixture.system.read(WaterTank, 'north')).metadata.finalizers).toEqual(['example.com/late']);
  await fixture.system.patch(WaterTank, 'north', { metadata: { finalizers: null } });
});

it('detach ignores an object that is deleted meanwhile', async () => {
  await tanks('north');
  const through = once(async () => {
    await fixture.system.patch(WaterTank, 'north', { metadata: { finalizers: null } });
    await fixture.system.delete(WaterTank, 'north');
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
  const failing = interceptRequests(fixture.client, ({ method, path }) => {
    if (method === 'PATCH' && path.endsWith('/b')) throw new Error('no such luck');
  });
  const { affected, failed } = await detachFrom(tank, failing);
  expect(affected).toBe(2);
  expect(failed).toEqual([{ object: `${fixture.system.namespace}/b`, reason: 'no such luck' }]);
  expect(await detachFrom(tank)).toMatchObject({ objects: 3, affected: 1, failed: [] });
  expect(await detach(fixture.client, tank, { dryRun: true, signal })).toMatchObject({ objects: 3, affected: 0 });
});

it('after detach objects can be deleted, and a controller that runs again adds its finalizer', async () => {
  await tanks('north', 'south');
  await detachFrom(tank);
  await fixture.system.reconcile(WaterTank, 'south');
  expect((await fixture.system.read(WaterTank, 'south')).metadata.finalizers).toEqual(['outrigger.dev/water-tank']);
  await detachFrom(tank);
  for (const name of ['north', 'south']) await fixture.system.delete(WaterTank, name);
  expect(await fixture.system.list(WaterTank)).toEqual([]);
});
