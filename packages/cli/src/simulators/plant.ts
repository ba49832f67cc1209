// A simulated plant for the water tanks: water moves with real time while a valve is open, without any Kubernetes
// event. The contract over HTTP follows; all bodies are JSON. `<id>` is URL-encoded and chosen by the caller (the
// object's uid):
//
//   GET  /tanks/<id>/level    → 200 {"level": 12.5}                      the sensor, subject to the faults below
//   PUT  /tanks/<id>/inlet    {"open": true|false} → 200 Tank            idempotent
//   PUT  /tanks/<id>/outlet   {"open": true|false} → 200 Tank
//   GET  /tanks/<id>          → 200 Tank
//                               Tank = {"id", "level", "inlet": {"open"}, "outlet": {"open"}, "commands", "readings"}
//   GET  /tanks               → 200 {"tanks": [Tank]}
//   PUT  /tanks/<id>/level    {"level": 5} → 200 Tank                    a disturbance: water is removed or added,
//                                                                       and the sensor reports it (onLevelChanged)
//   GET  /faults, PUT /faults {"*" or "<id>": Fault} → 200               replaces all faults; {} clears them
//
// An unknown tank is empty (or at `initialLevel`) with both valves closed. Commands and readings are counted.
// Faults: `down` (the connection is cut, also for valves), `sensor-error` (500), `sensor-text` (200 "wet"),
// `sensor-out-of-range` (level -1e6), `sensor-hang` (no response), `valve-error` (500 on valves). Errors are {"error":
// "reason"} with status 400 or 404.
import * as z from 'zod';
import {
  errorResponse,
  jsonResponse,
  type Listen,
  type SimulatorRequest,
  type SimulatorResponse,
  serveSimulator,
} from './simulator-server.ts';

const valveCommand = z.strictObject({ open: z.boolean() });
const disturbance = z.strictObject({ level: z.number().min(0) });
/** A fault of a tank. */
export const plantFault = z.enum([
  'down',
  'sensor-error',
  'sensor-text',
  'sensor-out-of-range',
  'sensor-hang',
  'valve-error',
]);
const faults = z.record(z.string(), plantFault);

/** The active fault of each tank; `*` applies to all tanks. */
export type PlantFaults = Readonly<z.infer<typeof faults>>;

/** The state of a tank at this moment. */
export type PlantTank = {
  readonly id: string;
  readonly level: number;
  readonly inlet: { readonly open: boolean };
  readonly outlet: { readonly open: boolean };
  /** Valve commands so far, including those that changed nothing. */
  readonly commands: number;
  readonly readings: number;
};

/** A running plant. */
export type PlantSimulator = {
  readonly url: string;
  tanks(): readonly PlantTank[];
  tank(id: string): PlantTank;
  /** The valve commands of a tank in order, each as `inlet open` or the like. */
  valveCommands(id: string): readonly string[];
  /** Sets the level of a tank: water is removed or added. */
  disturb(id: string, level: number): void;
  setFaults(faults: PlantFaults): void;
  /** Makes the sensor report each level that was changed from outside, as an event. */
  onLevelChanged(listener: (id: string) => void): void;
  close(): Promise<void>;
};

/** Options of a plant. */
export type PlantOptions = Listen & {
  /** The change of the level per second through one open valve. */
  readonly levelPerSecond?: number;
  /** The level of a tank at its first access. */
  readonly initialLevel?: (id: string) => number;
  /** The level from which on what flows in runs over the edge of each tank; without it, tanks have no edge. */
  readonly overflowsAt?: number;
  /** Milliseconds of a monotonic clock. */
  readonly nowMilliseconds?: () => number;
};

type State = { level: number; at: number; inlet: boolean; outlet: boolean; commands: string[]; readings: number };

/** Starts a plant. Throws the listen error, for example EADDRINUSE. */
export async function startPlant({
  levelPerSecond = 2,
  initialLevel = () => 0,
  overflowsAt = Number.POSITIVE_INFINITY,
  nowMilliseconds = () => performance.now(),
  ...listen
}: PlantOptions = {}): Promise<PlantSimulator> {
  const states = new Map<string, State>();
  let activeFaults: PlantFaults = {};
  const listeners: ((id: string) => void)[] = [];

  // The level is computed when it is read.
  const currentState = (id: string): State => {
    const now = nowMilliseconds();
    const state = states.get(id) ?? {
      level: initialLevel(id),
      at: now,
      inlet: false,
      outlet: false,
      commands: [],
      readings: 0,
    };
    const flow = (state.inlet ? 1 : 0) - (state.outlet ? 1 : 0);
    const level = state.level + (flow * levelPerSecond * (now - state.at)) / 1000;
    state.level = Math.min(Math.max(0, level), Math.max(state.level, overflowsAt));
    state.at = now;
    states.set(id, state);
    return state;
  };
  const faultOf = (id: string) => activeFaults[id] ?? activeFaults['*'];

  function valve(id: string, which: 'inlet' | 'outlet', body: unknown): SimulatorResponse {
    const { open } = valveCommand.parse(body);
    if (faultOf(id) === 'valve-error') return errorResponse(500, `the ${which} valve does not move`);
    const state = currentState(id);
    state.commands.push(`${which} ${open ? 'open' : 'closed'}`);
    state[which] = open;
    return jsonResponse(toTank(id, state));
  }

  function sensor(id: string): SimulatorResponse {
    const state = currentState(id);
    state.readings += 1;
    const sensorFault = faultOf(id);
    if (sensorFault === 'sensor-error') return errorResponse(500, 'the level sensor is broken');
    if (sensorFault === 'sensor-text') return { status: 200, text: 'wet' };
    if (sensorFault === 'sensor-out-of-range') return jsonResponse({ level: -1e6 });
    return sensorFault === 'sensor-hang' ? 'hang' : jsonResponse({ level: round(state.level) });
  }

  function disturb(id: string, level: number): PlantTank {
    const state = currentState(id);
    state.level = level;
    for (const listener of listeners) listener(id);
    return toTank(id, state);
  }

  function route({ method, path: [root, id, part], body }: SimulatorRequest): SimulatorResponse | undefined {
    if (root === 'faults') {
      if (method === 'PUT') activeFaults = faults.parse(body);
      return jsonResponse(activeFaults);
    }
    if (root !== 'tanks') return undefined;
    if (id === undefined)
      return jsonResponse({ tanks: [...states.keys()].map((one) => toTank(one, currentState(one))) });
    if (faultOf(id) === 'down') return 'reset';
    if (part === undefined && method === 'GET') return jsonResponse(toTank(id, currentState(id)));
    if (part === 'level' && method === 'GET') return sensor(id);
    if (part === 'level' && method === 'PUT') return jsonResponse(disturb(id, disturbance.parse(body).level));
    return (part === 'inlet' || part === 'outlet') && method === 'PUT' ? valve(id, part, body) : undefined;
  }

  const server = await serveSimulator(route, listen);
  return {
    url: server.url,
    tanks: () => [...states.keys()].map((id) => toTank(id, currentState(id))),
    tank: (id) => toTank(id, currentState(id)),
    valveCommands: (id) => [...currentState(id).commands],
    disturb,
    setFaults: (next) => {
      activeFaults = next;
    },
    onLevelChanged: (listener) => void listeners.push(listener),
    close: () => server.close(),
  };
}

function toTank(id: string, { level, inlet, outlet, commands, readings }: State): PlantTank {
  return {
    id,
    level: round(level),
    inlet: { open: inlet },
    outlet: { open: outlet },
    commands: commands.length,
    readings,
  };
}

/** Rounds a level to the sensor's three decimal places. */
function round(level: number): number {
  return Math.round(level * 1000) / 1000;
}
