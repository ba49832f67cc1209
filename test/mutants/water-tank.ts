// What somebody might well get wrong in WaterTank: the edges of its band, what is news, what is safe when nothing is known.
import type { Mutant } from './mutant.ts';

const file = 'src/controllers/water-tank.ts';
const client = 'src/controllers/clients/plant.ts';

export const waterTankMutants: readonly Mutant[] = [
  {
    name: 'fills as soon as the level is below the target, whatever the tolerance',
    edits: [{ file, find: 'if (observed < targetLevel - tolerance)', replace: 'if (observed < targetLevel)' }],
  },
  {
    name: 'fills at the lower edge of the band, not only below it',
    edits: [
      { file, find: 'if (observed < targetLevel - tolerance)', replace: 'if (observed <= targetLevel - tolerance)' },
    ],
  },
  {
    name: 'drains at the upper edge of the band, not only above it',
    edits: [
      {
        file,
        find: 'observed > targetLevel + tolerance',
        replace: 'observed >= targetLevel + tolerance',
      },
    ],
  },
  {
    name: 'never drains',
    edits: [{ file, find: "observed > targetLevel + tolerance ? 'Draining'", replace: "false ? 'Draining'" }],
  },
  {
    name: 'opens outlet and inlet the wrong way round when it drains',
    edits: [
      {
        file,
        find: "valves: { inlet: 'closed', outlet: 'open' }",
        replace: "valves: { inlet: 'open', outlet: 'closed' }",
      },
    ],
  },
  {
    name: 'leaves the valves as they are when there is no reading',
    edits: [
      {
        file,
        find: 'await clients.setValves(metadata.uid, closed, signal).then(() => undefined, toError)',
        replace: 'undefined',
      },
    ],
  },
  {
    name: 'goes by the recorded level when there is no reading',
    edits: [
      {
        file,
        find: '.then((read) => plausible(read, spec.capacity), toError);',
        replace:
          '.then((read) => plausible(read, spec.capacity), toError).then((read) => (read instanceof Error ? (status?.observedLevel ?? read) : read));',
      },
    ],
  },
  {
    name: 'believes any number that the sensor gives',
    edits: [{ file, find: 'return read >= 0 && read <= most ? read', replace: 'return true ? read' }],
  },
  {
    name: 'does not come back by itself: waits for an event that no level ever causes',
    edits: [
      {
        file,
        find: "reason: 'Reading' } },\n      requeueAfterSeconds,",
        replace: "reason: 'Reading' } },",
      },
    ],
  },
  {
    name: 'does not retry when there was no reading',
    edits: [{ file, find: 'retry: failure ?? observed,', replace: '' }],
  },
  {
    name: 'records every move of the level, also within the band',
    edits: [
      { file, find: "(recorded !== observed && !(action === 'Holding'", replace: '(recorded !== observed && !(false' },
    ],
  },
  {
    name: 'finalizes without the confirmation that the valves are closed',
    edits: [
      {
        file,
        find: "await clients.setValves(metadata.uid, closed, signal);\n    return 'done';",
        replace: "await clients.setValves(metadata.uid, closed, signal).catch(() => undefined);\n    return 'done';",
      },
    ],
  },
  {
    name: 'commands its valves although they stand as they should',
    edits: [{ file: client, find: 'if (now[part].open === open) continue;', replace: '' }],
  },
  {
    name: 'does not close one valve before it opens the other',
    edits: [
      {
        file: client,
        find: "wanted.inlet === 'closed' ? inletFirst",
        replace: "wanted.inlet !== 'closed' ? inletFirst",
      },
    ],
  },
  {
    name: 'accepts a target above the capacity',
    edits: [
      {
        file,
        find: "rule: 'self.targetLevel <= self.capacity'",
        replace: "rule: 'self.targetLevel <= self.capacity + 1000.0'",
      },
    ],
  },
  {
    name: 'forgets the default of the tolerance',
    edits: [{ file, find: 'tolerance: level.default(0.5)', replace: 'tolerance: level' }],
  },
];
