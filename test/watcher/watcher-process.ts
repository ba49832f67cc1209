// The watcher as a process, started as a Deployment or `outrigger dev` would start it, and what it says of itself.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import * as z from 'zod';

const logLine = z.looseObject({ level: z.string(), message: z.string(), port: z.number().optional() });
export type LogLine = z.infer<typeof logLine>;

export type WatcherProcess = {
  readonly pid: number;
  readonly lines: readonly LogLine[];
  /** Resolves with the first line of that message, past or to come; rejects when the process ends without it. */
  said(message: string): Promise<LogLine>;
  /** Resolves with the exit status, or the name of the signal, once it has ended. */
  readonly ended: Promise<number | string>;
  kill(signal: 'SIGTERM' | 'SIGKILL' | 'SIGINT'): void;
};

const main = new URL('../../src/watcher/main.ts', import.meta.url).pathname;

/** Starts a watcher; the caller ends it. */
export function startWatcherProcess(environment: Readonly<Record<string, string>>): WatcherProcess {
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', main], {
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
  const listeners = new Set<() => void>();
  const tell = () => {
    for (const listener of listeners) listener();
  };
  createInterface(child.stdout).on('line', (text) => {
    lines.push(logLine.parse(JSON.parse(text)));
    tell();
  });
  createInterface(child.stderr).on('line', (text) => errors.push(text));
  let over = false;
  const ended = new Promise<number | string>((resolve) => {
    child.once('close', (code, signal) => {
      over = true;
      tell();
      resolve(signal ?? code ?? 'nothing');
    });
  });
  return {
    pid: child.pid ?? 0,
    lines,
    ended,
    kill: (signal) => void child.kill(signal),
    said: (message) =>
      new Promise((resolve, reject) => {
        const look = () => {
          const found = lines.find((line) => line.message === message);
          if (found !== undefined) resolve(found);
          else if (over) reject(new Error(`ended without "${message}": ${JSON.stringify(lines)} ${errors.join('\n')}`));
          else return;
          listeners.delete(look);
        };
        listeners.add(look);
        look();
      }),
  };
}
