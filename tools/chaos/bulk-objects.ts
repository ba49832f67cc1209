// Many portions that want nothing special: they stand beside a bad one, or are what a resync comes back to.
import type { Editor } from './editor.ts';
import { createPlainApi } from './plain-api.ts';
import { portionsPath } from './portions.ts';
import type { ChaosSystem } from './system.ts';

/** Portions that are there. */
export type Crowd = {
  readonly names: readonly string[];
  /** Asks for the deletion of all of them. */
  remove(): Promise<void>;
};

/** How many share an item: the pantry has 1000 g of each, and nobody takes 10. */
const sharing = 90;
/** How many calls go on at once. */
const lanes = 10;

/** Creates so many; each counts as a change. */
export async function createCrowd(
  { system, editor }: { readonly system: Pick<ChaosSystem, 'direct'>; readonly editor: Editor },
  count: number,
): Promise<Crowd> {
  const names = Array.from({ length: count }, (_, index) => `good-${index}`);
  const numbered = names.map((name, index) => ({ name, item: `flour-${Math.floor(index / sharing)}` }));
  await each(numbered, async ({ name, item }) => await editor.put(name, item));
  return {
    names,
    remove: async () => {
      const api = createPlainApi(system.direct.api);
      await each(names, async (name) => await api.call('DELETE', `${portionsPath}/${name}`));
      api.close();
    },
  };
}

async function each<T>(all: readonly T[], act: (one: T) => Promise<unknown>): Promise<void> {
  // One iterator for all lanes: each takes the next one that nobody has taken.
  const next = all.values();
  const lane = async () => {
    for (const one of next) await act(one);
  };
  await Promise.all(Array.from({ length: lanes }, lane));
}
