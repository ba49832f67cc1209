// Virtual environments of Python for tests, with the packages that a requirements file pins, created once per machine
// outside of the tree (cached-folder.ts). A new version of Python gets a new environment.
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { cachedFolder } from './cached-folder.ts';

/** The environment to create. */
export type PythonEnvironment = {
  /** The requirements file. */
  readonly requirements: string;
  /** The prefix of the environment's folder. */
  readonly name: string;
  /** A text with the packages and the expected time. */
  readonly announcement: string;
};

const run = promisify(execFile);
const lowest = [3, 10] as const;
const installPython =
  'install Python 3.10 or newer with venv and pip (Debian: apt-get install python3-venv): https://www.python.org/downloads/';
const installMilliseconds = 900_000;

/**
 * Returns the path of an interpreter with the pinned packages, and installs them first if this machine has not done so.
 * Progress goes to stderr. Throws with the missing program if there is no Python. Scripts in its bin/ do not run: their
 * first line contains the path of the installation, which was another.
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

/** Returns the arguments for an action of pip. */
export function pip(action: string): readonly string[] {
  return ['-m', 'pip', action, '--quiet', '--disable-pip-version-check'];
}

/** Returns Python's version text. Throws with the missing program if Python is missing or too old. */
export async function pythonVersion(command: string): Promise<string> {
  const version = run(command, ['-c', 'import sys; print(sys.version)']);
  const { stdout } = await version.catch((error: unknown) => {
    throw new Error(`Python is needed, and ${command} does not run: ${installPython}`, { cause: error });
  });
  const [major = 0, minor = 0] = stdout.split('.').map(Number);
  if (major !== lowest[0] || minor < lowest[1])
    throw new Error(`Found Python ${stdout.split(' ')[0]}, which is too old: ${installPython}`);
  return stdout;
}

/** Runs Python. Throws with the end of its error output. */
export async function runPython(command: string, args: readonly string[]): Promise<void> {
  await run(command, args, { timeout: installMilliseconds }).catch((error: unknown) => {
    const errorOutput =
      error instanceof Error && 'stderr' in error ? `: ${String(error.stderr).trim().slice(-1000)}` : '';
    throw new Error(`python ${args.slice(0, 3).join(' ')} failed${errorOutput}\n  ${installPython}`, { cause: error });
  });
}
