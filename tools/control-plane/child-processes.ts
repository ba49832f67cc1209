// The processes of a control plane, none of which outlives the test that started it. Each runs in a process group of
// its own, so Ctrl-C reaches the test first. A guard, which is a small shell, reads from a pipe of this process and
// kills the remaining processes when the pipe closes, which happens however this process ends, kill -9 included.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { rareCollection } from '../rare-collection.ts';

/** One running program. */
export type Program = {
  readonly pid: number;
  readonly log: string;
  /** Resolves when it has ended, with its exit status or signal. */
  readonly exited: Promise<string>;
  /** Returns its exit status or signal, or undefined while it runs. */
  ended(): string | undefined;
  /** Sends a signal; does nothing once it has ended. */
  signal(signal: NodeJS.Signals): void;
  /** Sends the signal and resolves when the program has ended; SIGKILL follows after `graceSeconds`. */
  stop(signal?: NodeJS.Signals, graceSeconds?: number): Promise<void>;
};

/** Starts programs that write their logs into one folder. */
export type ChildProcesses = {
  start(name: string, file: string, args: readonly string[]): Program;
  /** Kills the remaining programs, removes the folder, and resolves when both are done. */
  close(): Promise<void>;
};

// One pid per line. No command here may stop the others: a process may have ended, the folder may be partly removed.
const guardScript = `pids=''; while read -r pid; do pids="$pids $pid"; done; for pid in $pids; do kill -9 "$pid"; done; rm -rf "$1"`;

/** Guards the programs of one folder until `close` is called or this process ends. */
export function createChildProcesses(folder: string): ChildProcesses {
  const guard = spawn('sh', ['-c', guardScript, 'guard', folder], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  guard.unref();
  const guardEnded = once(guard, 'exit');
  const programs: Program[] = [];
  return {
    start(name, file, args) {
      const log = join(folder, `${name}.log`);
      const output = openSync(log, 'a');
      const env = { ...process.env, ...rareCollection };
      const child = spawn(file, args, { cwd: folder, env, detached: true, stdio: ['ignore', output, output] });
      closeSync(output);
      if (child.pid === undefined) throw new Error(`${file} could not be started`);
      child.unref();
      guard.stdin.write(`${child.pid}\n`);
      const program = createProgram(child, child.pid, log);
      programs.push(program);
      return program;
    },
    async close() {
      await Promise.all(programs.map((program) => program.stop('SIGKILL')));
      guard.ref();
      guard.stdin.end();
      await guardEnded;
    },
  };
}

function createProgram(child: ChildProcess, pid: number, log: string): Program {
  const exited = once(child, 'exit');
  const ended = (): string | undefined => {
    if (child.exitCode !== null) return `exit status ${child.exitCode}`;
    return child.signalCode === null ? undefined : `signal ${child.signalCode}`;
  };
  return {
    pid,
    log,
    exited: exited.then(() => ended() ?? ''),
    ended,
    signal: (signal) => {
      child.kill(signal);
    },
    async stop(signal = 'SIGTERM', graceSeconds = 5) {
      if (ended() !== undefined) return;
      child.ref();
      child.kill(signal);
      const killTimer = setTimeout(() => child.kill('SIGKILL'), graceSeconds * 1000);
      await exited;
      clearTimeout(killTimer);
    },
  };
}

/** Returns the last lines of a program's log, for an error message. */
export async function lastLines(log: string, count = 20): Promise<string> {
  const text = await readFile(log, 'utf8').catch(() => '');
  return text.trimEnd().split('\n').slice(-count).join('\n');
}
