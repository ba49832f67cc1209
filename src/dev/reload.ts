// Builds a saved source while the system runs. Functions load the new bundle with the next batch; watchers drain and
// restart. Generated files (CRDs, RBAC) are not updated here; that is `npm run generate`.
import { readdirSync, watch } from 'node:fs';
import path from 'node:path';
import { toError } from '../core/errors.ts';
import type { OutputLine } from './lines.ts';
import type { Dev } from './system.ts';

/** Editors write a file in several steps. */
const debounceMilliseconds = 300;

/** Watches the sources below the root until stopped. A failed build prints a line; the old bundles stay in use. */
export function reloadOnSave(
  dev: Pick<Dev, 'reload'>,
  root: string,
  onLine: (line: OutputLine) => void,
): { stop(): void } {
  let timer: NodeJS.Timeout | undefined;
  let building: Promise<void> = Promise.resolve();
  const saved = (file: string) => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      building = building.then(() => reload(file));
    }, debounceMilliseconds);
  };
  async function reload(file: string): Promise<void> {
    try {
      await dev.reload();
      onLine({ source: 'system', text: `${file} was saved: built, and loaded by functions and watchers` });
    } catch (error) {
      onLine({ source: 'system', text: `${file} was saved, but cannot be built: ${toError(error).message}` });
    }
  }
  // Each folder is watched separately: on Linux a recursive watch misses files that an editor replaces.
  const watching = ['src', 'functions'].flatMap(foldersBelow).map((folder) =>
    watch(path.join(root, folder), (_, name) => {
      if (name?.endsWith('.ts') === true) saved(path.join(folder, name));
    }),
  );
  function foldersBelow(folder: string): readonly string[] {
    const entries = readdirSync(path.join(root, folder), { withFileTypes: true });
    const below = entries.filter((entry) => entry.isDirectory()).map(({ name }) => path.join(folder, name));
    return [folder, ...below.flatMap(foldersBelow)];
  }
  return {
    stop: () => {
      clearTimeout(timer);
      for (const one of watching) one.close();
    },
  };
}
