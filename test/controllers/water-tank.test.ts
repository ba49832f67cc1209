// The tank's reconciler, called by hand against a plant that answers over HTTP. Messages, statuses in the cluster and
// finalizers are the statements' business.

import { type PlantSimulator, startPlant } from '@outrigger/cli/simulators/plant';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createPlantClient } from '../../src/controllers/clients/plant.ts';
import { WaterTank, waterTank } from '../../src/controllers/water-tank.ts';
import { testContext } from '../../src/testing/test-context.ts';

const tank = WaterTank.object('north', { targetLevel: 40, capacity: 100, tolerance: 5 });
const id = tank.metadata.uid;
const epoch = new Date('2026-01-01T00:00:00Z');

let plant: PlantSimulator;
beforeEach(async () => {
  // The water stands still unless a test moves it.
  plant = await startPlant({ levelPerSecond: 0 });
});
afterEach(() => plant.close());

const context = () => testContext(waterTank, { clients: createPlantClient(plant.url), now: () => epoch });
const valves = () => ({ inlet: plant.tank(id).inlet.open, outlet: plant.tank(id).outlet.open });

describe('the reconcile of a water tank', () => {
  it.each([
    { level: 34.9, action: 'Filling', inlet: true, outlet: false, atLevel: 'False' },
    { level: 35, action: 'Holding', inlet: false, outlet: false, atLevel: 'True' },
    { level: 45, action: 'Holding', inlet: false, outlet: false, atLevel: 'True' },
    { level: 45.1, action: 'Draining', inlet: false, outlet: true, atLevel: 'False' },
    { level: 110, action: 'Draining', inlet: false, outlet: true, atLevel: 'False' },
  ])('W1, W2, W3: a tank at $level of 40 ± 5 is $action', async ({ level, action, inlet, outlet, atLevel }) => {
    plant.disturb(id, level);
    const result = await waterTank.reconcile(tank, context());
    expect(result.status).toEqual({ action, observedLevel: level, lastChangedTime: epoch.toISOString() });
    expect(result.conditions.AtLevel.status).toBe(atLevel);
    expect(valves()).toEqual({ inlet, outlet });
  });

  it('W4: a tank is requeued sooner while water moves than while it stands', async () => {
    const moving = await waterTank.reconcile(tank, context());
    plant.disturb(id, 40);
    const standing = await waterTank.reconcile(tank, context());
    const seconds = (result: object) => ('requeueAfterSeconds' in result ? Number(result.requeueAfterSeconds) : 0);
    expect(seconds(moving)).toBeGreaterThan(0);
    expect(seconds(moving)).toBeLessThan(seconds(standing));
  });

  it('W3: a tank records no move within the band, and every move out of it', async () => {
    const before = { action: 'Holding', observedLevel: 41, lastChangedTime: '2025-01-01T00:00:00Z' } as const;
    plant.disturb(id, 38);
    expect((await waterTank.reconcile({ ...tank, status: before }, context())).status).toEqual(before);
    plant.disturb(id, 20);
    expect((await waterTank.reconcile({ ...tank, status: before }, context())).status).toEqual({
      action: 'Filling',
      observedLevel: 20,
      lastChangedTime: epoch.toISOString(),
    });
  });

  it('W3: a tank keeps lastChangedTime while a valve is stuck and the level stays the same', async () => {
    const before = { action: 'Filling', observedLevel: 20, lastChangedTime: '2025-01-01T00:00:00Z' } as const;
    plant.disturb(id, 20);
    expect((await waterTank.reconcile({ ...tank, status: before }, context())).status).toEqual(before);
  });

  it.each([
    { from: 90, to: 10, commands: ['outlet open', 'outlet closed', 'inlet open'] },
    { from: 10, to: 90, commands: ['inlet open', 'inlet closed', 'outlet open'] },
  ])('W1, W2: a tank that goes from $from to $to closes the valve that stands open before it opens the other', async (moved) => {
    plant.disturb(id, moved.from);
    await waterTank.reconcile(tank, context());
    plant.disturb(id, moved.to);
    await waterTank.reconcile(tank, context());
    expect(plant.valveCommands(id)).toEqual(moved.commands);
  });

  it('W7: a tank whose plant is down reports that its valves could not be closed', async () => {
    plant.setFaults({ '*': 'down' });
    const { conditions } = await waterTank.reconcile(tank, context());
    expect(conditions.SensorReachable.message).toContain('valves:');
  });

  it('the reconcile of a tank throws when a valve does not move, so that the status is kept', async () => {
    plant.setFaults({ [id]: 'valve-error' });
    await expect(waterTank.reconcile(tank, context())).rejects.toThrow('the inlet valve does not move');
  });
});
