// Only that the workflows are those of this repository: they parse, run the steps of .ci/run, pin every action, and have the budgets
// of CONTRIBUTING.md. GitHub's own validation is not repeated.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import * as z from 'zod';

const folder = '.github/workflows';
const files = readdirSync(folder);
const text = (file: string) => readFileSync(`${folder}/${file}`, 'utf8');
const step = z.object({
  id: z.string().optional(),
  uses: z.string().optional(),
  run: z.string().optional(),
  with: z.record(z.string(), z.unknown()).optional(),
});
const job = z.object({
  uses: z.string().optional(),
  needs: z.string().optional(),
  'timeout-minutes': z.number().optional(),
  permissions: z.record(z.string(), z.string()).optional(),
  steps: z.array(step).default([]),
});
const schema = z.object({ on: z.record(z.string(), z.unknown()), jobs: z.record(z.string(), job) });
const workflows = new Map(files.map((file) => [file, schema.parse(parse(text(file)))]));
const ci = workflows.get('ci.yml');
const release = workflows.get('release.yml');

/** The npm scripts that a text runs. `npm test` is the script test. */
const scriptsIn = (source: string) =>
  new Set(
    [...source.matchAll(/(?:npm|tier \S+) (?:run )?(test\S*|check|docs|chaos|soak|bench)\b/g)].map(([, name]) => name),
  );

it('every action is pinned to a commit, with its version in a comment, or is a workflow of this repository', () => {
  const used = files.flatMap((file) =>
    [...text(file).matchAll(/^\s*(?:- )?uses: (.*)$/gm)].map(([, uses = '']) => uses),
  );
  expect(used.length).toBeGreaterThan(10);
  const pinned = /^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/;
  expect(used.filter((uses) => !(uses.startsWith('./') ? existsSync(uses) : pinned.test(uses)))).toEqual([]);
});

it('ci.yml runs each npm script that .ci/run runs, and no other', () => {
  expect(scriptsIn(text('ci.yml'))).toEqual(scriptsIn(readFileSync('.ci/run', 'utf8')));
});

it('every job with steps has a time limit', () => {
  const jobs = [...workflows.values()].flatMap((workflow) => Object.entries(workflow.jobs));
  expect(jobs.filter(([, one]) => one.steps.length > 0 && one['timeout-minutes'] === undefined)).toEqual([]);
});

it('the budgets of CONTRIBUTING.md are the time limits of ci.yml, in the same order', () => {
  const budgets = [...readFileSync('CONTRIBUTING.md', 'utf8').matchAll(/ (\d+) minutes \|$/gm)];
  const limits = Object.values(ci?.jobs ?? {}).map((one) => one['timeout-minutes']);
  expect(budgets.map(([, minutes]) => Number(minutes))).toEqual(limits);
});

// Control T152.
it('a release starts with a tag alone, after CI, and runs no install script of a dependency', () => {
  expect(release?.on).toEqual({ push: { tags: ['v*.*.*'] } });
  const published = Object.entries(release?.jobs ?? {}).filter(([, one]) => one.steps.length > 0);
  expect(published.map(([name, one]) => [name, one.needs])).toEqual([
    ['pack', 'ci'],
    ['publish', 'pack'],
    ['watcher-image', 'ci'],
  ]);
  const installs = published.flatMap(([, { steps }]) => steps.filter(({ run = '' }) => run.startsWith('npm ci')));
  expect(installs.map(({ run }) => run)).toEqual(['npm ci --ignore-scripts', 'npm ci --ignore-scripts']);
});

// Control T155.
it('H9: the job that can publish gets packed tarballs, runs no code of the repository, and has no token', () => {
  const { steps = [], permissions } = release?.jobs.publish ?? {};
  expect(permissions).toEqual({ 'id-token': 'write' });
  expect(release?.jobs.pack?.permissions).toBeUndefined();
  const [publish, ...others] = steps.flatMap(({ run = [] }) => run);
  expect(publish).toContain('npm publish "./$package" --ignore-scripts');
  expect(others).toEqual([]);
  expect(steps.some(({ uses = '' }) => uses.startsWith('actions/checkout'))).toBe(false);
  expect(text('release.yml')).not.toContain('NPM_TOKEN');
});

it('the image of a release has each argument that its Dockerfile has no default for, and its base by digest', () => {
  const steps = release?.jobs['watcher-image']?.steps ?? [];
  const build = steps.find(({ uses = '' }) => uses.startsWith('docker/build-push-action'))?.with ?? {};
  // Each build copies the Dockerfile there.
  expect(build.context).toBe('dist/watcher');
  const needed = [...readFileSync('infra/kubernetes/Dockerfile', 'utf8').matchAll(/^ARG (\w+)$/gm)].map(
    ([, name]) => name,
  );
  expect(needed).toEqual(['BASE']);
  expect(build['build-args']).toMatch(/^BASE=\S+@\$\{\{ steps\.base\.outputs\.digest \}\}$/);
  expect(steps.find(({ id }) => id === 'base')?.run).toContain('.Manifest.Digest');
});

it('dependabot and the issue forms parse', () => {
  const forms = readdirSync('.github/ISSUE_TEMPLATE').map((file) => `.github/ISSUE_TEMPLATE/${file}`);
  for (const file of ['.github/dependabot.yml', ...forms])
    expect(parse(readFileSync(file, 'utf8')), file).toBeTypeOf('object');
});
