// Virtual environments of Python for tests, with what a requirements file pins, made once per machine outside the tree (cached-folder.ts).
// A new version of Python gets an environment of its own.
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { cachedFolder } from './cached-folder.ts';

/** What to install. */
export interface PythonEnvironment {
  /** The requirements file. */
  readonly requirements: string;
  /** How the environment's folder begins. */
  readonly name: string;
  /** What is installed, and how long that takes. */
  readonly announcement: string;
}

const run = promisify(execFile);
const lowest = [3, 10] as const;
const installPython =
  'install Python 3.10 or newer with venv and pip (Debian: apt-get install python3-venv): https://www.python.org/downloads/';
const installMilliseconds = 900_000;

/**
 * Returns the path of an interpreter that has what the file pins, installing that first where this machine has not done so. Progress goes
 * to stderr. Throws with what to install where there is no Python. Scripts in its bin/ do not run: they begin with the path at which they
 * were installed, which was another.
 */
export async function pythonEnvironment(
  { requirements, name, announcement }: PythonEnvironment,
  command = 'python3',
): Promise<string> {
  const version = await pythonVersion(command);
  const inputs = [await readFile(requirements, 'utf8'), version, process.platform, process.arch];
  const folder = await cachedFolder({ name, inputs }, async (unfinished) => {
    process.stderr.write(`Installing ${announcement}.\n`);
    await runPython(command, ['-m', 'venv', unfinished]);
    await runPython(join(unfinished, 'bin/python'), [...pip('install'), '--requirement', requirements]);
  });
  return join(folder, 'bin/python');
}

/** Returns the arguments that make Python do one of pip's actions. */
export function pip(action: string): readonly string[] {
  return ['-m', 'pip', action, '--quiet', '--disable-pip-version-check'];
}

/** Returns what Python says of its version. Throws with what to install where there is none, or one that is too old. */
export async function pythonVersion(command: string): Promise<string> {
  const asked = run(command, ['-c', 'import sys; print(sys.version)']);
  const { stdout } = await asked.catch((error: unknown) => {
    throw new Error(`Python is needed, and ${command} does not run: ${installPython}`, { cause: error });
  });
  const [major = 0, minor = 0] = stdout.split('.').map(Number);
  if (major !== lowest[0] || minor < lowest[1])
    throw new Error(`Found Python ${stdout.split(' ')[0]}, which is too old: ${installPython}`);
  return stdout;
}

/** Runs Python. Throws with the end of what it said. */
export async function runPython(command: string, args: readonly string[]): Promise<void> {
  await run(command, args, { timeout: installMilliseconds }).catch((error: unknown) => {
    const said = error instanceof Error && 'stderr' in error ? `: ${String(error.stderr).trim().slice(-1000)}` : '';
    throw new Error(`python ${args.slice(0, 3).join(' ')} failed${said}\n  ${installPython}`, { cause: error });
  });
}
