// The result of a command: in this process, or in one of its own.
import { execFile } from 'node:child_process';
import { ReceiveMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { commands } from '@outrigger/cli/commands/commands';
import type { Command } from 'commander';
import { expect, vi } from 'vitest';

/** What a command printed, and its exit status. */
export type CommandResult = { readonly out: string; readonly err: string; readonly status: unknown };

/** Runs a program of Node in a folder. */
export function runProcess(argv: readonly string[], cwd: string): Promise<CommandResult> {
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [...argv], { cwd }, (_, out, err) =>
      resolve({ out, err, status: child.exitCode }),
    );
  });
}

/** Expects an error for a person: the last line has this text, there is no stack, and the exit status is 1. */
export function expectUserError({ err, status }: CommandResult, text: string): void {
  expect(err.trimEnd().split('\n').at(-1)).toContain(text);
  expect(err).not.toContain('    at ');
  expect(status).toBe(1);
}

/** Receives without waiting: unlike SQS, the test's server is one server, and a short poll reads all its messages. */
export function shortPolls() {
  const send = SQSClient.prototype.send;
  return vi.spyOn(SQSClient.prototype, 'send').mockImplementation(function (this: SQSClient, ...args: unknown[]) {
    if (args[0] instanceof ReceiveMessageCommand) args[0].input.WaitTimeSeconds = 0;
    return Reflect.apply(send, this, args);
  });
}

/** Runs `outrigger ARGV` in a folder, in this process. */
export async function runIn(cwd: string, argv: readonly string[]): Promise<CommandResult> {
  const [name = '', ...rest] = argv;
  const command = await commands[name]?.();
  if (command === undefined) throw new Error(`there is no command ${name}`);
  const before = process.cwd();
  process.chdir(cwd);
  try {
    return await runHere(command, rest);
  } finally {
    process.chdir(before);
  }
}

const endSignals = ['SIGINT', 'SIGTERM'] as const;

/** Runs a command in this process, and returns its output and exit status, also for a usage error. */
export async function runHere(
  command: Command,
  argv: readonly string[],
  env: Readonly<Record<string, string | undefined>> = {},
): Promise<CommandResult> {
  const output = { out: '', err: '' };
  const capture = (stream: 'stdout' | 'stderr', to: 'out' | 'err') =>
    vi.spyOn(process[stream], 'write').mockImplementation((text) => {
      output[to] += text;
      return true;
    });
  const spies = [capture('stdout', 'out'), capture('stderr', 'err'), shortPolls()];
  const before = process.exitCode;
  const listening = new Set(endSignals.flatMap((name) => process.listeners(name)));
  for (const [name, value] of Object.entries({ QUEUE_URL_PREFIX: '', CLUSTERS: '', ...env })) vi.stubEnv(name, value);
  try {
    await command.parseAsync([...argv], { from: 'user' });
    return { ...output, status: process.exitCode };
  } finally {
    vi.unstubAllEnvs();
    process.exitCode = before;
    for (const spy of spies) spy.mockRestore();
    // outrigger dev listens until its process ends. This one, a worker, would no longer end by a signal.
    for (const name of endSignals)
      for (const one of process.listeners(name)) if (!listening.has(one)) process.off(name, one);
  }
}
