// A contestant that runs: started on a cluster, waited for, and ended.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { environment } from '../../src/settings.ts';
import type { Job, Program, Setting } from './peers/contestant.ts';

/** What it does, and where. */
export type Run = {
  readonly job: Job;
  readonly setting: Setting;
  readonly kubeconfig: string;
  readonly outsideUrl: string;
  /** How many objects at a time, where everybody is to have the same. */
  readonly concurrency?: number;
};

/** One that runs. */
export type Running = AsyncDisposable & {
  readonly pid: number;
  /** Rejects with the last line that it wrote when it ends before it is told to. */
  readonly died: Promise<never>;
};

const readySeconds = 60;
const endMilliseconds = 10_000;

/** Starts a contestant; resolves when it says that it is ready. Rejects with the last line that it wrote when it ends instead, or takes too long. */
export async function startContestant(
  program: Program,
  { job, setting, kubeconfig, outsideUrl, concurrency }: Run,
): Promise<Running> {
  const child = spawn(program.command, [...program.args, job, setting], {
    env: {
      ...environment(),
      ...program.env,
      ...{ KUBECONFIG: kubeconfig, OUTSIDE_URL: outsideUrl },
      ...(concurrency === undefined ? {} : { CONCURRENCY: `${concurrency}` }),
    },
    ...(program.cwd === undefined ? {} : { cwd: program.cwd }),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let last = '';
  createInterface(child.stderr).on('line', (line) => {
    if (line.trim() !== '') last = line.trim();
  });
  const ended = once(child, 'close');
  const { promise: failed, reject: fail } = Promise.withResolvers<never>();
  failed.catch(() => undefined);
  child.once('error', (error) => fail(error));
  child.once('close', (code, signal) => fail(new Error(last === '' ? `it ended with ${signal ?? code}` : last)));
  const { promise: ready, resolve: beReady } = Promise.withResolvers<void>();
  createInterface(child.stdout).on('line', (line) => {
    if (line === 'ready') beReady();
  });
  const late = setTimeout(() => fail(new Error(`not ready within ${readySeconds} s: ${last}`)), readySeconds * 1000);
  const end = async () => {
    clearTimeout(late);
    if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const patience = setTimeout(() => child.kill('SIGKILL'), endMilliseconds);
    child.kill('SIGTERM');
    await ended;
    clearTimeout(patience);
  };
  try {
    await Promise.race([ready, failed]);
  } catch (error) {
    await end();
    throw error;
  }
  clearTimeout(late);
  return { pid: child.pid ?? 0, died: failed, [Symbol.asyncDispose]: end };
}
