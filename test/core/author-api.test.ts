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
