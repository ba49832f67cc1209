// A saved controller is built and taken up while the system runs: functions start anew with the next batch, watchers drain
// and come back. What the schemas derive (CRDs, RBAC) is not made here; that is `npm run generate`.
import { readdirSync, watch } from 'node:fs';
import path from 'node:path';
import { toError } from '../core/errors.ts';
import type { Dev } from './system.ts';
import type { Line } from '../local/lines.ts';

/** Editors write a file in several steps. */
const settleMilliseconds = 300;

/** Watches the sources below the root until stopped. A build that fails is a line; the old bundles go on. */
export function reloadOnSave(dev: Pick<Dev, 'reload'>, root: string, onLine: (line: Line) => void): { stop(): void } {
  let timer: NodeJS.Timeout | undefined;
  let building: Promise<void> = Promise.resolve();
  const saved = (file: string) => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      building = building.then(() => reload(file));
    }, settleMilliseconds);
  };
  async function reload(file: string): Promise<void> {
    try {
      await dev.reload();
      onLine({ who: 'system', text: `${file} was saved: built, and taken up by functions and watchers` });
    } catch (error) {
      onLine({ who: 'system', text: `${file} was saved, but cannot be built: ${toError(error).message}` });
    }
  }
  // Each folder by itself: what Linux tells of a folder includes files that an editor replaces, which a recursive watch loses.
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
