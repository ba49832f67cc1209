// A running `outrigger dev`, and other commands of a project, as a person sees them: the lines of the terminal.
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { environmentOf, packedEnvironment } from '../packages.ts';
import type { Project } from './project.ts';

/** A running system. */
export type RunningDev = {
  /** Resolves with the lines from a mark on, when one of them matches. Rejects after the time, with all of them. */
  until(pattern: RegExp, mark?: number): Promise<readonly string[]>;
  /** The number of lines so far. */
  mark(): number;
  /** Its process. */
  readonly child: ChildProcess;
  /** Resolves with all lines and the exit status when it has ended. */
  readonly ended: Promise<Ended>;
  /** Ends the system, as Ctrl-C does. */
  stop(): Promise<void>;
};

const waitMilliseconds = 150_000;

/** Starts `outrigger dev` with these options. */
export function startDev(
  { folder, program }: Pick<Project, 'folder' | 'program'>,
  ...options: readonly string[]
): RunningDev {
  const child: ChildProcess = spawn(process.execPath, [program, 'dev', ...options], {
    cwd: folder,
    env: environmentOf(program),
  });
  const lines: string[] = [];
  const listeners = new Set<() => void>();
  for (const input of [child.stdout, child.stderr]) {
    if (input === null) continue;
    createInterface({ input }).on('line', (line) => {
      lines.push(line);
      for (const listener of [...listeners]) listener();
    });
  }
  return {
    child,
    ended: once(child, 'close').then(() => ({ lines, status: child.exitCode ?? 1 })),
    mark: () => lines.length,
    until: async (pattern, mark = 0) =>
      await new Promise((resolve, reject) => {
        const timer = setTimeout(() => {
          reject(new Error(`outrigger dev never printed ${pattern}:\n${lines.join('\n')}`));
        }, waitMilliseconds);
        const look = () => {
          if (!lines.slice(mark).some((line) => pattern.test(line))) return;
          listeners.delete(look);
          clearTimeout(timer);
          resolve(lines.slice(mark));
        };
        listeners.add(look);
        look();
      }),
    stop: async () => {
      if (child.exitCode !== null) return;
      child.kill('SIGINT');
      await once(child, 'close');
    },
  };
}

/** The lines of both streams of a program that has ended, and its exit status. */
export type Ended = { readonly lines: readonly string[]; readonly status: number };

/** Runs a command of the project to its end. */
export async function runCommand(
  { folder, program }: Pick<Project, 'folder' | 'program'>,
  ...argv: readonly string[]
): Promise<Ended> {
  return await runProgram(process.execPath, [program, ...argv], { cwd: folder });
}

/** Runs a command of the project that must succeed. Rejects with its lines otherwise. */
export async function succeed(
  project: Pick<Project, 'folder' | 'program'>,
  ...argv: readonly string[]
): Promise<readonly string[]> {
  const { lines, status } = await runCommand(project, ...argv);
  if (status !== 0) throw new Error(`outrigger ${argv.join(' ')} ended with ${status}:\n${lines.join('\n')}`);
  return lines;
}

/** Runs a program to its end. */
export async function runProgram(
  file: string,
  argv: readonly string[],
  options: { readonly cwd: string; readonly env?: NodeJS.ProcessEnv },
): Promise<Ended> {
  const child = execFile(file, [...argv], { env: packedEnvironment(), ...options });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (part) => {
      text += String(part);
    });
  }
  await once(child, 'close');
  return { lines: text.trimEnd().split('\n'), status: child.exitCode ?? 1 };
}
