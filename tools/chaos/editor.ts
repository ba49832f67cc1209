// Users: they create, change and delete portions at random and remember nothing but how many changes the API server took.
import { setTimeout as wait } from 'node:timers/promises';
import type { Dice } from './random.ts';
import type { PlainAnswer, PlainApi } from './plain-api.ts';
import { portionsPath } from './portions.ts';

/** Users at work. */
export type Editor = {
  /** Makes so many changes; resolves when the API server has taken all of them. */
  edit(count: number): Promise<void>;
  /** Makes sure that this portion exists with that item, and counts it as a change. */
  put(name: string, item: string): Promise<void>;
  /** Changes that were taken since the last call. */
  taken(): number;
};

/** What users do all day. */
export type EditorOptions = {
  readonly objects: number;
  /** Each makes one change after the other; default 1. */
  readonly users?: number;
  /** The longest pause of one between two changes: without any, most of them become one reconcile. */
  readonly pauseMilliseconds: number;
};

/** Creates users. */
export function createEditor(
  { api, dice }: { readonly api: PlainApi; readonly dice: Dice },
  { objects, users = 1, pauseMilliseconds }: EditorOptions,
): Editor {
  let taken = 0;
  /** What `put` has made; somebody may have deleted it since. */
  const put = new Set<string>();
  const merge = { 'content-type': 'application/merge-patch+json' };

  /** Asks until somebody answers: a server that is away is what we are here for. */
  async function call(method: string, path: string, body?: object): Promise<PlainAnswer> {
    for (;;) {
      try {
        const answer = await api.call(method, path, body, method === 'PATCH' ? merge : {});
        if (answer.status < 500 && answer.status !== 429) return answer;
      } catch {
        // Nobody there; whether it was done shows in the next answer, and a change done twice is one.
      }
      await wait(100);
    }
  }
  const create = async (name: string, item: string) =>
    await call('POST', portionsPath, {
      apiVersion: 'kitchen.example.com/v1',
      kind: 'Ingredient',
      metadata: { name },
      spec: { item, amount: 1 + dice.below(900) / 100, unit: 'g' },
    });

  async function change(name: string): Promise<boolean> {
    const path = `${portionsPath}/${name}`;
    if (dice.number() < 0.1) return (await call('DELETE', path)).status < 300;
    const patched = await call('PATCH', path, { spec: { amount: 1 + dice.below(900) / 100 } });
    return patched.status === 404 ? (await create(name, 'rice')).status < 300 : patched.status < 300;
  }
  return {
    async edit(count) {
      let left = count;
      const work = async () => {
        while (left > 0) {
          left -= 1;
          if (await change(`portion-${dice.below(objects)}`)) taken += 1;
          else left += 1;
          await wait(dice.below(pauseMilliseconds));
        }
      };
      await Promise.all(Array.from({ length: Math.min(users, count) }, work));
    },
    async put(name, item) {
      const patch = async () =>
        await call('PATCH', `${portionsPath}/${name}`, { spec: { item, amount: 1 + dice.below(900) / 100 } });
      // One request for one change: where lags are measured, the users share the machine with what they wait for.
      const isThere = put.has(name) && (await patch()).status !== 404;
      if (!isThere && (await create(name, item)).status === 409) await patch();
      put.add(name);
      taken += 1;
    },
    taken: () => {
      const count = taken;
      taken = 0;
      return count;
    },
  };
}
