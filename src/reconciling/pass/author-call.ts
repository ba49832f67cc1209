// The scope of one call of the author's code: its context, its deadline, and its end. A reconciler that runs on after
// its deadline cannot be stopped inside this process, so its failure is reported as that of any other attempt, and then
// the process ends (batch.ts).
import { unlessAborted } from '../../core/async.ts';
import { errorText, IgnoredSignalError, ReconcileTimeoutError, toError } from '../../core/errors.ts';
import type { Wait } from '../../core/time.ts';
import { isThorough } from '../../sqs/message.ts';
import { createContext } from '../context/context.ts';
import type { Called, Ended, Pass, Task } from './pass.ts';

/** How long a reconciler may run after its signal was aborted. */
export const graceSeconds = 1;
/** The time for its status and its Event. The function's own deadline is near. */
export const reportSeconds = 1;
/** The time for its follow-up and for the deletion of finished messages. */
export const followUpSeconds = 0.5;

/** Calls the author's code for the task of a pass. Never rejects. */
export async function callFor(pass: Pass): Promise<Called> {
  const { identity, task, message, signal, primary } = pass;
  const { declaration, instance, wait } = identity;
  const handle = createContext(
    { ...identity, ...pass },
    {
      object: primary.current(),
      kind: declaration.resource,
      primary,
      // Children that have lost their labels belong to an object that is left, too.
      isThorough: task === 'leave' || isThorough(message),
    },
  );
  const finalize = async (): Promise<Ended> => {
    const said = await instance.finalize(primary.current(), handle.context);
    // The garbage collector deletes the others, which have a reference to the object.
    const elsewhere = said === 'done' ? declaration.owns.filter(({ inAnyNamespace }) => inAnyNamespace) : [];
    for (const owned of elsewhere) await handle.context.applyAll(owned, () => [], { prune: true });
    return { type: 'finalized', said };
  };
  const run: Readonly<Record<Task, () => Promise<Ended>>> = {
    reconcile: async () => ({ type: 'returned', result: await instance.reconcile(primary.current(), handle.context) }),
    finalize,
    leave: async () => {
      for (const owned of declaration.owns) await handle.context.applyAll(owned, () => [], { prune: true });
      return declaration.finalizes && primary.hasFinalizer() ? await finalize() : { type: 'finalized', said: 'done' };
    },
  };
  return { ended: await endOf(handle.run(run[task]), signal, wait), ...handle.effects() };
}

/** Waits for the author's code, and for a second longer if its signal is aborted. */
async function endOf(running: Promise<Ended>, signal: AbortSignal, wait: Wait): Promise<Ended> {
  const settled = running.catch((error: unknown): Ended => {
    const isLate = signal.aborted;
    return { type: 'threw', error: isLate ? timeoutError(error, signal) : error, isLate };
  });
  const ended = new AbortController();
  const afterGrace = async (): Promise<Ended> => {
    await wait(graceSeconds, ended.signal);
    const error = new IgnoredSignalError(`the reconciler ignored its signal: it ran on for ${graceSeconds} s`);
    return { type: 'still-running', error };
  };
  try {
    return await unlessAborted(settled, signal);
  } catch {
    return await Promise.race([settled, afterGrace()]);
  } finally {
    ended.abort('ended');
  }
}

function timeoutError(thrown: unknown, { reason }: AbortSignal): ReconcileTimeoutError {
  const last = thrown === reason ? '' : `: ${errorText(toError(thrown))}`;
  return new ReconcileTimeoutError(`the reconciler did not end within its time limit${last}`, { cause: thrown });
}
