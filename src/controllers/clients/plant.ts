// The plant over HTTP: a level sensor and two valves for each tank. Every call has its own deadline, long before that
// of the function, so that time is left to close the valves after a call to the sensor that hangs.
import * as z from 'zod';
import { fetchJson } from './fetch-json.ts';

/** The positions of a tank's valves. */
export type Valves = { readonly inlet: 'open' | 'closed'; readonly outlet: 'open' | 'closed' };

/** The client of the plant. The caller chooses the id of a tank. */
export type PlantClient = {
  /** Reads the sensor. Throws if it returns no number. */
  level(tank: string, signal: AbortSignal): Promise<number>;
  /**
   * Sets the valves. Commands are absolute, and are sent only to a valve in the other position. Throws if a valve does
   * not confirm its position.
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
    fetchJson(url, { method, path, signal, deadlineMs, body });
  const at = (tank: string) => `tanks/${encodeURIComponent(tank)}`;

  return {
    level: async (tank, signal) => reading.parse(await call('GET', `${at(tank)}/level`, signal)).level,
    setValves: async (tank, wanted, signal) => {
      let now = tankState.parse(await call('GET', at(tank), signal));
      // A valve that closes is set first, so water never runs in and out at the same time.
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
