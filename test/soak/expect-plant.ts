// Tanks: the water is where it should be and nothing flows; of a tank that is gone both valves are shut.
import * as z from 'zod';
import type { Snapshot } from '../../tools/soak/snapshot.ts';

const wanted = z.looseObject({ targetLevel: z.number(), tolerance: z.number() });

/** Lists what is wrong with the plant. */
export function wrongInPlant({ of, outside }: Snapshot): readonly string[] {
  const tanks = new Map(outside.tanks().map((tank) => [tank.id, tank]));
  const objects = of('watertanks');
  const here = new Set(objects.map(({ metadata }) => metadata.uid));
  const flowing = [...tanks.values()].filter(({ inlet, outlet }) => inlet.open || outlet.open);
  return [
    ...objects.flatMap(({ metadata: { name, uid }, spec }) => {
      const { targetLevel, tolerance } = wanted.parse(spec);
      const tank = tanks.get(uid);
      if (tank === undefined) return [`${name}: nobody ever looked at its tank`];
      const off = Math.abs(tank.level - targetLevel);
      return off > tolerance ? [`${name}: its water is at ${tank.level}, not ${targetLevel}`] : [];
    }),
    ...flowing.map(({ id }) =>
      here.has(id) ? `tank ${id}: water flows` : `tank ${id} has no object, and water flows`,
    ),
  ];
}
