// The plant over HTTP: a level sensor and two valves for each tank. Every call ends at a deadline of its own, well
// before the function's, so that a sensor that hangs leaves time to close the valves.
import * as z from 'zod';
import { fetchJson } from './fetch-json.ts';

/** How the valves of a tank stand, or should. */
export type Valves = { readonly inlet: 'open' | 'closed'; readonly outlet: 'open' | 'closed' };

/** What a reconciler needs of the plant. Tanks are named by an id of the caller's choice. */
export type PlantClient = {
  /** Reads the sensor. Throws whatever kept it from giving a number. */
  level(tank: string, signal: AbortSignal): Promise<number>;
  /**
   * Makes the valves stand so: commands are absolute, and only given to a valve that stands otherwise. Throws when they
   * do not.
   */
  setValves(tank: string, valves: Valves, signal: AbortSignal): Promise<void>;
};

const deadlineMs = 2_000;
const reading = z.object({ level: z.number() });
const valve = z.object({ open: z.boolean() });
const tankState = z.object({ inlet: valve, outlet: valve });

/** Creates a client of the plant at a URL. */
export function createPlantClient(url: string): PlantClient {
  const call = (method: 'GET' | 'PUT', path: string, signal: AbortSignal, body?: object) =>
    fetchJson(url, { method, path, signal, deadlineMs, ...(body === undefined ? {} : { body }) });
  const at = (tank: string) => `tanks/${encodeURIComponent(tank)}`;

  return {
    level: async (tank, signal) => reading.parse(await call('GET', `${at(tank)}/level`, signal)).level,
    setValves: async (tank, wanted, signal) => {
      let now = tankState.parse(await call('GET', at(tank), signal));
      // Whatever closes goes first: water never runs in and out at once.
      for (const part of wanted.inlet === 'closed' ? inletFirst : outletFirst) {
        const open = wanted[part] === 'open';
        if (now[part].open === open) continue;
        now = tankState.parse(await call('PUT', `${at(tank)}/${part}`, signal, { open }));
        if (now[part].open !== open) throw new Error(`the ${part} valve of ${tank} is not ${wanted[part]}`);
      }
    },
  };
}

const inletFirst = ['inlet', 'outlet'] as const;
const outletFirst = ['outlet', 'inlet'] as const;
