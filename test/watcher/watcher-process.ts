// The watcher as a process, started like in a Deployment or by `outrigger dev`, and its log lines.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { expect, vi } from 'vitest';
import * as z from 'zod';
import { sourceOption } from '../../tools/packages.ts';

const logLine = z.looseObject({ level: z.string(), message: z.string(), port: z.number().optional() });
export type LogLine = z.infer<typeof logLine>;

export type WatcherProcess = {
  readonly pid: number;
  readonly lines: readonly LogLine[];
  /** Resolves with the first line with this message, past or future. Rejects if the process ends without it. */
  logged(message: string): Promise<LogLine>;
  /** Resolves with the exit status, or the name of the signal, when the process has ended. */
  readonly ended: Promise<number | string>;
  kill(signal: 'SIGTERM' | 'SIGKILL' | 'SIGINT'): void;
};

const main = new URL('./main.ts', import.meta.url).pathname;

/** Starts a watcher; the caller stops it. */
export function startWatcherProcess(environment: Readonly<Record<string, string>>): WatcherProcess {
  const child = spawn(process.execPath, [sourceOption, '--disable-warning=ExperimentalWarning', main], {
    env: {
      CLUSTER: 'test',
      HOST: '127.0.0.1',
      PORT: '0',
      AWS_REGION: 'us-east-1',
      AWS_ACCESS_KEY_ID: 'test',
      AWS_SECRET_ACCESS_KEY: 'test',
      LOG_LEVEL: 'DEBUG',
      ...environment,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const lines: LogLine[] = [];
  const errors: string[] = [];
  createInterface(child.stdout).on('line', (text) => lines.push(logLine.parse(JSON.parse(text))));
  createInterface(child.stderr).on('line', (text) => errors.push(text));
  let hasEnded = false;
  const ended = new Promise<number | string>((resolve) => {
    child.once('close', (code, signal) => {
      hasEnded = true;
      resolve(signal ?? code ?? 'no status');
    });
  });
  return {
    pid: child.pid ?? 0,
    lines,
    ended,
    kill: (signal) => void child.kill(signal),
    logged: async (message) => {
      const find = () => lines.find((line) => line.message === message);
      await vi.waitUntil(() => find() !== undefined || hasEnded, { timeout: 180_000, interval: 10 });
      return find() ?? expect.fail(`ended without "${message}": ${JSON.stringify(lines)} ${errors.join('\n')}`);
    },
  };
}
