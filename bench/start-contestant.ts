// A contestant that runs: started on a cluster, waited for, and ended.
import { environment } from '../src/settings.ts';
import { startHeld } from './child-process.ts';
import type { Job, Program, Setting } from '../test/bench/peers/contestant.ts';

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

/** Starts a contestant; resolves when it says that it is ready. Rejects with the last line that it wrote when it ends instead, or takes too long. */
export async function startContestant(
  { command, args, cwd, env }: Program,
  { job, setting, kubeconfig, outsideUrl, concurrency }: Run,
): Promise<Running> {
  const { pid, lines, said, died, end } = startHeld(command, [...args, job, setting], {
    env: {
      ...environment(),
      ...env,
      ...{ KUBECONFIG: kubeconfig, OUTSIDE_URL: outsideUrl },
      ...(concurrency === undefined ? {} : { CONCURRENCY: `${concurrency}` }),
    },
    ...(cwd === undefined ? {} : { cwd }),
  });
  const { promise: ready, resolve: beReady, reject: beLate } = Promise.withResolvers<void>();
  lines.on('line', (line) => {
    if (line === 'ready') beReady();
  });
  const late = () => beLate(new Error(`not ready within ${readySeconds} s: ${said()}`));
  const timer = setTimeout(late, readySeconds * 1000);
  try {
    await Promise.race([ready, died]);
  } catch (error) {
    await end('SIGTERM');
    throw error;
  } finally {
    clearTimeout(timer);
  }
  return { pid, died, [Symbol.asyncDispose]: () => end('SIGTERM') };
}
