// How an operator's command ends: with 0 when it is so, with 1 and one line that says what is not. A stack is shown only for
// what is a bug of ours.
import { ConnectionProblem } from '../clusters/connection-problem.ts';
import { SettingsError, toError } from '../core/errors.ts';
import { redact } from '../core/redact.ts';
import { DevProblem } from '../local/problem.ts';
import { QueueCallError } from '../queue/hold.ts';

/** A mistake of the person at the keyboard: one line, with what to do instead. */
export class OperatorProblem extends Error {
  override readonly name = 'OperatorProblem';
}

/** Runs a command's action, and makes its result, or what it throws, the process's exit status. Ctrl-C aborts the signal. */
export async function operate(command: string, action: (signal: AbortSignal) => Promise<number>): Promise<void> {
  const stop = new AbortController();
  const interrupt = () => stop.abort(new OperatorProblem('stopped; what was not finished is as it was'));
  process.once('SIGINT', interrupt);
  try {
    process.exitCode = await action(stop.signal);
  } catch (thrown) {
    const error = toError(thrown);
    process.exitCode = 1;
    process.stderr.write(`${isForAPerson(error) ? `outrigger ${command}: ${redact(error.message)}` : error.stack}\n`);
  } finally {
    process.removeListener('SIGINT', interrupt);
  }
}

function isForAPerson(error: Error): boolean {
  const kinds = [OperatorProblem, QueueCallError, ConnectionProblem, SettingsError, DevProblem];
  return kinds.some((kind) => error instanceof kind);
}
