// Processes of a figure: none outlives the bench, some are told and heard by messages; and what they cost as the kernel counts it.
import { type ChildProcess, fork, spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { createInterface, type Interface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** Ticks of the kernel's clock in a second: USER_HZ is 100 on Linux whatever the kernel's own is (proc_pid_stat(5)). */
const ticksPerSecond = 100;

const endMilliseconds = 10_000;
/** Holds the reading end of a pipe from us, which closes however we end. */
const guard = 'read -r _; kill -9 "$1"';

/** A program that is not to end before it is told to, and never outlives the bench. */
export type HeldProcess = {
  /** 0 when it could not be started. */
  readonly pid: number;
  /** The lines of its standard output. */
  readonly lines: Interface;
  /** The last line of its standard error; empty when there is none. */
  said(): string;
  /** Rejects with the last line of its standard error when it cannot be started, or ends. */
  readonly died: Promise<never>;
  /** Resolves when it is gone; SIGKILL follows after ten seconds. */
  end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void>;
};

/** Starts a program of anybody's. */
export function startHeld(
  program: string,
  args: readonly string[],
  options: { readonly env: NodeJS.ProcessEnv; readonly cwd?: string },
): HeldProcess {
  const child = spawn(program, [...args], { ...options, stdio: ['pipe', 'pipe', 'pipe'] });
  let last = '';
  createInterface(child.stderr).on('line', (line) => {
    if (line.trim() !== '') last = line.trim();
  });
  const { promise: died, reject: fail } = Promise.withResolvers<never>();
  const { promise: ended, resolve: beEnded } = Promise.withResolvers<unknown>();
  died.catch(() => undefined);
  child.once('error', (error) => {
    fail(error);
    beEnded(undefined);
  });
  child.once('close', (code, signal) => {
    fail(new Error(last === '' ? `it ended with ${signal ?? code}` : last));
  });
  child.once('exit', beEnded);
  if (child.pid !== undefined) {
    const stdio = ['pipe', 'ignore', 'ignore'] as const;
    const guarding = spawn('sh', ['-c', guard, 'guard', `${child.pid}`], { detached: true, stdio: [...stdio] });
    guarding.unref();
    child.once('exit', () => guarding.kill('SIGKILL'));
  }
  return {
    pid: child.pid ?? 0,
    lines: createInterface(child.stdout),
    said: () => last,
    died,
    end: async (signal) => {
      const patience = setTimeout(() => child.kill('SIGKILL'), endMilliseconds);
      child.kill(signal);
      await ended;
      clearTimeout(patience);
    },
  };
}

/** A program of the bench's own that speaks by messages. */
export type Spoken<Asked extends object, Says> = {
  /** Sends a question and resolves with the next message. */
  ask(question: Asked): Promise<Says>;
};

/** Starts one of the bench's programs, and resolves with its first message. It ends with `parts`. */
export async function startSpoken<Asked extends object, Says>(
  parts: AsyncDisposableStack,
  file: string,
  args: readonly string[],
  parse: (message: unknown) => Says,
): Promise<Spoken<Asked, Says> & { readonly first: Says }> {
  const child = fork(fileURLToPath(new URL(file, import.meta.url)), [...args], {
    execArgv: ['--disable-warning=ExperimentalWarning'],
  });
  parts.defer(() => void child.kill('SIGKILL'));
  const heard = () => nextMessage(child, file).then(parse);
  const first = await heard();
  return {
    first,
    ask: async (question) => {
      const answer = heard();
      child.send(question);
      return await answer;
    },
  };
}

/** Returns the CPU seconds that a process has used, of all its threads, in steps of 10 ms. */
export async function cpuSeconds(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  // The name, in brackets, may contain anything; after it the third field follows.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
}

async function nextMessage(child: ChildProcess, name: string): Promise<unknown> {
  return await new Promise((resolve, reject) => {
    const ended = (code: number | null) => reject(new Error(`${name} ended with ${code}`));
    child.once('exit', ended);
    child.once('message', (message) => {
      child.off('exit', ended);
      resolve(message);
    });
  });
}
