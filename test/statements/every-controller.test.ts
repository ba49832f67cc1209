// What holds for every controller, with its sample on the API server in memory: the checks of the battery, as authors
// run them on their controllers, and what these do not ask: which requests a controller makes, and its Events.
import { startPantry } from '@outrigger/cli/simulators/pantry';
import { startPlant } from '@outrigger/cli/simulators/plant';
import { describe, expect, it } from 'vitest';
import type { ControllerDefinition } from '../../src/api/definition.ts';
import { kindOfRead } from '../../src/api/reads.ts';
import { bitcoinNetwork } from '../../src/controllers/bitcoin-network.ts';
import { bitcoinPeers } from '../../src/controllers/bitcoin-peers.ts';
import { dinner } from '../../src/controllers/dinner.ts';
import { foo } from '../../src/controllers/foo.ts';
import { ingredient } from '../../src/controllers/ingredient.ts';
import { memcachedProxy } from '../../src/controllers/memcached-proxy.ts';
import { registry } from '../../src/controllers/registry.ts';
import { waterTank } from '../../src/controllers/water-tank.ts';
import { fieldManagerOf, finalizerOf } from '../../src/core/names.ts';
import { applyObject } from '../../src/kube/apply/apply.ts';
import { ownedFields } from '../../src/kube/apply/managed-fields.ts';
import type { KubeRequest } from '../../src/kube/client/client.ts';
import type { KubeObject } from '../../src/kube/client/object.ts';
import { collectionPath, objectPath } from '../../src/kube/client/path.ts';
import { getObject, listPages } from '../../src/kube/client/read.ts';
import { ConfigMap, Event } from '../../src/kubernetes.ts';
import type { BatteryOptions } from '../../src/testing/battery/contract.ts';
import { removed } from '../../src/testing/battery/removal.ts';
import { converged } from '../../src/testing/battery/report.ts';
import { isWrite, lineOf, openStage, pathOf, type Stage } from '../../src/testing/battery/stage.ts';
import { battery } from '../../src/testing.ts';
import { readSamples, sampleOf } from '../support/sample.ts';

/** A controller, another spec of its sample, and what the battery needs to know. */
type Row = {
  readonly controller: ControllerDefinition;
  readonly changed: object;
  readonly options?: Partial<BatteryOptions>;
};

const rows: readonly Row[] = [
  {
    controller: waterTank,
    changed: { targetLevel: 10, capacity: 100, tolerance: 4 },
    options: {
      // Where the level comes to rest within the tolerance depends on when it is read.
      ignoreStatus: ['observedLevel'],
      outside: async ({ now }) => {
        const { url, close } = await startPlant({ nowMilliseconds: () => now().getTime() });
        return { environment: { PLANT_URL: url }, close };
      },
    },
  },
  {
    controller: ingredient,
    changed: { item: 'salt', amount: 2, unit: 'tsp' },
    options: {
      outside: async () => {
        const { url, close } = await startPantry();
        return { environment: { PANTRY_URL: url }, close };
      },
    },
  },
  {
    controller: dinner,
    changed: {
      ingredients: [
        { name: 'rice', item: 'rice', amount: 400, unit: 'g' },
        { name: 'peas', item: 'peas', amount: 100, unit: 'g' },
      ],
    },
  },
  { controller: foo, changed: { deploymentName: 'other' } },
  {
    controller: memcachedProxy,
    // Nothing rolls the Deployment out here, so the former configuration stays mounted.
    options: { keeps: [ConfigMap] },
    changed: { rules: { type: 'replicated', service: { name: 'sharded-memcached', port: 11211 } } },
  },
  { controller: bitcoinNetwork, changed: { nodes: 5, secret: 'bitcoin-default-secret' } },
  { controller: bitcoinPeers, changed: { nodes: 5, secret: 'bitcoin-default-secret' } },
];

const manifests = await readSamples();

/** The statements that a check of the battery proves. */
const statements: Readonly<Record<string, string>> = {
  'a converged object is reconciled without a write': 'X2, X5',
  'the same message ten times, and late messages, change nothing': 'X2, X4, B26, M26',
  'a change between two messages in any order ends as the last change says': 'X4',
  'two functions at once end as one': 'X4, B26, M26',
  'a child whose deletion was missed is created again': 'X3, X15',
  'a child whose change was missed is corrected': 'X3, X15',
  'a foreign object with the name of a child is not touched, and the status says NotOwned':
    'X15, B20, B21, F7, F8, M20, V7',
  'a deleted object is finalized once or twice with the same end': 'X14',
  'after a crash at any write the next reconcile reaches the same end': 'X6, M28',
  'a conflict at every write is retried and ends the same': 'X7, V10',
};

const mergePatch = 'application/merge-patch+json';
const hold = 'example.com/hold';

it('every controller is among these', () => {
  expect(rows.map(({ controller }) => controller.name)).toEqual(registry.map(({ name }) => name));
});

describe.each(rows)('$controller.name', ({ controller, changed, options }) => {
  const { name, declaration } = controller;
  const { resource, owns, reads, watches, finalizes } = declaration;
  const { subject, beside } = sampleOf(controller, manifests);
  const withKind = ({ apiVersion, kind, object }: typeof subject) => ({ ...object, apiVersion, kind });
  const sample = withKind(subject);
  const second = { ...sample, spec: changed };
  const given: BatteryOptions = { samples: [sample, second], objects: beside.map(withKind), ...options };
  const key = { namespace: 'default', name: subject.object.metadata.name };
  const own = objectPath(resource, key);

  const open = async (metadata: object = {}) =>
    await openStage(controller, { ...sample, metadata: { ...sample.metadata, ...metadata } }, given);
  const settled = async (metadata: object = {}) => {
    const stage = await open(metadata);
    await converged(stage);
    return stage;
  };
  const writesOf = async (stage: Stage) => {
    await stage.reconcile();
    return stage.requests.filter(isWrite).map(lineOf);
  };
  const finalizersOf = async (stage: Stage) => (await stage.subject())?.metadata.finalizers ?? [];

  for (const { name: check, run } of battery(controller, given)) {
    const [sentence = ''] = check.split(' (sample');
    // The second sample is there for the change between the two.
    if (!check.endsWith('(sample 2)')) it(`${statements[sentence] ?? 'battery'}: ${name}: ${check}`, run);
  }

  it(`X7, X8, X17, M30: ${name}: all requests are in the namespace, all writes its own applies or conditional, of its own object only /status and the finalizer`, async () => {
    await using stage = await open();
    const calls: KubeRequest[] = [];
    stage.disturb({
      api: async (request, proceed) => {
        calls.push(request);
        return await proceed();
      },
    });
    await converged(stage);
    await stage.apply(second);
    await converged(stage);
    await removed(stage);
    expect(calls.filter(({ path }) => !path.includes('/namespaces/default/')).map(lineOf)).toEqual([]);
    const writes = calls.filter(isWrite);
    expect(writes.map(({ path }) => path)).toContain(`${own}/status`);
    for (const write of writes) {
      const isStatus = write.path === `${own}/status`;
      expect(isGuarded(write) || (!isStatus && isOwnApply(write, name)), lineOf(write)).toBe(true);
      const { metadata, ...content } = Object(write.body);
      if (write.path === own) {
        expect([finalizes, content]).toEqual([true, {}]);
        expect(Object.keys(metadata).sort()).toEqual(['finalizers', 'resourceVersion']);
        expect([[finalizerOf(name)], []]).toContainEqual(metadata.finalizers);
      } else if (isStatus) expect(Object.keys(content).sort()).toEqual(['apiVersion', 'kind', 'status']);
      else expect(content, lineOf(write)).not.toHaveProperty('status');
    }
  });

  it(`X5, X13, V9, V11, M25: ${name}: a converged object costs one read, and one of each declared kind, also after a change of its labels and annotations`, async () => {
    await using stage = await settled();
    expect(await writesOf(stage)).toEqual([]);
    const paths = stage.requests.map(({ path }) => path);
    expect(paths.filter((path) => path === own)).toHaveLength(1);
    // For any other kind, one read for the owned objects and one for the referenced ones.
    for (const kind of [...owns, ...reads.map(kindOfRead)]) {
      const collection = collectionPath(kind, key.namespace);
      expect(paths.filter((path) => path !== own && path.startsWith(collection)).length).toBeLessThanOrEqual(2);
    }
    expect(paths.length, paths.join()).toBeLessThanOrEqual([resource, ...owns, ...reads, ...watches].length);
    const body = {
      metadata: { labels: { 'example.com/team': 'kitchen' }, annotations: { 'example.com/note': 'none' } },
    };
    await stage.client.request({ method: 'PATCH', path: own, contentType: mergePatch, body });
    expect(await writesOf(stage)).toEqual([]);
    expect(stage.requests).not.toEqual([]);
  });

  it(`X14: ${name}: its finalizer is the first write and is removed last, and foreign finalizers stay`, async () => {
    await using stage = await open({ finalizers: [hold] });
    const both = finalizes ? [hold, finalizerOf(name)] : [hold];
    await stage.reconcile();
    const first = stage.requests.find(isWrite);
    if (finalizes) expect(first).toMatchObject({ path: own, body: { metadata: { finalizers: both } } });
    expect(await finalizersOf(stage)).toEqual(both);
    await converged(stage);
    await stage.client.request({ method: 'DELETE', path: own });
    await stage.settle();
    expect(await finalizersOf(stage)).toEqual([hold]);
    expect(await writesOf(stage)).toEqual([]);
    await stage.client.request({
      method: 'PATCH',
      path: own,
      contentType: mergePatch,
      body: { metadata: { finalizers: null } },
    });
    expect(await stage.reconcile()).toMatchObject({ type: 'nothing', reason: 'gone' });
  });

  it(`X16: ${name}: an object that is deleted before its first reconcile gets no child and no write`, async () => {
    await using stage = await open({ finalizers: [hold] });
    await stage.client.request({ method: 'DELETE', path: own });
    expect(await writesOf(stage)).toEqual([]);
    expect(stage.requests).not.toEqual([]);
  });

  it(`X22: ${name}: records at most one Event for each write, and none without a change`, async () => {
    await using stage = await open();
    let writes = 0;
    stage.disturb({
      api: async (request, proceed) => {
        if (isWrite(request)) writes += 1;
        return await proceed();
      },
    });
    await converged(stage);
    const said = await eventsOf(stage);
    expect(Object.values(said).reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(writes);
    for (let again = 0; again < 3; again += 1) await stage.reconcile();
    expect(await eventsOf(stage)).toEqual(said);
  });

  if (owns.length === 0) return;

  it(`X16, B19a, M22a, V12: ${name}: missing children of an object in deletion are not created again`, async () => {
    await using stage = await settled({ finalizers: [hold] });
    const children = await stage.children();
    expect(children).not.toEqual([]);
    await stage.client.request({ method: 'DELETE', path: own });
    const paths = children.map(({ kind, object }) => pathOf(kind, object));
    for (const path of paths) await stage.client.request({ method: 'DELETE', path });
    const written: string[] = [];
    stage.disturb({
      api: async (request, proceed) => {
        if (isWrite(request)) written.push(request.path);
        return await proceed();
      },
    });
    await stage.settle();
    expect(written.filter((path) => paths.includes(path))).toEqual([]);
    for (const { kind, object } of children)
      expect(await getObject(stage.client, kind, object.metadata)).toBeUndefined();
  });

  it(`X15, M23: ${name}: a second owner of a child that is not its controller stays, and costs no write`, async () => {
    await using stage = await settled();
    const owner = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'beside', namespace: key.namespace } };
    const { metadata } = await applyObject(stage.client, ConfigMap, owner, { fieldManager: 'another-client' });
    const beside = { apiVersion: 'v1', kind: 'ConfigMap', name: 'beside', uid: metadata.uid };
    for (const { kind, object } of await stage.children()) {
      const ownerReferences = [...(object.metadata.ownerReferences ?? []), beside];
      const body = { metadata: { ownerReferences } };
      await stage.client.request({ method: 'PATCH', path: pathOf(kind, object), contentType: mergePatch, body });
    }
    expect(await writesOf(stage)).toEqual([]);
    for (const { object } of await stage.children())
      expect(object.metadata.ownerReferences).toContainEqual(expect.objectContaining(beside));
  });

  it.each([
    ['a deleted object of the same name', { apiVersion: resource.apiVersion, kind: resource.kind, name: key.name }],
    ['another object', { apiVersion: 'v1', kind: 'ConfigMap', name: 'another-owner' }],
  ])(`X15, M23: ${name}: a child that %s controls is left to it, and made again when it is gone`, async (_, owner) => {
    await using stage = await settled();
    const end = await stage.endState();
    for (const { kind, object } of await stage.children()) {
      const path = pathOf(kind, object);
      const uid = '00000000-0000-4000-8000-000000000000';
      const ownerReferences = [{ ...owner, uid, controller: true }];
      const patch = async (metadata: object) =>
        await stage.client.request({ method: 'PATCH', path, contentType: mergePatch, body: { metadata } });
      // The finalizer keeps it, as the garbage collector deletes what has a missing owner.
      await patch({ ownerReferences, finalizers: [hold] });
      const taken = await getObject(stage.client, kind, object.metadata);
      await stage.settle();
      expect(await getObject(stage.client, kind, object.metadata)).toEqual(taken);
      expect(JSON.stringify((await stage.subject())?.status)).toContain('"reason":"NotOwned"');
      await patch({ finalizers: null });
      await stage.client.request({ method: 'DELETE', path }).catch(() => undefined);
      await converged(stage);
      expect(await stage.endState()).toEqual(end);
    }
  });

  it(`X22: ${name}: a repeated Event is one with a count, and a problem that stays is said once`, async () => {
    await using stage = await settled();
    const loseChildren = async () => {
      for (const { kind, object } of await stage.children())
        await stage.client.request({ method: 'DELETE', path: pathOf(kind, object) });
      await converged(stage);
      return await eventsOf(stage);
    };
    await loseChildren();
    const [once, twice] = [await loseChildren(), await loseChildren()];
    expect(Object.keys(twice)).toEqual(Object.keys(once));
    for (const [event, count] of Object.entries(twice))
      expect(count - (once[event] ?? 0), event).toBeLessThanOrEqual(1);

    const [child] = await stage.children();
    if (child === undefined) throw new Error('there is no child');
    await takeName(stage, child.object, child.kind);
    await stage.reconcile();
    const troubled = await eventsOf(stage);
    for (let again = 0; again < 3; again += 1) await stage.reconcile();
    expect(await eventsOf(stage)).toEqual(troubled);
  });
});

/** Replaces a child by an object of another client with its name and content. */
async function takeName({ client, controller }: Stage, child: KubeObject, kind: Stage['kind']): Promise<void> {
  const { apiVersion, kind: kindName } = kind;
  const { name, namespace } = child.metadata;
  await client.request({ method: 'DELETE', path: pathOf(kind, child) });
  const content = ownedFields(child, fieldManagerOf(controller.name));
  const taken = { ...content, apiVersion, kind: kindName, metadata: { name, namespace } };
  await applyObject(client, kind, taken, { fieldManager: 'another-client' });
}

/** The Events: their names and counts. */
async function eventsOf({ client }: Stage): Promise<Readonly<Record<string, number>>> {
  const all: ReturnType<typeof Event.read>[] = [];
  for await (const { items } of listPages(client, Event, {})) all.push(...items.map((one) => Event.read(one)));
  expect(new Set(all.map(({ reason, message }) => `${reason} ${message}`)).size).toBe(all.length);
  return Object.fromEntries(all.map(({ metadata, count }) => [metadata.name, count ?? 0]));
}

/** Returns whether a write is a server-side apply with the controller's own field manager. */
function isOwnApply({ contentType, query }: KubeRequest, controller: string): boolean {
  return contentType === 'application/apply-patch+yaml' && query?.fieldManager === fieldManagerOf(controller);
}

/** Returns whether a write is conditional on the object that was read: by its version, or by its uid for a deletion. */
function isGuarded({ method, body }: KubeRequest): boolean {
  const { metadata, preconditions } = Object(body);
  return method === 'DELETE' ? preconditions !== undefined : metadata?.resourceVersion !== undefined;
}
