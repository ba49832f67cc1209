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

/** How many calls go on at once. */
const lanes = 10;

/** Creates so many; each counts as a change. */
export async function createCrowd(
  { system, editor }: { readonly system: Pick<ChaosSystem, 'direct'>; readonly editor: Editor },
  count: number,
): Promise<Crowd> {
  const names = Array.from({ length: count }, (_, index) => `good-${index}`);
  await each(names, async (name) => await editor.put(name, 'flour'));
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
