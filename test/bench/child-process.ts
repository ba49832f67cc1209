// Processes of a figure: each on a processor or free, told and heard by messages, and what they cost as the kernel counts it.
import { type ChildProcess, fork } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

/** Ticks of the kernel's clock in a second: USER_HZ is 100 on Linux whatever the kernel's own is (proc_pid_stat(5)). */
const ticksPerSecond = 100;

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
