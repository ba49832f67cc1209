// The water tanks' outside world: a plant whose water moves with real time while a valve is open, and no Kubernetes event
// ever says so. The wire contract, all bodies JSON, `<id>` URL-encoded and chosen by the caller (one per object, with its uid):
//
//   GET  /tanks/<id>/level    → 200 {"level": 12.5}                      the sensor; what the faults below break
//   PUT  /tanks/<id>/inlet    {"open": true|false} → 200 Tank            absolute: said twice is said once
//   PUT  /tanks/<id>/outlet   {"open": true|false} → 200 Tank
//   GET  /tanks/<id>          → 200 Tank = {"id", "level", "inlet": {"open"}, "outlet": {"open"}, "commands", "readings"}
//   GET  /tanks               → 200 {"tanks": [Tank]}
//   PUT  /tanks/<id>/level    {"level": 5} → 200 Tank                    a disturbance: somebody takes or brings water
//   GET  /faults, PUT /faults {"*" or "<id>": Fault} → 200               replaces all faults; {} heals the plant
//
// A tank nobody has asked for before is empty (or at `initialLevel`) with both valves closed. Commands and readings are counted.
// Faults: `down` (connection cut, valves too), `sensor-error` (500), `sensor-text` (200 "wet"), `sensor-out-of-range` (level -1e6),
// `sensor-hang` (no answer), `valve-error` (500 on valves). Refusals are {"error": "why"} with status 400 or 404.
import * as z from 'zod';
import { json, type Listen, refuse, serveWorld, type WorldAnswer, type WorldRequest } from './simulator-server.ts';

const valveCommand = z.strictObject({ open: z.boolean() });
const disturbance = z.strictObject({ level: z.number().min(0) });
const fault = z.enum(['down', 'sensor-error', 'sensor-text', 'sensor-out-of-range', 'sensor-hang', 'valve-error']);
const faults = z.record(z.string(), fault);

/** What is wrong with which tank; `*` is all of them. */
export type PlantFaults = Readonly<z.infer<typeof faults>>;

/** A tank as it is at this moment. */
export type PlantTank = {
  readonly id: string;
  readonly level: number;
  readonly inlet: { readonly open: boolean };
  readonly outlet: { readonly open: boolean };
  /** Valve commands so far, those that changed nothing included. */
  readonly commands: number;
  readonly readings: number;
};

/** A plant that runs. */
export type Plant = {
  readonly url: string;
  tanks(): readonly PlantTank[];
  tank(id: string): PlantTank;
  /** The valve commands of a tank in their order, as `inlet open`. */
  heard(id: string): readonly string[];
  /** Somebody takes or brings water. */
  disturb(id: string, level: number): void;
  setFaults(faults: PlantFaults): void;
  close(): Promise<void>;
};

/** What can be chosen about a plant. */
export type PlantOptions = Listen & {
  /** How fast the level moves through one open valve. */
  readonly levelPerSecond?: number;
  /** The level of a tank at its first access. */
  readonly initialLevel?: (id: string) => number;
  /** Milliseconds of a clock that never goes back. */
  readonly nowMilliseconds?: () => number;
};

type State = { level: number; at: number; inlet: boolean; outlet: boolean; commands: string[]; readings: number };

/** Starts a plant. Throws the listen error, for example EADDRINUSE. */
export async function startPlant({
  levelPerSecond = 2,
  initialLevel = () => 0,
  nowMilliseconds = () => performance.now(),
  ...listen
}: PlantOptions = {}): Promise<Plant> {
  const states = new Map<string, State>();
  let broken: PlantFaults = {};

  // Water moves in the mind only: the level is worked out when somebody looks.
  const look = (id: string): State => {
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
    state.level = Math.max(0, state.level + (flow * levelPerSecond * (now - state.at)) / 1000);
    state.at = now;
    states.set(id, state);
    return state;
  };
  const faultOf = (id: string) => broken[id] ?? broken['*'];

  function valve(id: string, which: 'inlet' | 'outlet', body: unknown): WorldAnswer {
    const { open } = valveCommand.parse(body);
    if (faultOf(id) === 'valve-error') return refuse(500, `the ${which} valve does not move`);
    const state = look(id);
    state.commands.push(`${which} ${open ? 'open' : 'closed'}`);
    state[which] = open;
    return json(show(id, state));
  }

  function sensor(id: string): WorldAnswer {
    const state = look(id);
    state.readings += 1;
    const wrong = faultOf(id);
    if (wrong === 'sensor-error') return refuse(500, 'the level sensor is broken');
    if (wrong === 'sensor-text') return { status: 200, text: 'wet' };
    if (wrong === 'sensor-out-of-range') return json({ level: -1e6 });
    return wrong === 'sensor-hang' ? 'hang' : json({ level: round(state.level) });
  }

  function disturb(id: string, level: number): PlantTank {
    const state = look(id);
    state.level = level;
    return show(id, state);
  }

  function answer({ method, path: [root, id, part], body }: WorldRequest): WorldAnswer | undefined {
    if (root === 'faults') {
      if (method === 'PUT') broken = faults.parse(body);
      return json(broken);
    }
    if (root !== 'tanks') return undefined;
    if (id === undefined) return json({ tanks: [...states.keys()].map((one) => show(one, look(one))) });
    if (faultOf(id) === 'down') return 'reset';
    if (part === undefined && method === 'GET') return json(show(id, look(id)));
    if (part === 'level' && method === 'GET') return sensor(id);
    if (part === 'level' && method === 'PUT') return json(disturb(id, disturbance.parse(body).level));
    return (part === 'inlet' || part === 'outlet') && method === 'PUT' ? valve(id, part, body) : undefined;
  }

  const server = await serveWorld(answer, listen);
  return {
    url: server.url,
    tanks: () => [...states.keys()].map((id) => show(id, look(id))),
    tank: (id) => show(id, look(id)),
    heard: (id) => [...look(id).commands],
    disturb: (id, level) => {
      disturb(id, level);
    },
    setFaults: (next) => {
      broken = next;
    },
    close: () => server.close(),
  };
}

function show(id: string, { level, inlet, outlet, commands, readings }: State): PlantTank {
  return {
    id,
    level: round(level),
    inlet: { open: inlet },
    outlet: { open: outlet },
    commands: commands.length,
    readings,
  };
}

/** A sensor has no more than three digits to tell. */
function round(level: number): number {
  return Math.round(level * 1000) / 1000;
}
