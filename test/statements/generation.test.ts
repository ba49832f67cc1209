// What a status says that it observed is what was acted on, for every controller: whichever request of a reconcile a
// change of the spec comes before (V10, V13), and when the resync alone finds the change (X3). Cases for any API server.
import { expect, it } from 'vitest';
import type { ControllerDefinition } from '../../src/api/definition.ts';
import type { Kind } from '../../src/api/kind.ts';
import { observedGenerationOf } from '../../src/api/status-slice.ts';
import { bitcoinNetwork } from '../../src/controllers/bitcoin-network.ts';
import { bitcoinPeers } from '../../src/controllers/bitcoin-peers.ts';
import { dinner } from '../../src/controllers/dinner.ts';
import { foo } from '../../src/controllers/foo.ts';
import { Ingredient, ingredient } from '../../src/controllers/ingredient.ts';
import { memcachedProxy } from '../../src/controllers/memcached-proxy.ts';
import { registry } from '../../src/controllers/registry.ts';
import { waterTank } from '../../src/controllers/water-tank.ts';
import { controllerUidOf } from '../../src/core/owner.ts';
import type { KubeObject } from '../../src/kube/client/object.ts';
import { Deployment, Service } from '../../src/kubernetes.ts';
import { useApiServer } from '../harness/api-server.ts';
import { createBitcoin } from './bitcoin.ts';
import { type System, useSystem } from './harness.ts';
import { createMemcached } from './memcached.ts';

/** A controller, two specs, and what tells which of them it has acted on. */
type Row = {
  readonly controller: ControllerDefinition;
  readonly specs: (name: string) => readonly [object, object];
  /** What must be there beside the object. */
  readonly prepare?: (system: System, object: KubeObject) => Promise<unknown>;
  readonly acted: (system: System, object: KubeObject) => unknown;
  /** What `acted` is with each spec. */
  readonly is: readonly [object, object];
};

const line = (name: string) => ({ name, item: name, amount: 1, unit: 'g' });
const endingIn = async (system: System, kind: typeof Service, start: string) =>
  (await system.list(kind)).find(({ metadata }) => metadata.name.startsWith(start));

const rows: readonly Row[] = [
  {
    controller: waterTank,
    // The tolerance lets water come to rest that moves by 4 between two readings.
    specs: () => [
      { targetLevel: 40, capacity: 100, tolerance: 4 },
      { targetLevel: 20, capacity: 100, tolerance: 4 },
    ],
    prepare: async ({ plant }, { metadata }) => plant.disturb(metadata.uid ?? '', 30),
    acted: (_, object) => object,
    is: [{ status: { action: 'Filling' } }, { status: { action: 'Draining' } }],
  },
  {
    controller: ingredient,
    specs: () => [
      { item: 'salt', amount: 1, unit: 'g' },
      { item: 'salt', amount: 2, unit: 'g' },
    ],
    acted: (_, object) => object,
    is: [{ status: { measured: { amount: 1 } } }, { status: { measured: { amount: 2 } } }],
  },
  {
    controller: dinner,
    specs: () => [{ ingredients: [line('leek')] }, { ingredients: [line('leek'), line('salt')] }],
    acted: async (system, { metadata }) => {
      const all = await system.list(Ingredient);
      return { children: all.filter((one) => one.metadata.name.startsWith(`${metadata.name}-`)).length };
    },
    is: [{ children: 1 }, { children: 2 }],
  },
  {
    controller: foo,
    specs: (name) => [
      { deploymentName: name, replicas: 1 },
      { deploymentName: name, replicas: 3 },
    ],
    acted: async (system, { metadata }) => await system.read(Deployment, metadata.name),
    is: [{ spec: { replicas: 1 } }, { spec: { replicas: 3 } }],
  },
  {
    controller: memcachedProxy,
    specs: () => {
      const rules = { service: { name: 'memcached', port: 11_211 } };
      return [{ rules }, { rules, mcrouter: { port: 11_300 } }];
    },
    prepare: async (system) => {
      const memcached = createMemcached(system);
      await memcached.service('memcached');
      await memcached.endpoints('memcached', ['10.0.2.17']);
    },
    acted: async (system, { metadata }) => await endingIn(system, Service, `${metadata.name}-memcached`),
    is: [{ spec: { ports: [{ port: 11_211 }] } }, { spec: { ports: [{ port: 11_300 }] } }],
  },
  {
    controller: bitcoinNetwork,
    specs: () => [{ nodes: 1 }, { nodes: 2 }],
    acted: async (system, { metadata }) => await createBitcoin(system).set(metadata.name),
    is: [{ spec: { replicas: 1 } }, { spec: { replicas: 2 } }],
  },
  {
    controller: bitcoinPeers,
    specs: () => [{ nodes: 2 }, { nodes: 1 }],
    prepare: async (system, { metadata: { name } }) => {
      await system.reconcile(bitcoinNetwork, name);
      for (const ordinal of [0, 1]) await createBitcoin(system).pod(name, ordinal, { ready: false });
    },
    acted: (_, object) => object,
    is: [{ status: { nodes: [{ ordinal: 0 }, { ordinal: 1 }] } }, { status: { nodes: [{ ordinal: 0 }] } }],
  },
];

const { connect } = await useApiServer({ controllers: 'none' });
const system = useSystem(connect);

it('V13: every controller is among these', () => {
  expect(rows.map(({ controller }) => controller.name)).toEqual(registry.map(({ name }) => name));
});

it.each(
  rows.map((row) => ({ ...row, name: row.controller.name })),
)('M24, V10, V13: $name: a spec that changes before any request of a reconcile is not said to be observed before it is', async ({
  controller,
  specs,
  prepare,
  acted,
  is,
}) => {
  const { resource, statusSlice } = controller.declaration;
  /** Reconciles an object whose spec changes before a request. Returns whether there was that request. */
  async function changeBefore(request: number): Promise<boolean> {
    const name = `a${request}`;
    const [before, after] = specs(name);
    const object = await system.apply(resource, name, before);
    await prepare?.(system, object);
    let made = 0;
    let written = false;
    let changed = false;
    system.meanwhile(
      ({ path }) => {
        made += 1;
        if (made === request) return true;
        written ||= path.endsWith(`/${name}/status`);
        return false;
      },
      async () => {
        changed = true;
        await system.apply(resource, name, after);
      },
    );
    await system.reconcile(controller, name);
    system.revive();
    const now = await system.read(resource, name);
    // What comes after the status was written is for the next reconcile.
    const observed = changed && !written ? 2 : 1;
    expect(observedGenerationOf(now.status, statusSlice), `changed before request ${request}`).toBe(observed);
    expect(await acted(system, now), `changed before request ${request}`).toMatchObject(is[observed - 1] ?? {});
    return changed;
  }
  let request = 1;
  while (await changeBefore(request)) request += 1;
  expect(request).toBeGreaterThan(2);
});

it.each(
  rows.map((row) => ({ ...row, name: row.controller.name })),
)('X3, B25, I12, W10: $name: the resync alone finds a missed create, update and deletion, and the deletion of children, within one period each', async ({
  controller: { name, declaration },
  specs,
  prepare,
}) => {
  const { resource, owns, statusSlice } = declaration;
  const [before, after] = specs('a');
  /** One period in which no message of another cause is left, and a minute in which water comes to rest. */
  const period = async () => {
    system.lose();
    await system.tick();
    await system.pass(660);
  };
  const isObserved = async () => {
    const { metadata, status } = await system.read(resource, 'a');
    return observedGenerationOf(status, statusSlice) === metadata.generation;
  };
  const object = await system.apply(resource, 'a', before);
  const childrenOf = async (kind: Kind) =>
    (await system.list(kind)).filter((one) => controllerUidOf(one) === object.metadata.uid);
  const children = async () => (await Promise.all(owns.map(childrenOf))).flat().map((one) => one.metadata.name);
  await prepare?.(system, object);
  await period();
  expect(await isObserved()).toBe(true);

  await system.apply(resource, 'a', after);
  expect(await isObserved()).toBe(false);
  await period();
  expect(await isObserved()).toBe(true);

  const labels = async () => (await Promise.all(owns.map(childrenOf))).flat().map((one) => one.metadata.labels);
  const labelled = await labels();
  for (const kind of owns)
    for (const one of await childrenOf(kind))
      await system.patch(kind, one.metadata.name, { metadata: { labels: null } });
  await period();
  expect(await labels()).toEqual(labelled);

  const made = await children();
  for (const kind of owns) for (const one of await childrenOf(kind)) await system.delete(kind, one.metadata.name);
  // A child with a finalizer is there until its own controller has finalized it.
  for (let periods = 0; periods < 2; periods += 1) await period();
  expect(await children()).toEqual(made);

  await system.delete(resource, 'a');
  await period();
  expect(await system.get(resource, 'a')).toBeUndefined();
  expect(await system.deadLetters(name)).toEqual([]);
});
