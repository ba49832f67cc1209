// The commands of the documents, verbatim and in their order, as a reader of README and docs/ runs
// them with only a clone and kubectl. Each command's options are tested elsewhere.
import type { ChildProcess } from 'node:child_process';
import { cp, readdir, symlink } from 'node:fs/promises';
import path from 'node:path';
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
import { useFolder } from '../support/folder.ts';
import { startCommand, stopCommand, untilEnded, untilLine } from '../support/user-shell.ts';

const root = path.resolve(import.meta.dirname, '../..');
/** A dozen programs, each started by npx, on any machine. */
const timeout = 400_000;
/** Files that a clone does not contain. */
const notInClone = new Set(['.git', '.outrigger', '.serverless', 'dist', 'lib', 'node_modules']);
const filter = (file: string) => path.basename(file) !== 'node_modules';

/** A shell in a folder, with the kubectl of the control plane. */
function shell(folder: string, environment: Readonly<Record<string, string>> = {}) {
  const kubectl = path.dirname(inject('controlPlane').kubectlPath);
  const { PATH = '', HOME = folder } = process.env;
  const own = { HOME, PATH: `${kubectl}:${PATH}`, AWS_EC2_METADATA_DISABLED: 'true' };
  return (command: string) => startCommand(command, folder, { ...own, ...testEnvironment, ...environment });
}

/** Runs a command of a document and compares its output. */
async function follow(run: ReturnType<typeof shell>, { command, shows, statuses = [0] }: Step): Promise<void> {
  const { status, output } = await untilEnded(run(command));
  expect(output, command).toMatch(shows);
  expect(statuses, `${command}: ${output}`).toContain(status);
}

describe('documented commands on one machine', () => {
  const folder = useFolder({ shared: true });
  let run: ReturnType<typeof shell>;
  let running: ChildProcess | undefined;
  beforeAll(async () => {
    for (const part of await readdir(root))
      if (!notInClone.has(part)) await cp(path.join(root, part), folder.at(part), { recursive: true, filter });
    // The tier has installed them, and these commands have no registry. That a clone installs them is shown by .ci/run.
    for (const part of ['.', 'infra', 'bench'])
      await symlink(path.join(root, part, 'node_modules'), folder.at(part, 'node_modules'));
    // The demo checks the types in the background, which `npm run check` has done: of one file here, to save the time.
    const { compilerOptions } = JSON.parse(await folder.read('tsconfig.json'));
    await folder.write('tsconfig.json', JSON.stringify({ compilerOptions, files: ['src/core/names.ts'] }));
    run = shell(folder.path);
  });
  afterAll(async () => {
    if (running !== undefined) await stopCommand(running);
  });

  it('a documented controller is written, and files are generated for it', { timeout }, async () => {
    const file = 'src/controllers/registry.ts';
    // The one step that CONTRIBUTING.md describes in words.
    const named = (await folder.read(file))
      .replace(/^import/m, "import { cafe } from './cafe.ts';\nimport")
      .replace('  waterTank,', '  cafe,\n  waterTank,');
    await folder.write(file, named);
    for (const step of cafeSteps) await follow(run, step);
  });

  it('the documented demo runs the controller, and the system is inspected and operated', { timeout }, async () => {
    running = run(demoCommand);
    await untilLine(running, /status +watertank\/north/);
    const [name = '', value = ''] = exportCommand.replace('export ', '').split('=');
    const further = shell(folder.path, { [name]: value });

    const follower = further(watchStep.command);
    await untilLine(follower, watchStep.shows);
    await stopCommand(follower);
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
