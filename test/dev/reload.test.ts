// Only what a saved source leads to, in which order, with a system that only records. test/journey/first-hour.test.ts
// saves sources of a system that runs.
import { mkdir } from 'node:fs/promises';
import { reloadOnSave } from '@outrigger/cli/dev/reload';
import { beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { useFolder } from '../support/folder.ts';

const root = useFolder();
let steps: string[];
let refusals: (Error | undefined)[];
beforeEach(async () => {
  steps = [];
  refusals = [];
  for (const folder of ['src', 'functions']) await mkdir(root.at(folder));
});

/** Follows the folder, and resolves with the steps after one save of `src/a.ts`. */
async function stepsOfSave(
  reload: () => Promise<void> = async () => void steps.push('reload'),
): Promise<readonly string[]> {
  const reloading = reloadOnSave({ reload }, root.path, {
    onLine: ({ text }) => steps.push(text),
    onReloaded: (refused) => {
      refusals.push(refused);
      steps.push('types');
    },
  });
  onTestFinished(() => reloading.stop());
  await root.write('src/a.ts', '');
  await vi.waitFor(() => expect(steps).toContain('types'), { timeout: 10_000 });
  return steps;
}

it('a saved source is built and loaded, and its types are checked last', async () => {
  expect(await stepsOfSave()).toEqual([
    'reload',
    'src/a.ts was saved: built, and loaded by functions and watchers',
    'types',
  ]);
  expect(refusals).toEqual([undefined]);
});

it('a source that cannot be built is named with the place', async () => {
  const failed = await stepsOfSave(async () => await Promise.reject(new Error('src/a.ts:1:2: ERROR')));
  expect(failed[0]).toBe('src/a.ts was saved, but cannot be built: src/a.ts:1:2: ERROR');
  expect(refusals).toEqual([new Error('src/a.ts:1:2: ERROR')]);
});
