// Checks the types of the project in the background: the bundler removes types without checking them. The system runs
// on, and each run prints what it found.
import { type ChildProcess, execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { setPriority } from 'node:os';
import path from 'node:path';
import type { OutputLine } from './lines.ts';

/** The configuration that `outrigger new project` writes into a repository with one of its own. */
const ownConfig = 'tsconfig.outrigger.json';
/** Below the priority of the system that runs. */
const niceness = 10;
const maxErrors = 10;

/** The check of a project. */
export type TypeCheck = {
  /** Checks from now on what is saved now: a check that runs is ended. */
  start(): void;
  /** Ends a check that runs. */
  stop(): void;
};

/** Creates the check of a project. A project without the TypeScript compiler has none. */
export function createTypeCheck(root: string, onLine: (line: OutputLine) => void): TypeCheck {
  const compiler = compilerOf(root);
  const config = existsSync(path.join(root, ownConfig)) ? ownConfig : 'tsconfig.json';
  let running: ChildProcess | undefined;
  let hadErrors = false;

  function report(errors: readonly string[]): void {
    if (errors.length > 0) onLine({ source: 'types', text: errorText(errors) });
    else if (hadErrors) onLine({ source: 'types', text: 'no errors any more' });
    hadErrors = errors.length > 0;
  }
  function stop(): void {
    // The compiler catches SIGTERM, and finishes its check first.
    running?.kill('SIGKILL');
    running = undefined;
  }
  return {
    start: () => {
      stop();
      if (compiler === undefined || !existsSync(path.join(root, config))) return;
      const argv = [compiler, '--noEmit', '--pretty', 'false', '-p', config];
      const child = execFile(process.execPath, argv, { cwd: root }, (_, stdout) => {
        if (running === child) report(parseErrors(stdout));
      });
      running = child;
      lowerPriority(child.pid);
    },
    stop,
  };
}

/** Finds the compiler in the folder or above it, where npm installs it for a workspace. */
function compilerOf(folder: string): string | undefined {
  const file = path.join(folder, 'node_modules/typescript/bin/tsc');
  if (existsSync(file)) return file;
  const above = path.dirname(folder);
  return above === folder ? undefined : compilerOf(above);
}

/** Returns the errors of the compiler, each with its place as editors read it: `src/a.ts:3:5: TS2322: ...`. */
function parseErrors(output: string): readonly string[] {
  return output.split('\n').flatMap((line) => {
    const [, file, row, column, text] = /^(.+)\((\d+),(\d+)\): error (TS\d+: .+)$/.exec(line) ?? [];
    if (file !== undefined) return [`${file}:${row}:${column}: ${text}`];
    // An error of the configuration has no place.
    const [, general] = /^error (TS\d+: .+)$/.exec(line) ?? [];
    return general === undefined ? [] : [general];
  });
}

function errorText(errors: readonly string[]): string {
  const count = errors.length === 1 ? '1 error' : `${errors.length} errors`;
  const more = errors.length > maxErrors ? [`  and ${errors.length - maxErrors} more`] : [];
  return [
    `${count}; the system runs nevertheless`,
    ...errors.slice(0, maxErrors).map((one) => `  ${one}`),
    ...more,
  ].join('\n');
}

function lowerPriority(pid: number | undefined): void {
  try {
    if (pid !== undefined) setPriority(pid, niceness);
  } catch {
    // The process has ended already.
  }
}
