// The commands of the documents, verbatim and in their order, as a reader of README and docs/ runs
// them with only a clone and kubectl. Each command's options are tested elsewhere.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import '../../tools/control-plane/global-setup.ts';
import type { ControlPlane } from '../../tools/control-plane/control-plane.ts';
import { startControlPlane } from '../../tools/control-plane/start.ts';
import { environment as testEnvironment } from '../environment.ts';
import {
  cafeSteps,
  clusterSteps,
  demoCommand,
  demoSteps,
  exportCommand,
  type Step,
  watchStep,
} from '../support/documented-steps.ts';

const root = path.resolve(import.meta.dirname, '../..');
/** A dozen programs, each started by npx, on any machine. */
const timeout = 400_000;
/** Files that a clone does not contain. */
const notInClone = new Set(['.git', '.outrigger', '.serverless', 'dist', 'lib', 'node_modules']);
const filter = (file: string) => path.basename(file) !== 'node_modules';
const folders: string[] = [];
afterAll(async () => await Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true }))));

/** A shell in a folder, with the kubectl of the control plane. */
function shell(folder: string, environment: Readonly<Record<string, string>> = {}) {
  const kubectl = path.dirname(inject('controlPlane').kubectlPath);
  const { PATH = '', HOME = folder } = process.env;
  return (command: string): ChildProcess =>
    spawn('sh', ['-c', command], {
      cwd: folder,
      env: { HOME, PATH: `${kubectl}:${PATH}`, AWS_EC2_METADATA_DISABLED: 'true', ...testEnvironment, ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
      // A process group of its own, so that all its processes can be stopped.
      detached: true,
    });
}

/** Runs a command to its end; returns its output and its status. */
async function untilEnded(child: ChildProcess): Promise<{ readonly status: number | null; readonly output: string }> {
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (text) => (output += text));
  await once(child, 'close');
  return { status: child.exitCode, output };
}

/** Runs a command of a document and compares its output. */
async function follow(run: ReturnType<typeof shell>, { command, shows, statuses = [0] }: Step): Promise<void> {
  const { status, output } = await untilEnded(run(command));
  expect(output, command).toMatch(shows);
  expect(statuses, `${command}: ${output}`).toContain(status);
}

/** Resolves with the first line that matches. Rejects when the command ends before. */
async function line(child: ChildProcess, pattern: RegExp): Promise<string> {
  const all: string[] = [];
  return await new Promise((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr]) {
      if (stream === null) continue;
      createInterface(stream).on('line', (text) => {
        all.push(text);
        if (pattern.test(text)) resolve(text);
      });
    }
    child.once('close', () => reject(new Error(`ended: ${all.join('\n')}`)));
  });
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.pid === undefined) return;
  const closed = once(child, 'close');
  process.kill(-child.pid, 'SIGINT');
  await closed;
}

describe('documented commands on one machine', () => {
  let folder: string;
  let run: ReturnType<typeof shell>;
  let running: ChildProcess | undefined;
  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'outrigger-documented-'));
    folders.push(folder);
    for (const part of await readdir(root))
      if (!notInClone.has(part)) await cp(path.join(root, part), path.join(folder, part), { recursive: true, filter });
    // The tier has installed them, and these commands have no registry. That a clone installs them is shown by .ci/run.
    for (const part of ['.', 'infra', 'bench'])
      await symlink(path.join(root, part, 'node_modules'), path.join(folder, part, 'node_modules'));
    // The demo checks the types in the background. `npm run check` has checked those of the tests.
    const config = path.join(folder, 'tsconfig.json');
    const { compilerOptions } = JSON.parse(await readFile(config, 'utf8'));
    await writeFile(config, JSON.stringify({ compilerOptions, include: ['src/controllers'] }));
    run = shell(folder);
  });
  afterAll(async () => {
    if (running !== undefined) await stop(running);
  });

  it('a documented controller is written, and files are generated for it', { timeout }, async () => {
    const file = path.join(folder, 'src/controllers/registry.ts');
    // The one step that docs/authoring.md describes in words.
    const before = await readFile(file, 'utf8');
    const named = before
      .replace(/^import/m, "import { cafe } from './cafe.ts';\nimport")
      .replace('  waterTank,', '  cafe,\n  waterTank,');
    await writeFile(file, named);
    for (const step of cafeSteps) await follow(run, step);
  });

  it('the documented demo runs the controller, and the system is inspected and operated', { timeout }, async () => {
    running = run(demoCommand);
    await line(running, /status +watertank\/north/);
    const [name = '', value = ''] = exportCommand.replace('export ', '').split('=');
    const further = shell(folder, { [name]: value });

    const follower = further(watchStep.command);
    await line(follower, watchStep.shows);
    await stop(follower);
    for (const step of demoSteps) {
      // The next steps need a cafe that is Ready.
      const ready = 'kubectl wait --for=condition=Ready cafe/central --timeout=100s';
      if (step.command.includes('cafes')) await untilEnded(further(ready));
      await follow(further, step);
    }
  });
});

describe('documented commands on a cluster', () => {
  let plane: ControlPlane;
  beforeAll(async () => {
    plane = await startControlPlane();
  });
  afterAll(async () => await plane.stop());

  it('the documented commands apply, inspect and restart the watcher', { timeout }, async () => {
    const run = shell(root, { KUBECONFIG: plane.kubeconfig() });
    for (const step of clusterSteps) await follow(run, step);
  });
});
