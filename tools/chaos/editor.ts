// Simulated users: they create, change and delete portions at random, and count the changes that the API server
// accepted.
import { setTimeout as wait } from 'node:timers/promises';
import type { PlainApi, PlainResponse } from './plain-api.ts';
import { portionsPath } from './portions.ts';
import type { SeededRandom } from './random.ts';

/** Simulated users. */
export type Editor = {
  /** Makes this number of changes; resolves when the API server has accepted all of them. */
  edit(count: number): Promise<void>;
  /** Creates or changes the portion so that it has this item, and counts one change. */
  put(name: string, item: string): Promise<void>;
  /** Returns the number of accepted changes since the last call. */
  takeChangeCount(): number;
};

/** Options of the users. */
export type EditorOptions = {
  readonly objects: number;
  /** Each user makes one change after the other; default 1. */
  readonly users?: number;
  /** The longest pause of a user between two changes. Without a pause most changes are merged into one reconcile. */
  readonly pauseMilliseconds: number;
};

/** Creates users. */
export function createEditor(
  { api, random }: { readonly api: PlainApi; readonly random: SeededRandom },
  { objects, users = 1, pauseMilliseconds }: EditorOptions,
): Editor {
  let accepted = 0;
  /** The names that `put` has created; the objects may have been deleted since. */
  const put = new Set<string>();
  const merge = { 'content-type': 'application/merge-patch+json' };

  /** Retries until the server responds: an unavailable server is the fault under test. */
  async function call(method: string, path: string, body?: object): Promise<PlainResponse> {
    for (;;) {
      try {
        const response = await api.call(method, path, body, method === 'PATCH' ? merge : {});
        if (response.status < 500 && response.status !== 429) return response;
      } catch {
        // No response. The next response shows whether the change was made; a repeated change has no further effect.
      }
      await wait(100);
    }
  }
  const create = async (name: string, item: string) =>
    await call('POST', portionsPath, {
      apiVersion: 'kitchen.example.com/v1',
      kind: 'Ingredient',
      metadata: { name },
      spec: { item, amount: 1 + random.below(900) / 100, unit: 'g' },
    });

  async function change(name: string): Promise<boolean> {
    const path = `${portionsPath}/${name}`;
    if (random.number() < 0.1) return (await call('DELETE', path)).status < 300;
    const patched = await call('PATCH', path, { spec: { amount: 1 + random.below(900) / 100 } });
    return patched.status === 404 ? (await create(name, 'rice')).status < 300 : patched.status < 300;
  }
  return {
    async edit(count) {
      let remaining = count;
      const runUser = async () => {
        while (remaining > 0) {
          remaining -= 1;
          if (await change(`portion-${random.below(objects)}`)) accepted += 1;
          else remaining += 1;
          await wait(random.below(pauseMilliseconds));
        }
      };
      await Promise.all(Array.from({ length: Math.min(users, count) }, runUser));
    },
    async put(name, item) {
      const patch = async () =>
        await call('PATCH', `${portionsPath}/${name}`, { spec: { item, amount: 1 + random.below(900) / 100 } });
      // One request for each change: in rows that measure latencies, the users share the machine with the system.
      const exists = put.has(name) && (await patch()).status !== 404;
      if (!exists && (await create(name, item)).status === 409) await patch();
      put.add(name);
      accepted += 1;
    },
    takeChangeCount: () => {
      const count = accepted;
      accepted = 0;
      return count;
    },
  };
}
