// A kind and its controller as they change while objects of them are there: what holds between the two halves of an upgrade (CRDs, functions),
// and what a renamed or removed controller leaves. What the messages of two versions are to each other is test/compatibility.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { defineController, type Registered } from '../../src/core/controller.ts';
import { existingKind } from '../../src/core/kind.ts';
import { type AnyResource, defineResource } from '../../src/core/resource.ts';
import { crdOf } from '../../src/generate/crd/crd.ts';
import { applyObject } from '../../src/kube/apply/apply.ts';
import { createClient, type KubeClient } from '../../src/kube/client/client.ts';
import { parseObject } from '../../src/kube/client/object.ts';
import { objectPath } from '../../src/kube/client/path.ts';
import { getObject, listPages } from '../../src/kube/client/read.ts';
import { startApiServer } from '../../src/apiserver/server.ts';
import { createReconcile } from '../../src/runtime/reconcile.ts';
import { release } from '../../src/runtime/release.ts';
import { define } from '../support/established.ts';
import { silent } from '../reconciling/widgets.ts';

const { signal } = new AbortController();
const names = { group: 'evolution.example.com', version: 'v1', kind: 'Boat' } as const;
const configMaps = existingKind<{ readonly metadata: { readonly name: string } }>({
  group: '',
  version: 'v1',
  kind: 'ConfigMap',
});
const afloat = { status: 'True', reason: 'Afloat' } as const;

const boat = defineResource({
  ...names,
  spec: z.object({ seats: z.number() }),
  status: z.object({ note: z.string() }),
  conditions: ['Afloat'],
});
/** The same with a field more in spec, which has a default, and one more in status. */
const sailingBoat = defineResource({
  ...names,
  spec: z.object({ seats: z.number(), sails: z.number().default(1) }),
  status: z.object({ note: z.string(), sails: z.number() }),
  conditions: ['Afloat'],
});
/** The same with a rule that is stricter, and a field that nobody has given yet. */
const namedBoat = defineResource({
  ...names,
  spec: z.object({ seats: z.number().max(4), port: z.string() }),
  status: z.object({ note: z.string() }),
  conditions: ['Afloat'],
});

const controller = (name: string) =>
  defineController(boat)({
    name,
    owns: [configMaps],
    reconcile: async ({ metadata, spec }, { children }) => {
      await children(configMaps, [{ metadata: { name: metadata.name } }]);
      return { status: { note: `${spec.seats} seats` }, conditions: { Afloat: afloat } };
    },
    finalize: async () => 'done',
  });
const now = controller('boat');
const next = defineController(sailingBoat)({
  name: 'boat',
  reconcile: async ({ spec: { seats, sails } }) => ({
    status: { note: `${seats} seats`, sails },
    conditions: { Afloat: afloat },
  }),
  finalize: async () => 'done',
});
const strict = defineController(namedBoat)({
  name: 'boat',
  reconcile: async ({ spec }) => ({ status: { note: spec.port }, conditions: { Afloat: afloat } }),
  finalize: async () => 'done',
});

let server: Awaited<ReturnType<typeof startApiServer>>;
let client: KubeClient;
beforeAll(async () => {
  server = await startApiServer();
  client = createClient({ server: new URL(server.url) });
});
afterAll(async () => {
  client.close();
  await server.close();
});
beforeEach(() => define(client, parseObject(crdOf(boat))));

const deployDefinition = async (kind: AnyResource) => await define(client, parseObject(crdOf(kind)));
const place = (name: string) => ({ name, namespace: 'default' });
const read = async (name: string) => await getObject(client, boat, place(name));
const status = async (name: string) => (await read(name))?.status;
const create = async (name: string, spec: object) =>
  await applyObject(
    client,
    boat,
    { apiVersion: boat.apiVersion, kind: boat.kind, metadata: place(name), spec },
    { fieldManager: 'user' },
  );
const remove = async (name: string) => await client.request({ method: 'DELETE', path: objectPath(boat, place(name)) });
async function reconcile({ name, declares, start }: Registered, object: string) {
  const run = createReconcile({ name, declares, running: start({}), now: () => new Date() });
  const { group, plural } = declares.resource;
  const key = { controller: name, cluster: 'test', group, resource: plural, ...place(object) };
  const message = { v: 1, ...key, lane: 'watch', attempt: 0, deferrals: 0, seenAt: 0 } as const;
  return await run({ client, message, messageId: 'm', log: silent, signal: AbortSignal.timeout(15_000) });
}

describe('a kind that gets fields', () => {
  it('goes on under the old functions once its CRD is the new one, and has them when the functions are new', async () => {
    await create('added', { seats: 2 });
    await reconcile(now, 'added');
    await deployDefinition(sailingBoat);
    expect(await reconcile(now, 'added')).toMatchObject({ outcome: { type: 'done' }, writes: 0 });
    expect(await reconcile(next, 'added')).toMatchObject({ outcome: { type: 'done' } });
    expect(await status('added')).toMatchObject({ note: '2 seats', sails: 1 });
    expect(await reconcile(next, 'added')).toMatchObject({ writes: 0 });
  });

  it('is retried, and loses nothing, where the functions came first: the API server names the field that it does not know', async () => {
    await create('early', { seats: 2 });
    await reconcile(now, 'early');
    const { outcome } = await reconcile(next, 'early');
    expect(outcome).toMatchObject({ type: 'failed', error: { message: expect.stringContaining('.status.sails') } });
    expect(await status('early')).toMatchObject({ note: '2 seats' });
    await deployDefinition(sailingBoat);
    expect((await reconcile(next, 'early')).outcome).toEqual({ type: 'done' });
    expect(await status('early')).toMatchObject({ sails: 1 });
  });
});

it('a kind that loses a field loses it in every status with the first reconcile of the new functions, the CRD after them', async () => {
  await deployDefinition(sailingBoat);
  await create('lost', { seats: 2 });
  await reconcile(next, 'lost');
  await reconcile(now, 'lost');
  expect(await status('lost')).not.toHaveProperty('sails');
  await deployDefinition(boat);
  expect(await reconcile(now, 'lost')).toMatchObject({ outcome: { type: 'done' }, writes: 0 });
});

it('a kind that gets stricter leaves alone what breaks its rules, names the fields in Ready, and lets it be mended or deleted', async () => {
  await create('old', { seats: 9 });
  await create('older', { seats: 9 });
  await reconcile(now, 'old');
  await reconcile(now, 'older');
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
  // While it is deleted, too, somebody has to make it readable: what a finalizer does by a spec it cannot read is a guess.
  await remove('older');
  await reconcile(strict, 'older');
  expect((await read('older'))?.metadata.finalizers).toEqual(['outrigger.dev/boat']);
  await create('older', { seats: 4, port: 'Kiel' });
  await reconcile(strict, 'older');
  expect(await read('older')).toBeUndefined();
});

describe('a controller', () => {
  const renamed = controller('vessel');
  const traces = async (name: string) => JSON.stringify((await read(name))?.metadata);
  const releaseFormer = async () => {
    const controllers = new Set([now.name]);
    await release(client, { resource: boat, traces: { controllers, as: 'primary' } }, { dryRun: false, signal });
    await release(client, { resource: configMaps, traces: { controllers, as: 'child' } }, { dryRun: false, signal });
  };
  const child = async (name: string) => await getObject(client, configMaps, place(name));

  it('that is renamed would leave a finalizer that nobody takes off', async () => {
    await create('hanging', { seats: 2 });
    await reconcile(now, 'hanging');
    await reconcile(renamed, 'hanging');
    await remove('hanging');
    await reconcile(renamed, 'hanging');
    expect((await read('hanging'))?.metadata.finalizers).toEqual(['outrigger.dev/boat']);
    await releaseFormer();
    expect(await read('hanging')).toBeUndefined();
  });

  it('that is renamed keeps its objects and their children when the former name is released, while the new one is at work', async () => {
    await create('kept', { seats: 2 });
    await reconcile(now, 'kept');
    const before = await child('kept');
    await reconcile(renamed, 'kept');
    await releaseFormer();
    await reconcile(renamed, 'kept');
    expect(await traces('kept')).not.toMatch(/outrigger[.-](dev\/)?boat/);
    expect((await read('kept'))?.metadata.finalizers).toEqual(['outrigger.dev/vessel']);
    const after = await child('kept');
    expect(after?.metadata.uid).toBe(before?.metadata.uid);
    expect(after?.metadata.labels).toMatchObject({ 'outrigger.dev/controller': 'vessel' });
    expect(JSON.stringify(after?.metadata)).not.toContain('outrigger-boat');
    await remove('kept');
    await reconcile(renamed, 'kept');
    expect(await read('kept')).toBeUndefined();
  });

  it('that is removed leaves objects that can be deleted, and children that are deleted with them or stay', async () => {
    await create('orphan', { seats: 2 });
    await reconcile(now, 'orphan');
    await releaseFormer();
    expect(await traces('orphan')).not.toContain('outrigger');
    expect((await child('orphan'))?.metadata.ownerReferences).toHaveLength(1);
    await remove('orphan');
    const left: string[] = [];
    for await (const { items } of listPages(client, boat)) left.push(...items.map(({ metadata }) => metadata.name));
    expect(left).not.toContain('orphan');
  });
});
