// Tanks: the level is within its tolerance and no valve is open; both valves of a deleted tank are closed.
import * as z from 'zod';
import type { Snapshot } from './snapshot.ts';

const tankSpec = z.looseObject({ targetLevel: z.number(), tolerance: z.number() });

/** Lists the violations in the plant. */
export function findPlantViolations({ list, simulators }: Snapshot): readonly string[] {
  const tanks = new Map(simulators.tanks().map((tank) => [tank.id, tank]));
  const objects = list('watertanks');
  const existing = new Set(objects.map(({ metadata }) => metadata.uid));
  const openTanks = [...tanks.values()].filter(({ inlet, outlet }) => inlet.open || outlet.open);
  return [
    ...objects.flatMap(({ metadata: { name, uid }, spec }) => {
      const { targetLevel, tolerance } = tankSpec.parse(spec);
      const tank = tanks.get(uid);
      if (tank === undefined) return [`${name}: its tank was never read`];
      const difference = Math.abs(tank.level - targetLevel);
      return difference > tolerance ? [`${name}: its level is ${tank.level} instead of ${targetLevel}`] : [];
    }),
    ...openTanks.map(({ id }) =>
      existing.has(id) ? `tank ${id}: a valve is open` : `tank ${id}: a valve is open without an object`,
    ),
  ];
}
