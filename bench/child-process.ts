// Child processes of a figure, which never outlive the bench; some communicate by messages. Also their CPU time as the
// kernel counts it.
import { type ChildProcess, fork, spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { createInterface, type Interface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/**
 * Ticks of the kernel's clock per second: USER_HZ is 100 on Linux, whatever the kernel's own frequency is
 * (proc_pid_stat(5)).
 */
const ticksPerSecond = 100;

const endMilliseconds = 10_000;
/** A shell that reads from a pipe of this process, which closes however this process ends. */
const guard = 'read -r _; kill -9 "$1"';

/** A program that runs until it is stopped, and never outlives the bench. */
export type GuardedProcess = {
  /** 0 if it could not be started. */
  readonly pid: number;
  /** The lines of its standard output. */
  readonly lines: Interface;
  /** The last line of its standard error; empty if there is none. */
  lastError(): string;
  /** Rejects with the last line of its standard error if it cannot be started, or ends. */
  readonly died: Promise<never>;
  /** Resolves when it has ended; SIGKILL follows after ten seconds. */
  end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void>;
};

/** Starts a program. */
export function startGuarded(
  program: string,
  args: readonly string[],
  options: { readonly env: NodeJS.ProcessEnv; readonly cwd?: string },
): GuardedProcess {
  const child = spawn(program, [...args], { ...options, stdio: ['pipe', 'pipe', 'pipe'] });
  let last = '';
  createInterface(child.stderr).on('line', (line) => {
    if (line.trim() !== '') last = line.trim();
  });
  const { promise: died, reject: fail } = Promise.withResolvers<never>();
  const { promise: ended, resolve: resolveEnded } = Promise.withResolvers<unknown>();
  died.catch(() => undefined);
  child.once('error', (error) => {
    fail(error);
    resolveEnded(undefined);
  });
  child.once('close', (code, signal) => {
    fail(new Error(last === '' ? `it ended with ${signal ?? code}` : last));
  });
  child.once('exit', resolveEnded);
  if (child.pid !== undefined) {
    const stdio = ['pipe', 'ignore', 'ignore'] as const;
    const guardProcess = spawn('sh', ['-c', guard, 'guard', `${child.pid}`], { detached: true, stdio: [...stdio] });
    guardProcess.unref();
    child.once('exit', () => guardProcess.kill('SIGKILL'));
  }
  return {
    pid: child.pid ?? 0,
    lines: createInterface(child.stdout),
    lastError: () => last,
    died,
    end: async (signal) => {
      const killTimer = setTimeout(() => child.kill('SIGKILL'), endMilliseconds);
      child.kill(signal);
      await ended;
      clearTimeout(killTimer);
    },
  };
}

/** A program of the bench that communicates by messages. */
export type MessageProcess<Request extends object, Response> = {
  /** Sends a request and resolves with the next message. */
  request(message: Request): Promise<Response>;
};

/** Starts one of the bench's programs, and resolves with its first message. It is stopped by `cleanup`. */
export async function startMessageProcess<Request extends object, Response>(
  cleanup: AsyncDisposableStack,
  file: string,
  args: readonly string[],
  parse: (message: unknown) => Response,
): Promise<MessageProcess<Request, Response> & { readonly first: Response }> {
  const child = fork(fileURLToPath(new URL(file, import.meta.url)), [...args], {
    execArgv: ['--disable-warning=ExperimentalWarning'],
  });
  cleanup.defer(() => void child.kill('SIGKILL'));
  const nextResponse = () => nextMessage(child, file).then(parse);
  const first = await nextResponse();
  return {
    first,
    request: async (message) => {
      const response = nextResponse();
      child.send(message);
      return await response;
    },
  };
}

/** Returns the CPU seconds of a process, over all its threads, in steps of 10 ms. */
export async function cpuSeconds(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  // The name, in brackets, may contain any character; the third field follows after it.
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
