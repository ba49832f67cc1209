// Runs the tests that docs/security-model.md cites: those that need Node alone, in minutes; `-- --all` runs the others,
// too (a control plane, chromium, Java), in the tier of each. The list of docs/security-controls.md has their names.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { matchesGlob } from 'node:path';
import { packagedTier } from '../test/packaged-tier.ts';
import { processTier } from '../test/process-tier.ts';

/** A test that a page names. */
export type NamedTest = { readonly id: string; readonly file: string; readonly name: string };

/** Reads the rows of the list of tests. */
export function listedTests(page: string): readonly NamedTest[] {
  const rows = page.matchAll(/^\| (T\d+) \| `(\S+)` \| (.+) \|$/gm);
  return [...rows].map(([, id = '', file = '', name = '']) => ({ id, file, name }));
}

/** Reads the ids that the cells of the model cite. */
export function citedIds(model: string): readonly string[] {
  const cells = [...model.matchAll(/^\| [STRIDE] \|.*\| ([T\d, ]+) \|$/gm)];
  return [...new Set(cells.flatMap(([, ids = '']) => ids.split(', ')))];
}

const matches = (file: string, globs: readonly string[]) => globs.some((glob) => matchesGlob(file, glob));

/** Returns the configuration of vitest that runs a file. */
export function tierOf(file: string): 'cluster' | 'deploy' | 'console' | 'process' | 'memory' {
  if (file.startsWith('test/cluster/')) return 'cluster';
  if (file.startsWith('test/deploy/') || matches(file, packagedTier)) return 'deploy';
  if (file.startsWith('test/console/browser/')) return 'console';
  return matches(file, processTier) ? 'process' : 'memory';
}

/** Returns a pattern for the names of a test: the values of a table are in the place of `%s` or `$name`. */
function patternOf(name: string): string {
  const parts = name.split(/%[sijdf]|\$[\w.]+/);
  return parts.map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('.*');
}

function run(tests: readonly NamedTest[], tier: ReturnType<typeof tierOf>): boolean {
  const files = [...new Set(tests.map(({ file }) => file))];
  if (files.length === 0) return true;
  const config = tier === 'memory' ? 'test/vitest.config.ts' : `test/vitest.${tier}.config.ts`;
  const pattern = tests.map(({ name }) => patternOf(name)).join('|');
  const args = ['vitest', 'run', '--config', config, '--testNamePattern', pattern, ...files];
  return spawnSync('npx', args, { stdio: 'inherit' }).status === 0;
}

if (import.meta.main) {
  const tests = listedTests(readFileSync('docs/security-controls.md', 'utf8'));
  const cited = citedIds(readFileSync('docs/security-model.md', 'utf8'));
  const wanted = tests.filter(({ id, file }) => cited.includes(id) && existsSync(file));
  const local = ['memory', 'process'] as const;
  const tiers = process.argv.includes('--all') ? ([...local, 'cluster', 'console', 'deploy'] as const) : local;
  const failed = tiers.filter(
    (tier) =>
      !run(
        wanted.filter(({ file }) => tierOf(file) === tier),
        tier,
      ),
  );
  const left = wanted.filter(({ file }) => !tiers.some((tier) => tier === tierOf(file)));
  const ids = left.map(({ id }) => id).join(' ');
  process.stdout.write(`${wanted.length - left.length} of the ${wanted.length} tests that the model cites were run\n`);
  if (ids !== '') process.stdout.write(`not run without --all: ${ids}\n`);
  process.exitCode = failed.length > 0 ? 1 : 0;
}
