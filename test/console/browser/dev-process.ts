// The command `outrigger dev` with the samples, as a person starts it.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

const root = path.resolve(import.meta.dirname, '../../..');

/** The arguments of node that start the command with the samples, from the root of the repository. */
export function devArguments(folder: string, options: readonly string[]): readonly string[] {
  const samples = ['--apply', 'infra/kubernetes/samples'];
  return ['packages/cli/bin/outrigger.js', 'dev', ...samples, '--folder', folder, ...options];
}

/** A running `outrigger dev`: the URL of the console, as it prints it, and files of its folder. */
export type DevProcess = AsyncDisposable & {
  readonly url: string;
  readonly kubeconfig: string;
  readonly state: string;
};

/** Starts the command. Throws with its output if it ends. */
export async function startDevProcess(options: readonly string[] = []): Promise<DevProcess> {
  await using parts = new AsyncDisposableStack();
  const folder = await mkdtemp(path.join(tmpdir(), 'outrigger-console-'));
  parts.defer(() => rm(folder, { recursive: true, force: true }));
  const argv = devArguments(folder, options);
  const dev = spawn(process.execPath, argv, { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] });
  parts.defer(async () => {
    if (dev.exitCode !== null) return;
    const ended = once(dev, 'exit');
    dev.kill('SIGINT');
    await ended;
  });
  const url = await new Promise<string>((resolve, reject) => {
    let output = '';
    dev.stdout.on('data', (data) => {
      output += String(data);
      const [, found] = /the console in a browser: (http\S+)\n/.exec(output) ?? [];
      if (found !== undefined) resolve(found);
    });
    dev.once('exit', () => reject(new Error(`outrigger dev ended:\n${output}`)));
  });
  const whole = parts.move();
  return {
    url,
    kubeconfig: path.join(folder, 'kubeconfig'),
    state: path.join(folder, 'state.json'),
    [Symbol.asyncDispose]: () => whole.disposeAsync(),
  };
}
