// The terminal of a user who follows a document: each command has a process group of its own, so that all its processes
// can be stopped.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

/** Starts a command in a shell. */
export function startCommand(command: string, cwd: string, env: NodeJS.ProcessEnv): ChildProcess {
  return spawn('sh', ['-c', command], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
}

/** Resolves with the output and the status of a command when it has ended. */
export async function untilEnded(
  child: ChildProcess,
): Promise<{ readonly status: number | null; readonly output: string }> {
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (text) => (output += text));
  await once(child, 'close');
  return { status: child.exitCode, output };
}

/** Resolves with the first line that matches. Rejects when the command ends before. */
export async function untilLine(child: ChildProcess, pattern: RegExp): Promise<string> {
  const all: string[] = [];
  return await new Promise((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr]) {
      if (stream === null) continue;
      createInterface(stream).on('line', (text) => {
        all.push(text);
        if (pattern.test(text)) resolve(text);
      });
    }
    child.once('close', () => reject(new Error(`ended: ${all.join('\n')}`)));
  });
}

/** Stops a command, as Ctrl-C does. */
export async function stopCommand(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.pid === undefined) return;
  const closed = once(child, 'close');
  process.kill(-child.pid, 'SIGINT');
  await closed;
}
