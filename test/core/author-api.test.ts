// Only what compiles: what an author may write, and the mistakes that must not compile. Each @ts-expect-error is a test: tsc
// fails where the mistake below it is none.
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { defineController } from '../../src/core/controller.ts';
import { existingKind, type Meta } from '../../src/core/kind.ts';
import { defineResource } from '../../src/core/resource.ts';
import { testContext } from '../../src/testing/test-context.ts';

const tank = defineResource({
  group: 'plant.example.com',
  version: 'v1',
  kind: 'WaterTank',
  conditions: ['AtLevel', 'SensorReachable'],
  spec: z.object({ targetLevel: z.number().min(0), tolerance: z.number().default(0.5) }),
  status: z.object({ observedLevel: z.number().optional(), action: z.enum(['Filling', 'Holding', 'Unknown']) }),
});
type Service = { readonly metadata: Meta; readonly spec: { readonly ports: readonly { readonly port: number }[] } };
const service = existingKind<Service>({ group: '', version: 'v1', kind: 'Service' });
const secret = existingKind<{ readonly metadata: Meta }>({ group: '', version: 'v1', kind: 'Secret' });

const waterTank = defineController(tank)({
  name: 'water-tank',
  owns: [service],
  settings: z.object({ PLANT_URL: z.url() }),
  clients: ({ PLANT_URL }) => ({
    level: async (name: string) => Number(await (await fetch(`${PLANT_URL}/${name}`)).text()),
  }),
  async reconcile({ metadata, spec, status }, { clients, children }) {
    const level = await clients.level(metadata.name).catch((error: Error) => error);
    const ok = { status: 'True', reason: 'Ok' } as const;
    if (level instanceof Error)
      return {
        status: { action: 'Unknown' },
        retry: level,
        conditions: {
          AtLevel: { status: 'Unknown', reason: 'NoReading' },
          SensorReachable: { status: 'False', reason: 'SensorError' },
        },
      };
    await children(service, [{ metadata: { name: metadata.name }, spec: { ports: [{ port: 80 }] } }]);
    const low = level < spec.targetLevel - spec.tolerance;
    return {
      status: { observedLevel: level, action: low ? 'Filling' : (status?.action ?? 'Holding') },
      conditions: { AtLevel: ok, SensorReachable: ok },
      requeueAfterSeconds: 5,
    };
  },
});

const network = defineResource({
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
const connected = { PeersConnected: { status: 'True', reason: 'Connected' } } as const;
const peers = defineController(network, { status: ['nodes'], conditions: ['PeersConnected'] })({
  name: 'network-peers',
  reads: [service],
  clients: () => ({ name: async (index: number) => `node-${index}` }),
  async reconcile({ spec, status }, { clients }) {
    const known: readonly string[] = status?.nodes ?? [];
    const nodes = await Promise.all(Array.from({ length: spec.nodes }, (_, index) => clients.name(index)));
    return { status: { nodes: [...known, ...nodes] }, conditions: connected };
  },
});

const good = { AtLevel: { status: 'True', reason: 'Ok' }, SensorReachable: { status: 'True', reason: 'Ok' } } as const;

describe('what an author writes', () => {
  it('is tested by calling it', async () => {
    const context = testContext(waterTank, { clients: { level: async () => 10 } });
    const { status } = await waterTank.reconcile(tank.object('a', { targetLevel: 40 }), context);
    const action: 'Filling' | 'Holding' | 'Unknown' = status.action;
    expect(action).toBe('Filling');
  });

  it('gets a default where the spec leaves something out', () => {
    const tolerance: number = tank.object('a', { targetLevel: 40 }).spec.tolerance;
    expect(tolerance).toBe(0.5);
  });

  it('does not compile when it is wrong', () => {
    defineController(tank)({
      name: 'undeclared-kind',
      owns: [service],
      async reconcile(_, { get }) {
        // @ts-expect-error: Secret is not declared, so no role would allow it
        await get(secret, { name: 'x' });
        return { status: { action: 'Holding' }, conditions: good };
      },
    });
    defineController(tank)({
      name: 'no-clients',
      async reconcile(_, { clients }) {
        // @ts-expect-error: there are no clients
        clients.level('x');
        return { status: { action: 'Holding' }, conditions: good };
      },
    });
    defineController(tank)({
      name: 'missing-condition',
      // @ts-expect-error: SensorReachable is missing
      async reconcile() {
        return { status: { action: 'Holding' }, conditions: { AtLevel: { status: 'True', reason: 'Ok' } } };
      },
    });
    defineController(tank)({
      name: 'misspelt-enum-value',
      // @ts-expect-error: Fillin is no action
      async reconcile() {
        return { status: { action: 'Fillin' }, conditions: good };
      },
    });
    // @ts-expect-error: a level is a number
    expect(() => tank.object('a', { targetLevel: '40' })).toThrow('spec.targetLevel');
    // @ts-expect-error: the clients that the controller uses must be given
    testContext(waterTank, { clients: {} });
    expect.assertions(1);
  });
});

describe('a second controller on a kind', () => {
  const clients = { name: async () => 'n' };

  it('is tested by calling it, with a whole object or with its own past only', async () => {
    const context = testContext(peers, { clients });
    expect((await peers.reconcile(network.object('a', { nodes: 1 }), context)).status).toEqual({ nodes: ['n'] });
    const past = { ...network.object('a', { nodes: 1 }), status: { nodes: ['m'] } };
    expect((await peers.reconcile(past, context)).status).toEqual({ nodes: ['m', 'n'] });
  });

  it('does not compile when its part is wrong', () => {
    // @ts-expect-error: phase is required, so the status would be unreadable until the part is written
    defineController(network, { status: ['phase'], conditions: ['PeersConnected'] });
    // @ts-expect-error: the status has no such field
    defineController(network, { status: ['peers'], conditions: ['PeersConnected'] });
    // @ts-expect-error: ServiceReady is a condition of the kind
    defineController(network, { status: ['nodes'], conditions: ['ServiceReady'] });
    // @ts-expect-error: Ready sums up the first controller
    defineController(network, { status: ['nodes'], conditions: ['Ready'] });
    // @ts-expect-error: the second of two is Stalled
    defineController(network, { status: ['nodes'], conditions: ['PeersConnected', 'Stalled'] });
    // @ts-expect-error: without a condition it could not say what is wrong
    defineController(network, { status: ['nodes'], conditions: [] });
    expect.assertions(0);
  });

  it('does not compile when it says more or less than its part', () => {
    const part = defineController(network, { status: ['nodes'], conditions: ['PeersConnected', 'Synced'] });
    const synced = { ...connected, Synced: { status: 'True', reason: 'Synced' } } as const;
    part({
      name: 'missing-condition',
      // @ts-expect-error: Synced is missing
      reconcile: async () => ({ status: {}, conditions: connected }),
    });
    part({
      name: 'field-of-another',
      async reconcile({ status }) {
        // @ts-expect-error: height is not of this part
        return { status: { nodes: [`${status?.height}`] }, conditions: synced };
      },
    });
    part({
      name: 'wrong-type',
      // @ts-expect-error: nodes are names
      reconcile: async () => ({ status: { nodes: [1] }, conditions: synced }),
    });
    part({
      name: 'nothing-yet',
      reconcile: async () => ({ status: {}, conditions: synced, retry: new Error('later') }),
    });
    // @ts-expect-error: the clients that the part uses must be given
    testContext(peers, { clients: {} });
    expect.assertions(0);
  });
});
