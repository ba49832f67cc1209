// Follows saved sources while the system runs: builds, and applies the CRDs of the build. Functions load the new bundle
// with the next batch; watchers drain and restart.
import { existsSync, readdirSync, watch } from 'node:fs';
import path from 'node:path';
import { toError } from 'outrigger/internal/core/errors';
import type { OutputLine } from './lines.ts';
import type { Dev } from './system.ts';

/** Editors write a file in several steps. */
const debounceMilliseconds = 300;

/** What a reload needs of the command. */
export type ReloadDeps = {
  readonly onLine: (line: OutputLine) => void;
  /** Called after each save, as soon as the new source is loaded or refused, which gives the reason. */
  readonly onReloaded: (refused: Error | undefined) => void;
};

/** Watches the sources below the root until stopped. A failed build prints a line; the old bundles stay in use. */
export function reloadOnSave(
  dev: Pick<Dev, 'reload'>,
  root: string,
  { onLine, onReloaded }: ReloadDeps,
): { stop(): void } {
  let timer: NodeJS.Timeout | undefined;
  let reloading: Promise<void> = Promise.resolve();
  let isStopped = false;
  const saved = (file: string) => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      reloading = reloading.then(() => reload(file));
    }, debounceMilliseconds);
  };
  async function reload(file: string): Promise<void> {
    let refused: Error | undefined;
    try {
      await dev.reload();
      onLine({ source: 'system', text: `${file} was saved: built, and loaded by functions and watchers` });
    } catch (error) {
      if (isStopped) return;
      refused = toError(error);
      onLine({ source: 'system', text: `${file} was saved, but cannot be built: ${refused.message}` });
    }
    if (!isStopped) onReloaded(refused);
  }
  // Each folder is watched separately: on Linux a recursive watch misses files that an editor replaces.
  const watching = ['src', 'functions']
    .filter((one) => existsSync(path.join(root, one)))
    .flatMap(foldersBelow)
    .map((folder) =>
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
      isStopped = true;
      clearTimeout(timer);
      for (const one of watching) one.close();
    },
  };
}
