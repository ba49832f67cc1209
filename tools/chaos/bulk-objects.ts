// Many ordinary portions: next to a faulty one, or as the keys of a resync.
import type { Editor } from './editor.ts';
import { createPlainApi } from './plain-api.ts';
import { portionsPath } from './portions.ts';
import type { ChaosSystem } from './system.ts';

/** Objects that exist. */
export type BulkObjects = {
  readonly names: readonly string[];
  /** Deletes all of them. */
  remove(): Promise<void>;
};

/** The number of portions that share an item: the pantry has 1000 g of each, and no portion takes more than 10. */
const objectsPerItem = 90;
/** The number of concurrent requests. */
const concurrency = 10;

/** Creates this number of objects; each counts as a change. */
export async function createBulkObjects(
  { system, editor }: { readonly system: Pick<ChaosSystem, 'direct'>; readonly editor: Editor },
  count: number,
): Promise<BulkObjects> {
  const names = Array.from({ length: count }, (_, index) => `good-${index}`);
  const numbered = names.map((name, index) => ({ name, item: `flour-${Math.floor(index / objectsPerItem)}` }));
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

async function each<T>(all: readonly T[], run: (one: T) => Promise<unknown>): Promise<void> {
  // All workers share one iterator, so each takes the next item that has not been started.
  const next = all.values();
  const worker = async () => {
    for (const one of next) await run(one);
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
}
