// Likely errors in WaterTank: the limits of its band, when to record an Event, and the safe state when nothing is known.
import { type Mutant, swap } from './mutant.ts';

const file = 'src/controllers/water-tank.ts';
const client = 'src/controllers/clients/plant.ts';

export const waterTankMutants: readonly Mutant[] = [
  swap(
    'fills as soon as the level is below the target, whatever the tolerance',
    file,
    'if (observed < targetLevel - tolerance)',
    'if (observed < targetLevel)',
  ),
  swap(
    'fills at the lower edge of the band, not only below it',
    file,
    'if (observed < targetLevel - tolerance)',
    'if (observed <= targetLevel - tolerance)',
  ),
  swap(
    'drains at the upper edge of the band, not only above it',
    file,
    'observed > targetLevel + tolerance',
    'observed >= targetLevel + tolerance',
  ),
  swap('never drains', file, "observed > targetLevel + tolerance ? 'Draining'", "false ? 'Draining'"),
  swap(
    'opens outlet and inlet the wrong way round when it drains',
    file,
    "valves: { inlet: 'closed', outlet: 'open' }",
    "valves: { inlet: 'open', outlet: 'closed' }",
  ),
  swap(
    'leaves the valves as they are when there is no reading',
    file,
    'await clients.setValves(metadata.uid, closed, signal).then(() => undefined, toError)',
    'undefined',
  ),
  swap(
    'goes by the recorded level when there is no reading',
    file,
    '.then((read) => plausible(read, spec.capacity), toError);',
    '.then((read) => plausible(read, spec.capacity), toError).then((read) => (read instanceof Error ? (status?.observedLevel ?? read) : read));',
  ),
  swap('accepts any number from the sensor', file, 'return read >= 0 && read <= most ? read', 'return true ? read'),
  swap(
    'does not come back by itself: waits for an event that no level ever causes',
    file,
    "SensorReachable: ok('Reading') },\n      requeueAfterSeconds,",
    "SensorReachable: ok('Reading') },",
  ),
  swap('does not retry when there was no reading', file, 'error: failure ?? observed,', ''),
  swap(
    'records every move of the level, also within the band',
    file,
    "(recorded !== observed && !(action === 'Holding'",
    '(recorded !== observed && !(false',
  ),
  swap(
    'finalizes without the confirmation that the valves are closed',
    file,
    "await clients.setValves(metadata.uid, closed, signal);\n    return 'done';",
    "await clients.setValves(metadata.uid, closed, signal).catch(() => undefined);\n    return 'done';",
  ),
  swap('commands its valves although they stand as they should', client, 'if (now[part].open === open) continue;', ''),
  swap(
    'does not close one valve before it opens the other',
    client,
    "wanted.inlet === 'closed' ? inletFirst",
    "wanted.inlet !== 'closed' ? inletFirst",
  ),
];

/** In its definition. */
export const waterTankDefinitionMutants: readonly Mutant[] = [
  swap(
    'accepts a target above the capacity',
    file,
    "rule: 'self.targetLevel <= self.capacity'",
    "rule: 'self.targetLevel <= self.capacity + 1000.0'",
  ),
  swap('forgets the default of the tolerance', file, 'tolerance: level.default(0.5)', 'tolerance: level'),
];
