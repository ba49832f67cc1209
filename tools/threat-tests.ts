// Runs the tests that docs/security-model.md cites: those that need Node alone, in minutes; `-- --all` runs the others,
// too (a control plane, chromium, Java), in the tier of each. A test names its control in the line before its name,
// `// Control T1.`: `-- --write` writes the list of them, docs/records/security-tests.md.
import { spawnSync } from 'node:child_process';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { matchesGlob } from 'node:path';
import { packagedTier } from '../test/packaged-tier.ts';
import { processTier } from '../test/process-tier.ts';

/** A test that holds a control. */
export type ControlTest = { readonly id: string; readonly file: string; readonly name: string };

export const listFile = 'docs/records/security-tests.md';

/** Finds the tests of controls, by file. Throws for a line that names a control before a line without a name. */
export function controlTests(): readonly ControlTest[] {
  const files = globSync('test/**/*.test.ts').toSorted();
  return files.flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(/^ *\/\/ Control (T\d+)\.\n(.*)$/gm)].map(([, id = '', line = '']) => {
      // Of a line such as `] as const)('a name', async` the name is the last text that is a first argument.
      const name = [...line.matchAll(/(?:^\s*|\()(['"`])((?:(?!\1).)*)\1(?:,|$)/g)].at(-1)?.[2];
      if (name === undefined) throw new Error(`${file}: no name of a test follows control ${id}`);
      return { id, file, name };
    }),
  );
}

/** Formats the list, by id. */
export function formatList(tests: readonly ControlTest[]): string {
  const numberOf = ({ id }: ControlTest) => Number(id.slice(1));
  const sorted = tests.toSorted((one, other) => numberOf(one) - numberOf(other));
  const rows = sorted.map(({ id, file, name }) => `| ${id} | \`${file}\` | ${name} |\n`);
  return `# Tests of controls

The tests that [the security model](../security-model.md) and [what each part may do](../security-controls.md) cite.
\`tools/threat-tests.ts --write\` writes this page from the sources of the tests.

| | file | test |
| --- | --- | --- |
${rows.join('')}`;
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

function run(tests: readonly ControlTest[], tier: ReturnType<typeof tierOf>): boolean {
  const files = [...new Set(tests.map(({ file }) => file))];
  if (files.length === 0) return true;
  const config = tier === 'memory' ? 'test/vitest.config.ts' : `test/vitest.${tier}.config.ts`;
  const pattern = tests.map(({ name }) => patternOf(name)).join('|');
  const args = ['vitest', 'run', '--config', config, '--testNamePattern', pattern, ...files];
  return spawnSync('npx', args, { stdio: 'inherit' }).status === 0;
}

function runCited(): void {
  const cited = citedIds(readFileSync('docs/security-model.md', 'utf8'));
  const wanted = controlTests().filter(({ id }) => cited.includes(id));
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

if (import.meta.main) {
  if (process.argv.includes('--write')) writeFileSync(listFile, formatList(controlTests()));
  else runCited();
}
