// A running contestant: started on a cluster, awaited, and stopped.
import { environment } from '../src/settings.ts';
import { startGuarded } from './child-process.ts';
import type { Job, Program, Setting } from './peers/contestant.ts';

/** The job and its environment. */
export type Run = {
  readonly job: Job;
  readonly setting: Setting;
  readonly kubeconfig: string;
  readonly outsideUrl: string;
  /** The number of concurrent objects when all contestants have the same. */
  readonly concurrency?: number;
};

/** A running contestant. */
export type Running = AsyncDisposable & {
  readonly pid: number;
  /** Rejects with the last line of its standard error when it ends before it is stopped. */
  readonly died: Promise<never>;
};

const readySeconds = 60;

/**
 * Starts a contestant; resolves when it is ready. Rejects with the last line of its standard error when it ends
 * instead, or times out.
 */
export async function startContestant(
  { command, args, cwd, env }: Program,
  { job, setting, kubeconfig, outsideUrl, concurrency }: Run,
): Promise<Running> {
  const { pid, lines, lastError, died, end } = startGuarded(command, [...args, job, setting], {
    env: {
      ...environment(),
      ...env,
      KUBECONFIG: kubeconfig,
      OUTSIDE_URL: outsideUrl,
      ...(concurrency === undefined ? {} : { CONCURRENCY: `${concurrency}` }),
    },
    ...(cwd === undefined ? {} : { cwd }),
  });
  const { promise: ready, resolve: resolveReady, reject: rejectReady } = Promise.withResolvers<void>();
  lines.on('line', (line) => {
    if (line === 'ready') resolveReady();
  });
  const onTimeout = () => rejectReady(new Error(`not ready within ${readySeconds} s: ${lastError()}`));
  const timer = setTimeout(onTimeout, readySeconds * 1000);
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
