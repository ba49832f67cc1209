// WaterTank: keeps the water of a tank at a level. The smallest whole controller: it observes the world outside the
// cluster, acts on what it observed, and reports. No Kubernetes event ever says that water moved: the plant's sensor
// pushes an event, and it asks to be called again in case one is lost. Its valves are outside the cluster, so it has a
// finalizer.
//
// A user writes spec. This controller alone writes status, and reads of it only what it recorded last.
import * as z from 'zod';
import { defineKind, notOk, ok, type ResultOf, toError, unknown, wake, withRule } from '../outrigger.ts';
import { createPlantClient, type Valves } from './clients/plant.ts';

const level = z.number().min(0).max(1_000_000);

const withinCapacity = withRule(
  z.object({
    targetLevel: level.describe('The level to keep.'),
    capacity: level.positive().describe('The level at which the tank overflows.'),
    tolerance: level.default(0.5).describe('How far from the target the level may be.'),
  }),
  {
    rule: 'self.targetLevel <= self.capacity',
    message: 'targetLevel must not be above capacity',
    fieldPath: '.targetLevel',
  },
  ({ targetLevel, capacity }) => targetLevel <= capacity,
);

/** The kind. Levels are in whatever unit the tank's sensor has. */
export const WaterTank = defineKind({
  group: 'plant.example.com',
  version: 'v1',
  kind: 'WaterTank',
  spec: withRule(
    withinCapacity,
    {
      rule: 'self.tolerance < self.capacity',
      message: 'tolerance must be below capacity',
      fieldPath: '.tolerance',
    },
    ({ tolerance, capacity }) => tolerance < capacity,
  ),
  status: z.object({
    observedLevel: z.number().optional().describe('The level as last recorded; moves within the tolerance are not.'),
    action: z.enum(['Filling', 'Draining', 'Holding', 'Unknown']),
    lastChangedTime: z.iso.datetime().optional().describe('When the recorded level last changed.'),
  }),
  conditions: ['AtLevel', 'SensorReachable'],
  columns: { Target: '.spec.targetLevel', Level: '.status.observedLevel', Action: '.status.action' },
  shortNames: ['wt'],
});

/** While water moves, the level is read before it can pass the target by much. */
const movingSeconds = 2;
/** While it stands still, only a leak or a hand can change it, and the sensor pushes that. An event may be lost. */
const holdingSeconds = 300;
/** An overflowing tank may read somewhat above its capacity, and has to be drained; beyond this it is no reading. */
const plausibleOverflow = 1.5;

/** What the plant's sensor pushes when the level of a tank at rest moves. */
const levelChanged = z.object({ tank: z.object({ namespace: z.string(), name: z.string() }) });

const closed: Valves = { inlet: 'closed', outlet: 'closed' };
const actions = {
  Filling: {
    valves: { inlet: 'open', outlet: 'closed' },
    atLevel: notOk('BelowTarget'),
    requeueAfterSeconds: movingSeconds,
  },
  Draining: {
    valves: { inlet: 'closed', outlet: 'open' },
    atLevel: notOk('AboveTarget'),
    requeueAfterSeconds: movingSeconds,
  },
  Holding: { valves: closed, atLevel: ok('InBand'), requeueAfterSeconds: holdingSeconds },
} as const;

/** The controller. */
export const waterTank = WaterTank.controller('water-tank', {
  settings: z.object({ PLANT_URL: z.url() }),
  clients: ({ PLANT_URL }) => createPlantClient(PLANT_URL),
  // The level is read when the tank is reconciled: the event only names the tank.
  wakes: [
    wake({ source: 'plant.example.com', detailType: 'LevelChanged' }, ({ detail }) => [
      levelChanged.parse(detail).tank,
    ]),
  ],

  async reconcile({ metadata, spec, status }, { clients, signal, now }): Promise<ResultOf<typeof WaterTank>> {
    // Observe. Yesterday's level is no substitute for a reading: without one nothing may flow.
    const observed = await clients.level(metadata.uid, signal).then((read) => plausible(read, spec.capacity), toError);
    if (observed instanceof Error) {
      const failure = await clients.setValves(metadata.uid, closed, signal).then(() => undefined, toError);
      const message = failure === undefined ? observed.message : `${observed.message}; valves: ${failure.message}`;
      return {
        status: { action: 'Unknown' },
        conditions: { AtLevel: unknown('NoReading'), SensorReachable: notOk('SensorError', message) },
        error: failure ?? observed,
      };
    }

    // Act. Commands are absolute, so that a reconcile that died half-way is just done again.
    const action = decide(observed, spec);
    const { valves, atLevel, requeueAfterSeconds } = actions[action];
    await clients.setValves(metadata.uid, valves, signal);

    // Report. A level that moves within the band is not news; recording it would cost a write each time.
    const recorded = status?.observedLevel;
    const isNews =
      recorded === undefined ||
      (recorded !== observed && !(action === 'Holding' && decide(recorded, spec) === 'Holding'));
    const last = isNews ? now().toISOString() : status?.lastChangedTime;
    return {
      status: {
        observedLevel: isNews ? observed : recorded,
        action,
        ...(last === undefined ? {} : { lastChangedTime: last }),
      },
      conditions: { AtLevel: atLevel, SensorReachable: ok('Reading') },
      requeueAfterSeconds,
    };
  },

  async finalize({ metadata }, { clients, signal }) {
    // Throws, and so keeps the finalizer, until the plant has confirmed that both are closed.
    await clients.setValves(metadata.uid, closed, signal);
    return 'done';
  },
});

/** What to do about a level: a function of what is wanted and what was just observed, and of nothing else. */
function decide(
  observed: number,
  { targetLevel, tolerance }: { readonly targetLevel: number; readonly tolerance: number },
): 'Filling' | 'Draining' | 'Holding' {
  if (observed < targetLevel - tolerance) return 'Filling';
  return observed > targetLevel + tolerance ? 'Draining' : 'Holding';
}

function plausible(read: number, capacity: number): number | Error {
  const most = capacity * plausibleOverflow;
  return read >= 0 && read <= most ? read : new Error(`the sensor reads ${read}, which is not within 0 to ${most}`);
}
