// The documents' commands, to the letter and in their order: what somebody does who follows README and docs/operating.md with nothing but
// this clone and kubectl. What each command does in every case is tested where it is.
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
import { byHand, demo, exported, following, onCluster, onDemo, type Step } from '../support/documented-steps.ts';

const root = path.resolve(import.meta.dirname, '../..');
/** A dozen programs, each started by npx, on whatever machine. */
const timeout = 400_000;
/** Not in a clone. */
const made = new Set(['.git', '.outrigger', '.serverless', 'dist', 'lib', 'node_modules']);
const folders: string[] = [];
afterAll(async () => await Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true }))));

/** A shell in a folder, in which kubectl is the control plane's own. */
function shell(folder: string, environment: Readonly<Record<string, string>> = {}) {
  const kubectl = path.dirname(inject('controlPlane').kubectlPath);
  const { PATH = '', HOME = folder } = process.env;
  return (command: string): ChildProcess =>
    spawn('sh', ['-c', command], {
      cwd: folder,
      env: { HOME, PATH: `${kubectl}:${PATH}`, AWS_EC2_METADATA_DISABLED: 'true', ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
      // A group of its own, so that all of it can be stopped.
      detached: true,
    });
}

/** Runs a command to its end: everything that it said, and its status. */
async function ended(child: ChildProcess): Promise<{ readonly status: number | null; readonly said: string }> {
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (text) => (said += text));
  await once(child, 'close');
  return { status: child.exitCode, said };
}

/** Does what a document says, and looks at what it shows. */
async function follow(run: ReturnType<typeof shell>, { command, shows, statuses = [0] }: Step): Promise<void> {
  const { status, said } = await ended(run(command));
  expect(said, command).toMatch(shows);
  expect(statuses, `${command}: ${said}`).toContain(status);
}

/** Resolves with the first line that matches. Rejects when it ends before. */
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
  const gone = once(child, 'close');
  process.kill(-child.pid, 'SIGINT');
  await gone;
}

describe('on this machine alone', () => {
  let folder: string;
  let run: ReturnType<typeof shell>;
  let running: ChildProcess | undefined;
  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'outrigger-documented-'));
    folders.push(folder);
    for (const part of await readdir(root))
      if (!made.has(part)) await cp(path.join(root, part), path.join(folder, part), { recursive: true });
    await symlink(path.join(root, 'node_modules'), path.join(folder, 'node_modules'));
    run = shell(folder);
  });
  afterAll(async () => {
    if (running !== undefined) await stop(running);
  });

  it('a controller is written by hand, and generated for', { timeout }, async () => {
    const file = path.join(folder, 'src/controllers/registry.ts');
    // The one step that the README says in words.
    const before = await readFile(file, 'utf8');
    const named = before
      .replace(/^import/m, "import { cafe } from './cafe.ts';\nimport")
      .replace('  waterTank,', '  cafe,\n  waterTank,');
    await writeFile(file, named);
    for (const step of byHand) await follow(run, step);
  });

  it('the demo runs it, and the system is looked at and operated', { timeout }, async () => {
    running = run(demo);
    await line(running, /"who":"status","object":"watertank\/north"/);
    const [name = '', value = ''] = exported.replace('export ', '').split('=');
    const further = shell(folder, { [name]: value });

    const follower = further(following.command);
    await line(follower, following.shows);
    await stop(follower);
    for (const step of onDemo) {
      // Who looks at the cafe wants it to be as it should be.
      const ready = 'kubectl wait --for=condition=Ready cafe/central --timeout=100s';
      if (step.command.includes('cafes')) await ended(further(ready));
      await follow(further, step);
    }
  });
});

describe('on a cluster', () => {
  let plane: ControlPlane;
  beforeAll(async () => {
    plane = await startControlPlane();
  });
  afterAll(async () => await plane.stop());

  it('the watcher is applied, looked at and restarted', { timeout }, async () => {
    const run = shell(root, { KUBECONFIG: plane.kubeconfig() });
    for (const step of onCluster) await follow(run, step);
  });
});
