// `npm run mutate:stryker -- FOLDER [FILE...] [--one-in N]`: mutates a folder of src with Stryker and prints the score and
// the surviving mutants. Each mutant runs the tests of that folder alone, so the score says what these tests hold, not the
// whole suite. Slow (seconds a mutant): nightly, one folder at a time, or a sample with --one-in. The hand-written mutants
// are `npm run mutate`.
//
// Stryker's command runner starts vitest for each mutant. Its vitest runner does not activate most mutants with vitest 5.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';

/** Fetched by npm on the first run; `npm ci` does not need it. */
const stryker = '@stryker-mutator/core@9.6.1';

/** Folder below src → the tests that are meant to hold it. Vitest compares prefixes, so a folder ends with a slash. */
const suites: Readonly<Record<string, readonly string[]>> = {
  api: ['test/api/'],
  core: [
    ...['test/core/', 'test/settings.test.ts', 'test/compatibility/', 'test/api/custom-kind.test.ts'],
    ...['test/generate/namespaces.test.ts', 'test/generate/project-name.test.ts', 'test/generate/selectors.test.ts'],
    'test/resync/selection.test.ts',
  ],
  forwarding: ['test/forwarding/', 'test/watcher/restart.test.ts'],
  reconciling: ['test/reconciling/'],
  sqs: ['test/sqs/', 'test/lambda/sender-check.test.ts', 'test/reconciling/sender-check.test.ts', 'test/operations/'],
};

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { 'one-in': { type: 'string', default: '1' } },
});
const oneIn = Number(values['one-in']);
const [folder = '', ...files] = positionals;
const tests = suites[folder];
if (tests === undefined || !Number.isInteger(oneIn) || oneIn < 1) {
  process.stderr.write(`usage: npm run mutate:stryker -- ${Object.keys(suites).join('|')} [FILE...] [--one-in N]\n`);
  process.exit(2);
}

const configuration = {
  mutate: files.length > 0 ? files.map((file) => `src/${folder}/${file}`) : [`src/${folder}/**/*.ts`],
  testRunner: 'command',
  commandRunner: {
    command: `node_modules/.bin/vitest run --config test/vitest.config.ts --maxWorkers=1 --bail=1 ${tests.join(' ')}`,
  },
  coverageAnalysis: 'off',
  plugins: [path.join(import.meta.dirname, 'sample.mjs')],
  checkers: ['sample'],
  // Stryker rewrites a tsconfig with an API that TypeScript 7 does not have. A file that does not exist is left alone.
  tsconfigFile: 'no-tsconfig.json',
  concurrency: 2,
  timeoutMS: 60_000,
  reporters: ['clear-text'],
  clearTextReporter: { allowColor: false, reportTests: false },
  ignorePatterns: ['/dist', '/.stryker-tmp', '/.outrigger'],
  tempDirName: '.stryker-tmp',
  cleanTempDir: 'always',
};

const settings = await mkdtemp(path.join(tmpdir(), 'outrigger-stryker-'));
const file = path.join(settings, 'stryker.json');
await writeFile(file, JSON.stringify(configuration));
const child = spawn('npx', ['--yes', `--package=${stryker}`, 'stryker', 'run', file], {
  stdio: 'inherit',
  env: { ...process.env, OUTRIGGER_MUTANTS_ONE_IN: String(oneIn) },
});
for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => child.kill(name));
const [code] = await once(child, 'close');
await rm(settings, { recursive: true });
process.exitCode = typeof code === 'number' ? code : 1;
