// What an author may write, and mistakes that must not compile. Each @ts-expect-error is a test: tsc fails where the line
// below it compiles. The mistakes whose message matters are in author-messages.test.ts.

import type { V1PodTemplateSpec, V1Volume } from '@kubernetes/client-node';
import { expect, it } from 'vitest';
import * as z from 'zod';
import {
  ConfigMap,
  CustomResourceDefinition,
  Deployment,
  Job,
  NetworkPolicy,
  Secret,
  Service,
} from '../../src/kubernetes.ts';
import { defineKind, foreignKind, notOk, ok, type ResultOf, unknown } from '../../src/outrigger.ts';
import { testContext } from '../../src/testing/test-context.ts';

const WaterTank = defineKind({
  group: 'plant.example.com',
  version: 'v1',
  kind: 'WaterTank',
  conditions: ['AtLevel', 'SensorReachable'],
  spec: z.object({ targetLevel: z.number().min(0), tolerance: z.number().default(0.5) }),
  status: z.object({ observedLevel: z.number().optional(), action: z.enum(['Filling', 'Holding', 'Unknown']) }),
});
const conditions = { AtLevel: ok('InBand'), SensorReachable: ok('Reading') };
const settings = z.object({ PLANT_URL: z.url() });

const waterTank = WaterTank.controller('water-tank', {
  owns: [Service],
  settings,
  clients: ({ PLANT_URL }) => ({
    level: async (name: string) => Number(await (await fetch(`${PLANT_URL}/${name}`)).text()),
  }),
  async reconcile({ metadata: { name }, spec, status }, { clients, apply }) {
    const level = await clients.level(name).catch((error: Error) => error);
    if (level instanceof Error) {
      return {
        status: { action: 'Unknown' },
        conditions: { AtLevel: unknown('NoReading'), SensorReachable: notOk('SensorError', level.message) },
        error: level,
      };
    }
    await apply(Service, { metadata: { name, annotations: { tank: name } }, spec: { ports: [{ port: 80 }] } });
    return {
      status: { observedLevel: level, action: level < spec.targetLevel ? 'Filling' : (status?.action ?? 'Holding') },
      conditions,
      requeueAfterSeconds: 5,
    };
  },
});

const Network = defineKind({
  group: 'bitcoin.example.com',
  version: 'v1',
  kind: 'Network',
  conditions: ['ServiceReady'],
  spec: z.object({ nodes: z.int().default(3) }),
  status: z.object({
    phase: z.enum(['Up', 'Down']),
    nodes: z.array(z.string()).optional(),
    height: z.int().optional(),
  }),
});
const connected = { PeersConnected: ok('Connected') };
const peers = Network.statusSlice({ status: ['nodes'], conditions: ['PeersConnected'] }).controller('network-peers', {
  reads: [Service],
  clients: () => ({ name: async (index: number) => `node-${index}` }),
  async reconcile({ spec, status }, { clients }) {
    const known: readonly string[] = status?.nodes ?? [];
    const nodes = await Promise.all(Array.from({ length: spec.nodes }, (_, index) => clients.name(index)));
    return { status: { nodes: [...known, ...nodes] }, conditions: connected };
  },
});
const Tenant = defineKind({
  group: 'example.com',
  version: 'v1',
  kind: 'Tenant',
  scope: 'Cluster',
  conditions: ['Isolated'],
  spec: z.object({}),
  status: z.object({}),
});

it('a controller is tested by calling it', async () => {
  const context = testContext(waterTank, { clients: { level: async () => 10 } });
  const { status } = await waterTank.reconcile(WaterTank.object('a', { targetLevel: 40 }), context);
  const action: 'Filling' | 'Holding' | 'Unknown' = status.action;
  expect(action).toBe('Filling');
  expect((await context.get(Service, { name: 'a' }))?.metadata.annotations).toEqual({ tank: 'a' });
});

it('a reconciler gets a default where the spec leaves something out', () => {
  const tolerance: number = WaterTank.object('a', { targetLevel: 40 }).spec.tolerance;
  expect(tolerance).toBe(0.5);
});

it('an object of a namespaced kind has a namespace, which needs no default', async () => {
  const context = testContext(waterTank, { clients: { level: async () => 10 } });
  const tank = WaterTank.object('a', { targetLevel: 40 });
  await waterTank.reconcile(tank, context);
  const own: string = tank.metadata.namespace;
  const ofChildren: readonly string[] = (await context.list(Service)).map(({ metadata }) => metadata.namespace);
  expect([own, ...ofChildren]).toEqual(['default', 'default']);
  // @ts-expect-error: a cluster-scoped object has none
  const none: string = Tenant.object('a', {}).metadata.namespace;
  expect(none).toBe(undefined);
});

it('an object of a test has the metadata that is given, and that of a new object else', () => {
  const { metadata } = WaterTank.object('a', { targetLevel: 40 }, { namespace: 'plant', labels: { tier: 'gold' } });
  const given = { namespace: 'plant', labels: { tier: 'gold' } };
  expect(metadata).toEqual({ name: 'a', uid: 'uid-of-a', generation: 1, resourceVersion: '', ...given });
  // @ts-expect-error: the name is the first argument
  WaterTank.object('a', { targetLevel: 40 }, { name: 'b' });
});

it('a controller may own a kind of which an error is returned as undefined', () => {
  WaterTank.controller('undefined-error', {
    async reconcile(): Promise<ResultOf<typeof WaterTank>> {
      const failure: { readonly error: Error } | undefined = undefined;
      return { status: { action: 'Holding' }, conditions, error: (failure as { error: Error } | undefined)?.error };
    },
  });
  expect.assertions(0);
});

it('a result that is wrong', () => {
  WaterTank.controller('a', {
    // @ts-expect-error: a delay and a time
    reconcile: async () => ({
      status: { action: 'Holding' },
      conditions,
      requeueAfterSeconds: 5,
      requeueAt: new Date(),
    }),
  });
  // @ts-expect-error: the only thing that says what to do is missing
  expect(() => WaterTank.controller('a', {})).toThrow('controller a.reconcile: ');
});

it('a kind that is not declared, and a child of a namespaced object with a namespace', () => {
  WaterTank.controller('a', {
    owns: [Service],
    reads: [ConfigMap],
    async reconcile(_, { get, list, apply, applyAll, tryApplyAll }) {
      const never = async () => {
        // @ts-expect-error: Secret is not declared, so no role would allow it
        await get(Secret, { name: 'x' });
        // @ts-expect-error: nor this
        await list(Secret);
        // @ts-expect-error: ConfigMap is read, not owned
        await apply(ConfigMap, { metadata: { name: 'x' } });
        // @ts-expect-error: nor this
        await applyAll(ConfigMap, []);
        // @ts-expect-error: nor this
        await tryApplyAll(ConfigMap, []);
        // @ts-expect-error: children share the namespace of the object
        await apply(Service, { metadata: { name: 'x', namespace: 'other' } });
      };
      return { status: { action: never === undefined ? 'Filling' : 'Holding' }, conditions };
    },
  });
  expect.assertions(0);
});

it('a child of a cluster-scoped object has a namespace, the fields of the API and not of its client, and values that were read', () => {
  const volumes: V1Volume[] = [];
  const template: V1PodTemplateSpec = { spec: { containers: [], volumes } };
  Tenant.controller('a', {
    owns: [NetworkPolicy, Deployment, CustomResourceDefinition],
    reads: [Job],
    async reconcile({ metadata: { name: namespace } }, { apply, get }) {
      const metadata = { namespace, name: 'x' };
      await apply(NetworkPolicy, {
        metadata,
        spec: { ingress: [{ from: [{ podSelector: {} }], ports: [{ port: 'http' }] }] },
      });
      const time: string | undefined = (await get(Job, metadata))?.status?.completionTime;
      // @ts-expect-error: the API server would refuse the client's name of the field
      await apply(NetworkPolicy, { metadata, spec: { ingress: [{ _from: [] }] } });
      const spec = { selector: {}, template };
      const { spec: read } = await apply(Deployment, { metadata, spec });
      if (read !== undefined) await apply(Deployment, { metadata, spec: { ...read, template: { spec: { volumes } } } });
      const live = await get(Deployment, metadata);
      if (live?.spec !== undefined) await apply(Deployment, { metadata, spec: live.spec });
      await apply(CustomResourceDefinition, {
        metadata,
        spec: {
          versions: [
            {
              name: 'v1',
              served: true,
              storage: true,
              schema: { openAPIV3Schema: { type: 'array', 'x-kubernetes-list-type': 'set', items: { $ref: '' } } },
            },
          ],
        },
      });
      return { status: {}, conditions: { Isolated: ok('Isolated', time) } };
    },
  });
  expect.assertions(0);
});

it('a kind that is wrong', () => {
  // @ts-expect-error: a level is a number
  expect(() => WaterTank.object('a', { targetLevel: '40' })).toThrow('spec.targetLevel');
  // @ts-expect-error: a cluster-scoped kind has its scope in its names too
  foreignKind<object, 'Site', 'Cluster'>({ group: 'example.com', version: 'v1', kind: 'Site' });
  // @ts-expect-error: the names are of one kind
  foreignKind<object, 'Site'>({ group: 'example.com', version: 'v1', kind: 'Plot' });
  expect.assertions(1);
});

it('a status slice is tested by calling its controller, with a whole object or with its own last status only', async () => {
  const context = testContext(peers, { clients: { name: async () => 'n' } });
  expect((await peers.reconcile(Network.object('a', { nodes: 1 }), context)).status).toEqual({ nodes: ['n'] });
  const past = { ...Network.object('a', { nodes: 1 }), status: { nodes: ['m'] } };
  expect((await peers.reconcile(past, context)).status).toEqual({ nodes: ['m', 'n'] });
});

it('a status slice does not compile when it is wrong', () => {
  // @ts-expect-error: the status has no such field
  Network.statusSlice({ status: ['peers'], conditions: ['PeersConnected'] });
  // @ts-expect-error: Ready sums up the first controller
  Network.statusSlice({ status: ['nodes'], conditions: ['Ready'] });
  // @ts-expect-error: the second of two is Stalled
  Network.statusSlice({ status: ['nodes'], conditions: ['PeersConnected', 'Stalled'] });
  // @ts-expect-error: without a condition it could not report an error
  Network.statusSlice({ status: ['nodes'], conditions: [] });
  expect.assertions(0);
});

it('a status slice does not compile when its controller says more or less', () => {
  const slice = Network.statusSlice({ status: ['nodes'], conditions: ['PeersConnected', 'Synced'] });
  const synced = { ...connected, Synced: ok('Synced') };
  // @ts-expect-error: Synced is missing
  slice.controller('a', { reconcile: async () => ({ status: {}, conditions: connected }) });
  slice.controller('a', {
    async reconcile({ status }) {
      // @ts-expect-error: height is not of this slice
      return { status: { nodes: [`${status?.height}`] }, conditions: synced };
    },
  });
  // @ts-expect-error: nodes are names
  slice.controller('a', { reconcile: async () => ({ status: { nodes: [1] }, conditions: synced }) });
  slice.controller('a', { reconcile: async () => ({ status: {}, conditions: synced, error: new Error('later') }) });
  expect.assertions(0);
});
