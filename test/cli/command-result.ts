// The result of a command, and a command in a process of its own. operated-system.ts runs commands in this process.
import { execFile } from 'node:child_process';
import { expect } from 'vitest';

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
