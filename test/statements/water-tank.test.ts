// What is asked of WaterTank (W3 to W9; W11 is test/testing/system.test.ts), as cases for any API server. What its schema refuses is
// bad-input.test.ts, what it does at which level (W1, W2) test/controllers/water-tank.test.ts, W10
// generation.test.ts.
import { describe, expect, it } from 'vitest';
import { WaterTank as tanks } from '../../src/controllers/water-tank.ts';
import { formatMessage } from '../../src/sqs/message.ts';
import { useApiServer } from '../harness/api-server.ts';
import { useSystem } from './harness.ts';
import { conditionOf } from './user.ts';

const finalizer = 'outrigger.dev/water-tank';
const spec = (targetLevel: number) => ({ targetLevel, capacity: 100, tolerance: 5 });

const { connect } = await useApiServer();
const system = useSystem(connect);

/** A tank with a water level, before its first reconcile. */
async function tankAt(level: number): Promise<string> {
  const { metadata } = await system.apply(tanks, 'north', spec(40));
  const { uid = '' } = metadata;
  system.plant.disturb(uid, level);
  return uid;
}
const valves = (id: string) => {
  const { inlet, outlet } = system.plant.tank(id);
  return { inlet: inlet.open, outlet: outlet.open };
};
const versionOf = async () => (await system.read(tanks, 'north')).metadata.resourceVersion;

describe('WaterTank', () => {
  it('W3: within the band both valves are closed, and a second reconcile neither commands nor writes', async () => {
    const id = await tankAt(38);
    await system.reconcile(tanks, 'north');
    const after = await system.read(tanks, 'north');
    expect(after.status).toMatchObject({ action: 'Holding', observedGeneration: 1 });
    expect(conditionOf(after, 'AtLevel')?.status).toBe('True');
    expect(conditionOf(after, 'Ready')?.status).toBe('True');
    const { commands } = system.plant.tank(id);
    // It moves within the band, which is no news either.
    system.plant.disturb(id, 41);
    system.requests.length = 0;
    await system.reconcile(tanks, 'north');
    expect(valves(id)).toEqual({ inlet: false, outlet: false });
    expect(system.plant.tank(id).commands).toBe(commands);
    expect(await versionOf()).toBe(after.metadata.resourceVersion);
    expect(system.requests).toHaveLength(1);
  });

  it('W4: a level that drops without any API change is back in the band within one resync period', async () => {
    const id = await tankAt(40);
    await system.reconcile(tanks, 'north');
    system.plant.disturb(id, 3);
    await system.pass(600);
    expect(Math.abs(system.plant.tank(id).level - 40)).toBeLessThanOrEqual(5);
    expect(valves(id)).toEqual({ inlet: false, outlet: false });
    expect((await system.read(tanks, 'north')).status).toMatchObject({ action: 'Holding' });
  });

  it.each([
    ['in the order of the changes', [0, 1, 2]],
    ['in the opposite order', [2, 1, 0]],
    ['twice, with the oldest last', [2, 1, 2, 0, 1, 0]],
  ])('W5: of targets 40, 60 and 20 the last one counts if their messages arrive %s', async (_, order) => {
    const id = await tankAt(40);
    const bodies: string[] = [];
    for (const target of [40, 60, 20]) {
      const { resourceVersion = '' } = (await system.apply(tanks, 'north', spec(target))).metadata;
      const { group, plural: resource } = tanks;
      const key = { controller: 'water-tank', cluster: 'test', group, resource, namespace: system.namespace };
      const cause = { type: 'change', observedAt: system.clock.ms, resourceVersion } as const;
      bodies.push(formatMessage({ ...key, name: 'north', cause }));
      // The function also runs between the changes. Its first pass gives the tank its finalizer, and ends.
      if (target === 60) for (const _ of ['held', 'reconciled']) await system.atOnce('water-tank', bodies[1] ?? '', 1);
    }
    expect(valves(id)).toEqual({ inlet: true, outlet: false });
    for (const index of order) await system.atOnce('water-tank', bodies[index] ?? '', 1);
    const after = await system.read(tanks, 'north');
    expect(after.metadata.generation).toBe(3);
    expect(after.status).toMatchObject({ action: 'Draining', observedGeneration: 3 });
    expect(valves(id)).toEqual({ inlet: false, outlet: true });
  });

  it('W6: a function that dies between valve and status leaves nothing that the next one does not finish', async () => {
    const id = await tankAt(10);
    system.dieAt(({ method, path }) => method === 'PATCH' && path.endsWith('/status'));
    await system.reconcile(tanks, 'north');
    expect(valves(id)).toEqual({ inlet: true, outlet: false });
    expect((await system.read(tanks, 'north')).status).toBeUndefined();
    system.revive();
    await system.reconcile(tanks, 'north');
    expect(valves(id)).toEqual({ inlet: true, outlet: false });
    expect(system.plant.tank(id).commands).toBe(1);
    expect((await system.read(tanks, 'north')).status).toMatchObject({ action: 'Filling', observedGeneration: 1 });
  });

  it.each([
    'sensor-error',
    'sensor-text',
    'sensor-out-of-range',
    'sensor-hang',
  ] as const)('W7: with %s both valves close, and it is retried until there is a reading', async (fault) => {
    const id = await tankAt(10);
    await system.reconcile(tanks, 'north');
    expect(valves(id)).toEqual({ inlet: true, outlet: false });
    system.plant.setFaults({ [id]: fault });
    await system.reconcile(tanks, 'north');
    expect(valves(id)).toEqual({ inlet: false, outlet: false });
    const after = await system.read(tanks, 'north');
    expect(after.status).toMatchObject({ action: 'Unknown' });
    expect(after.status).not.toHaveProperty('observedLevel');
    expect(conditionOf(after, 'SensorReachable')).toMatchObject({ status: 'False', reason: 'SensorError' });
    expect(conditionOf(after, 'Reconciling')).toMatchObject({ status: 'True' });
    expect(system.waiting().some((body) => body.includes('"type":"retry"'))).toBe(true);
    system.plant.setFaults({});
    await system.pass(60);
    expect((await system.read(tanks, 'north')).status).toMatchObject({ action: 'Holding' });
    expect(conditionOf(await system.read(tanks, 'north'), 'Reconciling')).toBeUndefined();
  });

  it('W8: a deleted tank stays, and says why, until both valves are confirmed closed', async () => {
    const id = await tankAt(10);
    await system.reconcile(tanks, 'north');
    expect((await system.read(tanks, 'north')).metadata.finalizers).toEqual([finalizer]);
    system.plant.setFaults({ '*': 'down' });
    await system.delete(tanks, 'north');
    await system.reconcile(tanks, 'north');
    const held = await system.read(tanks, 'north');
    expect(held.metadata.finalizers).toEqual([finalizer]);
    expect(conditionOf(held, 'Finalized')).toMatchObject({ status: 'False' });
    expect(conditionOf(held, 'Finalized')?.message).not.toBe('');
    system.plant.setFaults({});
    await system.reconcile(tanks, 'north', 'north');
    expect(valves(id)).toEqual({ inlet: false, outlet: false });
    expect(await system.get(tanks, 'north')).toBeUndefined();
  });

  it('W9: a message for a missing tank is deleted without a call to the plant', async () => {
    await system.enqueue(tanks, 'nowhere');
    expect(await system.deliver()).toBe(1);
    expect(await system.deliver()).toBe(0);
    expect(system.requests).toHaveLength(1);
    expect(system.plant.tanks()).toEqual([]);
    expect(system.waiting()).toEqual([]);
    expect(await system.deadLetters('water-tank')).toEqual([]);
  });
});
