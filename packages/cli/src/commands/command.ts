// How an operator's command runs, prints and ends. It exits with 0, or with 1 and a line that names the problem. A
// stack is printed only for an error that is a bug of Outrigger.
import { type Command, InvalidArgumentError, Option } from 'commander';
import { SchemaError, SettingsError, toError, UserError } from 'outrigger/internal/core/errors';
import { ignoredProxy } from 'outrigger/internal/core/ignored-proxy';
import { printable, printableJson } from 'outrigger/internal/core/printable';
import { redact } from 'outrigger/internal/core/redact';
import { ApiError, ConnectError, DeadlineError, ResponseError } from 'outrigger/internal/kube/client/errors';
import { environment } from 'outrigger/internal/settings';
import { QueueCallError } from 'outrigger/internal/sqs/browse';
import { isFromAws, nextStep } from './next-step.ts';
import { type Place, placeOptions } from './place.ts';
import { type ColourOf, fitted } from './terminal.ts';

/**
 * Makes the action of a command from a function that gets the arguments, the options and a signal, and returns the exit
 * status.
 */
export function acting<A extends readonly unknown[]>(run: (...given: A) => Promise<number>) {
  return async function (this: Command, ...given: readonly unknown[]): Promise<void> {
    // commander gives the command last.
    const parts = given.slice(0, -1);
    const act = (...signal: readonly AbortSignal[]): Promise<number> =>
      Reflect.apply(run, undefined, [...parts, ...signal]);
    const action = run.length > parts.length ? (signal: AbortSignal) => act(signal) : () => act();
    const { stage, region } = this.opts<Place>();
    await runCommand(wordsOf(this).join(' '), action, placeOptions({ stage, region }));
  };
}

/** The words that call a command, without the program. */
function wordsOf(command: Command): readonly string[] {
  const before = command.parent === null ? [] : wordsOf(command.parent);
  return command.name() === 'outrigger' ? before : [...before, command.name()];
}

/**
 * Runs a command's action, and sets the exit status from its result or its error. Ctrl-C aborts the signal. It ends the
 * process at once if the action takes no signal.
 * @param at the options of a printed command: ` --stage prod`
 */
export async function runCommand(
  command: string,
  action: (signal: AbortSignal) => Promise<number>,
  at = '',
): Promise<void> {
  const stop = new AbortController();
  const interrupt = () => stop.abort(new UserError('stopped; unfinished work is unchanged'));
  if (action.length > 0) process.once('SIGINT', interrupt);
  try {
    process.exitCode = await action(stop.signal);
  } catch (thrown) {
    const error = toError(thrown);
    process.exitCode = 1;
    if (isUserFacing(error)) printError(`outrigger ${command}: ${formatError(error, at)}`);
    else printStack(error);
  } finally {
    process.removeListener('SIGINT', interrupt);
  }
}

/** Formats an error, with the next step `at` a deployment if one is known. One line, without credentials. */
export function formatError(thrown: unknown, at = ''): string {
  const error = toError(thrown);
  const step = nextStep(error, at);
  return redact(step === undefined ? error.message : `${error.message}; ${step}`);
}

const userFacing = [
  ...[UserError, SettingsError, SchemaError, QueueCallError],
  ...[ApiError, ConnectError, DeadlineError, ResponseError],
];

function isUserFacing(error: Error): boolean {
  // Ctrl-C or Ctrl-D at a question.
  if (error.name === 'AbortError') return true;
  return userFacing.some((kind) => error instanceof kind) || isFromAws(error) || nextStep(error) !== undefined;
}

/** Prints one line if the environment names a proxy, which the requests of commands do not use. */
export function printIgnoredProxy(): void {
  const line = ignoredProxy(environment());
  if (line !== undefined) printError(line);
}

/** The format in which a command prints. */
export type Output = 'text' | 'json';

/** Makes the option that chooses the format. */
export function outputOption(): Option {
  return new Option('--output <format>', 'text or json').choices(['text', 'json']).default('text');
}

/** Makes the short form of --output json. */
export function jsonOption(): Option {
  return new Option('--json', 'the same as --output json').implies({ output: 'json' });
}

/** Parses the value of an option as a whole number. Throws commander's error, which names the option. */
export function wholeNumber(text: string): number {
  if (!/^\d+$/.test(text)) throw new InvalidArgumentError('a whole number is needed');
  return Number(text);
}

/** Parses the value of an option as a port; 0 is a free one. Throws commander's error, which names the option. */
export function portNumber(text: string): number {
  const number = wholeNumber(text);
  if (number > 65_535) throw new InvalidArgumentError('a port is at most 65535');
  return number;
}

/** Checks the number of entries that a command prints. Throws UserError. */
export function checkLimit(limit: number): void {
  if (!Number.isInteger(limit) || limit < 1) throw new UserError('--limit: a whole number above 0 is needed');
}

/** Prints one JSON document. Undefined fields are left out. */
export function printJson(value: unknown): void {
  process.stdout.write(`${printableJson(JSON.stringify(value, null, 2))}\n`);
}

const noColour: ColourOf = () => undefined;

/** Prints lines, each with a line end; prints nothing for an empty list. On a terminal some have a colour. */
export function printLines(lines: readonly string[], colour = noColour): void {
  const shown = lines.map((line) => fitted(printable(line), process.stdout, colour));
  if (lines.length > 0) process.stdout.write(`${shown.join('\n')}\n`);
}

/** Prints a line on the standard error. */
export function printError(line: string, colour = noColour): void {
  process.stderr.write(`${fitted(printable(line), process.stderr, colour)}\n`);
}

/** Prints the stack of an error on the standard error. */
export function printStack({ stack = '' }: Error): void {
  for (const line of stack.split('\n')) printError(line);
}

/** Ends a client with the block that declares it by `using`. */
export function disposable<T extends { close(): void } | { destroy(): void }>(client: T): T & Disposable {
  return Object.assign(client, {
    [Symbol.dispose]: () => ('close' in client ? client.close() : client.destroy()),
  });
}
