// Puts a mutant into the sources while a suite loads them. The mutant comes in the environment, as JSON, because the suite is
// another process.
import path from 'node:path';
import type { VitestPluginContext } from 'vitest/node';
import * as z from 'zod';
import { type Mutant, mutate } from './mutant.ts';

/** The variable that the mutant comes in; without it the sources are as they are. */
export const mutantVariable = 'OUTRIGGER_MUTANT';

const shape = z.object({
  name: z.string(),
  edits: z.array(z.object({ file: z.string(), find: z.string(), replace: z.string() })),
});

/** Creates the plugin of Vite that loads the sources as the mutant has them. */
export function mutantPlugin(given: string | undefined, root: string) {
  const mutant: Mutant = given === undefined ? { name: 'none', edits: [] } : shape.parse(JSON.parse(given));
  const editsOf = (id: string) => {
    const file = path.relative(root, id.split('?')[0] ?? id);
    return { file, edits: mutant.edits.filter((edit) => edit.file === file) };
  };
  return {
    name: 'outrigger-mutant',
    enforce: 'pre',
    // What Vitest keeps of a module between runs must not be taken for what another mutant makes of it.
    configureVitest: ({ defineCacheKeyGenerator }: VitestPluginContext) =>
      defineCacheKeyGenerator(({ id }) => {
        const { edits } = editsOf(id);
        return edits.length === 0 ? undefined : JSON.stringify(edits);
      }),
    transform: (code: string, id: string) => {
      const { file, edits } = editsOf(id);
      return edits.length === 0 ? null : { code: mutate(code, file, mutant), map: null };
    },
  } as const;
}
