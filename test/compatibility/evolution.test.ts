// Changes of a kind and its controller while objects exist: between the two halves of an upgrade (CRDs, functions), and
// after a controller was renamed or removed. The messages of two versions are in kept-versions.test.ts.

import { detach } from '@outrigger/cli/operations/detach';
import { beforeEach, expect, it } from 'vitest';
import * as z from 'zod';
import { type AnyCustomKind, defineKind } from '../../src/api/custom-kind.ts';
import type { ControllerDefinition } from '../../src/api/definition.ts';
import { crdOf } from '../../src/generate/crd/crd.ts';
import { applyObject } from '../../src/kube/apply/apply.ts';
import { parseObject } from '../../src/kube/client/object.ts';
import { objectPath } from '../../src/kube/client/path.ts';
import { getObject, listPages } from '../../src/kube/client/read.ts';
import { ConfigMap } from '../../src/kubernetes.ts';
import { createReconcile } from '../../src/reconciling/reconcile.ts';
import { withoutQueue } from '../../src/reconciling/without-queue.ts';
import { useClient } from '../harness/api-server.ts';
import { silent } from '../reconciling/widgets.ts';
import { asChange } from '../sqs/messages.ts';
import { applyDefinition } from '../support/established.ts';

const { signal } = new AbortController();
const names = { group: 'evolution.example.com', version: 'v1', kind: 'Boat' } as const;
const afloat = { status: 'True', reason: 'Afloat' } as const;

const plain = {
  spec: z.object({ seats: z.number() }),
  status: z.object({ note: z.string() }),
  conditions: ['Afloat'] as const,
};
const boat = defineKind({ ...names, ...plain });
/** The same kind with a new field in spec, which has a default, and a new field in status. */
const sailingBoat = defineKind({
  ...names,
  spec: z.object({ seats: z.number(), sails: z.number().default(1) }),
  status: z.object({ note: z.string(), sails: z.number() }),
  conditions: ['Afloat'],
});
/** The same kind with a stricter rule, and a required field that no object has yet. */
const namedBoat = defineKind({
  ...names,
  spec: z.object({ seats: z.number().max(4), port: z.string() }),
  status: z.object({ note: z.string() }),
  conditions: ['Afloat'],
});

const controller = (name: string, kind = boat) =>
  kind.controller(name, {
    owns: [ConfigMap],
    reconcile: async ({ metadata, spec }, { applyAll }) => {
      await applyAll(ConfigMap, [{ metadata: { name: metadata.name } }]);
      return { status: { note: `${spec.seats} seats` }, conditions: { Afloat: afloat } };
    },
    finalize: async () => 'done',
  });
const current = controller('boat');
const next = sailingBoat.controller('boat', {
  reconcile: async ({ spec: { seats, sails } }) => ({
    status: { note: `${seats} seats`, sails },
    conditions: { Afloat: afloat },
  }),
  finalize: async () => 'done',
});
const strict = namedBoat.controller('boat', {
  reconcile: async ({ spec }) => ({ status: { note: spec.port }, conditions: { Afloat: afloat } }),
  finalize: async () => 'done',
});

const client = await useClient();
beforeEach(() => applyDefinition(client, parseObject(crdOf(boat))));

const deployDefinition = async (kind: AnyCustomKind) => await applyDefinition(client, parseObject(crdOf(kind)));
const keyOf = (name: string) => ({ name, namespace: 'default' });
const read = async (name: string, kind: AnyCustomKind = boat) => await getObject(client, kind, keyOf(name));
const status = async (name: string) => (await read(name))?.status;
const create = async (name: string, spec: object, { apiVersion, kind, ...resource }: AnyCustomKind = boat) =>
  await applyObject(client, resource, { apiVersion, kind, metadata: keyOf(name), spec }, { fieldManager: 'user' });
const remove = async (name: string) => await client.request({ method: 'DELETE', path: objectPath(boat, keyOf(name)) });
async function reconcile({ name, declaration, start }: ControllerDefinition, object: string) {
  const run = withoutQueue(createReconcile({ name, declaration, instance: start({}), now: () => new Date() }));
  const { group, plural } = declaration.resource;
  const key = { controller: name, cluster: 'test', group, resource: plural, ...keyOf(object) };
  const message = { ...key, ...asChange() };
  return await run({ client, message, messageId: 'm', log: silent, signal: AbortSignal.timeout(15_000) });
}

it('new fields: old functions work with the new CRD, and new functions write the fields', async () => {
  await create('added', { seats: 2 });
  await reconcile(current, 'added');
  await deployDefinition(sailingBoat);
  expect(await reconcile(current, 'added')).toMatchObject({ outcome: { type: 'done' }, writes: 0 });
  expect(await reconcile(next, 'added')).toMatchObject({ outcome: { type: 'done' } });
  expect(await status('added')).toMatchObject({ note: '2 seats', sails: 1 });
  expect(await reconcile(next, 'added')).toMatchObject({ writes: 0 });
});

it('new fields: new functions with the old CRD are retried, lose nothing, and name the unknown field', async () => {
  await create('early', { seats: 2 });
  await reconcile(current, 'early');
  const { outcome } = await reconcile(next, 'early');
  expect(outcome).toMatchObject({ type: 'failed', error: { message: expect.stringContaining('.status.sails') } });
  expect(await status('early')).toMatchObject({ note: '2 seats' });
  await deployDefinition(sailingBoat);
  expect((await reconcile(next, 'early')).outcome).toEqual({ type: 'done' });
  expect(await status('early')).toMatchObject({ sails: 1 });
});

it('a removed field disappears from a status with the first reconcile of the new functions', async () => {
  await deployDefinition(sailingBoat);
  await create('lost', { seats: 2 });
  await reconcile(next, 'lost');
  await reconcile(current, 'lost');
  expect(await status('lost')).not.toHaveProperty('sails');
  await deployDefinition(boat);
  expect(await reconcile(current, 'lost')).toMatchObject({ outcome: { type: 'done' }, writes: 0 });
});

it('a stricter kind leaves invalid objects unchanged, names the fields in Ready, and accepts corrections', async () => {
  await create('old', { seats: 9 });
  await create('older', { seats: 9 });
  await reconcile(current, 'old');
  await reconcile(current, 'older');
  await deployDefinition(namedBoat);
  expect((await reconcile(strict, 'old')).outcome.type).not.toBe('done');
  const ready = {
    type: 'Ready',
    status: 'False',
    reason: 'InvalidSpec',
    message: expect.stringMatching(/seats.*port/s),
  };
  expect(await status('old')).toMatchObject({
    note: '9 seats',
    conditions: expect.arrayContaining([expect.objectContaining(ready)]),
  });
  await create('old', { seats: 4, port: 'Kiel' });
  expect((await reconcile(strict, 'old')).outcome).toEqual({ type: 'done' });
  expect(await status('old')).toMatchObject({ note: 'Kiel' });
  // During deletion its spec must become readable as well: a finalizer cannot act on a spec that it cannot read.
  await remove('older');
  await reconcile(strict, 'older');
  expect((await read('older'))?.metadata.finalizers).toEqual(['outrigger.dev/boat']);
  await create('older', { seats: 4, port: 'Kiel' });
  await reconcile(strict, 'older');
  expect(await read('older')).toBeUndefined();
});

it('a new version of a kind reconciles the objects of a former version, which is still served', async () => {
  const ship = (version: string, formerVersions: readonly string[] = []) =>
    defineKind({ ...names, ...plain, group: 'grown.example.com', version, formerVersions });
  const [before, after] = [ship('v1alpha1'), ship('v1', ['v1alpha1'])];
  await deployDefinition(before);
  await create('grown', { seats: 2 }, before);
  await reconcile(controller('ship', before), 'grown');
  const child = await getObject(client, ConfigMap, keyOf('grown'));
  await deployDefinition(after);
  const grown = controller('ship', after);
  expect((await reconcile(grown, 'grown')).outcome).toEqual({ type: 'done' });
  expect(await reconcile(grown, 'grown')).toMatchObject({ writes: 0 });
  expect((await getObject(client, ConfigMap, keyOf('grown')))?.metadata.uid).toBe(child?.metadata.uid);
  // A rollback is that of the functions alone.
  await expect(deployDefinition(before)).rejects.toThrow('status.storedVersions');
  expect((await reconcile(controller('ship', before), 'grown')).outcome).toEqual({ type: 'done' });
  await create('grown', { seats: 3 }, before);
  await reconcile(grown, 'grown');
  expect((await read('grown', before))?.status).toMatchObject({ note: '3 seats' });
  await client.request({ method: 'DELETE', path: objectPath(before, keyOf('grown')) });
  await reconcile(grown, 'grown');
  expect(await read('grown', after)).toBeUndefined();
});

const renamed = controller('vessel');
const metadataOf = async (name: string) => JSON.stringify((await read(name))?.metadata);
const detachFormer = async () => {
  const controllers = new Set([current.name]);
  await detach(client, { resource: boat, scope: { controllers, as: 'primary' } }, { dryRun: false, signal });
  await detach(client, { resource: ConfigMap, scope: { controllers, as: 'child' } }, { dryRun: false, signal });
};
const child = async (name: string) => await getObject(client, ConfigMap, keyOf(name));

it('a renamed controller leaves a finalizer that no controller removes', async () => {
  await create('hanging', { seats: 2 });
  await reconcile(current, 'hanging');
  await reconcile(renamed, 'hanging');
  await remove('hanging');
  await reconcile(renamed, 'hanging');
  expect((await read('hanging'))?.metadata.finalizers).toEqual(['outrigger.dev/boat']);
  await detachFormer();
  expect(await read('hanging')).toBeUndefined();
});

it('a renamed controller keeps its objects and children while its former name is detached', async () => {
  await create('kept', { seats: 2 });
  await reconcile(current, 'kept');
  const before = await child('kept');
  await reconcile(renamed, 'kept');
  await detachFormer();
  await reconcile(renamed, 'kept');
  expect(await metadataOf('kept')).not.toMatch(/outrigger[.-](dev\/)?boat/);
  expect((await read('kept'))?.metadata.finalizers).toEqual(['outrigger.dev/vessel']);
  const after = await child('kept');
  expect(after?.metadata.uid).toBe(before?.metadata.uid);
  expect(after?.metadata.labels).toMatchObject({ 'outrigger.dev/controller': 'vessel' });
  expect(JSON.stringify(after?.metadata)).not.toContain('outrigger-boat');
  await remove('kept');
  await reconcile(renamed, 'kept');
  expect(await read('kept')).toBeUndefined();
});

it('a removed controller leaves objects that can be deleted, after it was detached', async () => {
  await create('orphan', { seats: 2 });
  await reconcile(current, 'orphan');
  await detachFormer();
  expect(await metadataOf('orphan')).not.toContain('outrigger');
  expect((await child('orphan'))?.metadata.ownerReferences).toHaveLength(1);
  await remove('orphan');
  const remaining: string[] = [];
  for await (const { items } of listPages(client, boat)) remaining.push(...items.map(({ metadata }) => metadata.name));
  expect(remaining).not.toContain('orphan');
});
