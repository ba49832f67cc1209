// Follows saved sources while the system runs: brings the generated files up to date, applies the CRDs, and builds.
// Functions load the new bundle with the next batch; watchers drain and restart.
import { readdirSync, watch } from 'node:fs';
import path from 'node:path';
import { toError } from '../core/errors.ts';
import type { OutputLine } from './lines.ts';
import type { Dev } from './system.ts';

/** Editors write a file in several steps. */
const debounceMilliseconds = 300;

/** What a reload needs of the command. */
export type ReloadDeps = {
  /** Brings the generated files up to date, and returns the changed ones. */
  readonly generate: () => Promise<readonly string[]>;
  readonly onLine: (line: OutputLine) => void;
  /** Called after each save, as soon as the new source is loaded or refused. */
  readonly onReloaded: () => void;
};

/** Watches the sources below the root until stopped. A failed build prints a line; the old bundles stay in use. */
export function reloadOnSave(
  dev: Pick<Dev, 'reload'>,
  root: string,
  { generate, onLine, onReloaded }: ReloadDeps,
): { stop(): void } {
  let timer: NodeJS.Timeout | undefined;
  let reloading: Promise<void> = Promise.resolve();
  let isStopped = false;
  const generated = new Set<string>();
  const saved = (file: string) => {
    if (generated.delete(file)) return;
    clearTimeout(timer);
    timer = setTimeout(() => {
      reloading = reloading.then(() => reload(file));
    }, debounceMilliseconds);
  };
  async function reload(file: string): Promise<void> {
    try {
      const changed = await generate().catch(async (error: unknown) => {
        // The bundler names line and column of what cannot be loaded.
        await dev.reload();
        throw error;
      });
      for (const one of changed) generated.add(one);
      await dev.reload();
      onLine({
        source: 'system',
        text: `${file} was saved: built, and loaded by functions and watchers${changedText(changed)}`,
      });
    } catch (error) {
      if (isStopped) return;
      onLine({ source: 'system', text: `${file} was saved, but cannot be built: ${toError(error).message}` });
    }
    if (!isStopped) onReloaded();
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
      isStopped = true;
      clearTimeout(timer);
      for (const one of watching) one.close();
    },
  };
}

/** Names the generated files that changed. Queues and functions are those of the start. */
function changedText(changed: readonly string[]): string {
  if (changed.length === 0) return '';
  const needsRestart = changed.some((file) => file.startsWith('functions/') || file.startsWith('infra/aws/'));
  const then = needsRestart ? '; restart outrigger dev for its new functions, queues and settings' : '';
  return `; generated: ${changed.join(', ')}${then}`;
}
