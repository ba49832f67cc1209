// WaterTank: keeps the water of a tank at a level. The smallest complete controller: it observes a system outside the
// cluster, acts on the observation, and reports it. Water moves without a Kubernetes event. The plant's sensor sends an
// event of its own, and the controller requeues the tank in case an event is lost. Its valves are outside the cluster,
// so it has a finalizer.
//
// A user writes spec. Only this controller writes status. It reads from it only the last recorded level and time.
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

/** The kind. Levels have the unit of the tank's sensor. */
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

/** While water moves: short, so that the level is read before it is far past the target. */
const movingSeconds = 2;
/**
 * While no water moves. Only a leak or a person can change the level then, and the sensor reports it, but its event may
 * be lost.
 */
const holdingSeconds = 300;
/**
 * The sensor of an overflowing tank may read somewhat more than the capacity, and the tank has to be drained. A higher
 * value is not a valid reading.
 */
const plausibleOverflow = 1.5;

/** The event that the plant's sensor sends when the level of a tank at rest changes. */
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
    // Observe. An old level does not replace a reading: without a reading both valves are closed.
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

    // Act. Commands are absolute, so a reconcile that crashed half-way can be repeated.
    const action = decide(observed, spec);
    const { valves, atLevel, requeueAfterSeconds } = actions[action];
    await clients.setValves(metadata.uid, valves, signal);

    // Report. A change within the tolerance is not recorded, because each record is a write.
    const recorded = status?.observedLevel;
    const isNews =
      recorded === undefined ||
      (recorded !== observed && !(action === 'Holding' && decide(recorded, spec) === 'Holding'));
    const last = isNews ? now().toISOString() : status?.lastChangedTime;
    return {
      status: { observedLevel: isNews ? observed : recorded, action, lastChangedTime: last },
      conditions: { AtLevel: atLevel, SensorReachable: ok('Reading') },
      requeueAfterSeconds,
    };
  },

  async finalize({ metadata }, { clients, signal }) {
    // It throws until the plant has confirmed that both valves are closed. Until then the finalizer stays.
    await clients.setValves(metadata.uid, closed, signal);
    return 'done';
  },
});

/** Decides the action for a level, from the desired and the observed level alone. */
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
