// How an operator's command ends: with 0 when it is so, with 1 and one line that says what is not. A stack is shown only for
// what is a bug of ours.
import { ConnectionProblem } from '../clusters/connection-problem.ts';
import { SettingsError, toError } from '../core/errors.ts';
import { redact } from '../core/redact.ts';
import { SchemaError } from '../generate/schema-error.ts';
import { AnswerError, ApiError, ConnectError, DeadlineError } from '../kube/client/errors.ts';
import { DevProblem } from '../dev/explain-error.ts';
import { QueueCallError } from '../queue/hold.ts';
import { isFromAws, nextStep } from './next-step.ts';

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
    process.stderr.write(`${isForAPerson(error) ? `outrigger ${command}: ${lineOf(error)}` : error.stack}\n`);
  } finally {
    process.removeListener('SIGINT', interrupt);
  }
}

/** Says what went wrong, and what to do about it where that is known. One line, without credentials. */
export function lineOf(thrown: unknown): string {
  const error = toError(thrown);
  const step = nextStep(error);
  return redact(step === undefined ? error.message : `${error.message}; ${step}`);
}

const kinds = [
  ...[OperatorProblem, ConnectionProblem, SettingsError, SchemaError, DevProblem, QueueCallError],
  ...[ApiError, ConnectError, DeadlineError, AnswerError],
];

function isForAPerson(error: Error): boolean {
  return kinds.some((kind) => error instanceof kind) || isFromAws(error);
}
