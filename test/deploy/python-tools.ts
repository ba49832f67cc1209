// What the deploy tests run of Python: the programs that requirements files pin, installed once per machine into virtual environments
// outside the tree, and single files of wheels that are too large to install for one program. `node test/deploy/python-tools.ts` does
// the first by hand; `npm run test:deploy` does so before anything else. A new version of Python gets an environment of its own.
import { execFile } from 'node:child_process';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { cachedFolder } from '../support/cached-folder.ts';
import { buildFromCommandLine } from '../support/go-tools.ts';

/** The installed programs. */
export interface PythonTools {
  /** The interpreter that has them. */
  readonly python: string;
  /** What the interpreter is to be given to run one of them: `execFile(python, program('moto_server', '-p', '0'))`. */
  program(name: string, ...args: readonly string[]): string[];
}

/** One file of a wheel. */
export interface WheelFile {
  /** Name, version and hashes, as in a requirements file: `aws-sam-cli==1.170.0 --hash=sha256:...`. */
  readonly requirement: string;
  /** Its path in the wheel. */
  readonly file: string;
}

const run = promisify(execFile);
const lowest = [3, 10] as const;
const installPython =
  'install Python 3.10 or newer with venv and pip (Debian: apt-get install python3-venv): https://www.python.org/downloads/';
const installMilliseconds = 900_000;

/**
 * Returns the programs that a requirements file pins, installing them first where this machine has not done so. Progress goes to stderr.
 * Throws with what to install where there is no Python.
 */
export async function pythonTools(
  file: 'requirements.txt' | 'requirements-checkov.txt' = 'requirements.txt',
  command = 'python3',
): Promise<PythonTools> {
  const requirements = join(import.meta.dirname, file);
  const version = await pythonVersion(command);
  const inputs = [await readFile(requirements, 'utf8'), version, process.platform, process.arch];
  const folder = await cachedFolder({ name: 'python-tools', inputs }, async (unfinished) => {
    process.stderr.write(`Installing what ${file} of the deploy tests names (once; about two minutes).\n`);
    await python(command, ['-m', 'venv', unfinished]);
    await python(join(unfinished, 'bin/python'), [...pip('install'), '--requirement', requirements]);
  });
  return { python: join(folder, 'bin/python'), program: (name, ...args) => ['-c', runProgram, name, ...args] };
}

/** Returns the path of a wheel's file, executable, fetching the wheel first where this machine has not done so. */
export async function wheelFile({ requirement, file }: WheelFile, command = 'python3'): Promise<string> {
  const inputs = [requirement, file, process.platform, process.arch];
  const folder = await cachedFolder({ name: 'wheel', inputs }, async (unfinished) => {
    await pythonVersion(command);
    const downloads = await mkdtemp(join(tmpdir(), 'outrigger-wheel-'));
    try {
      const asked = join(downloads, 'requirements.txt');
      await writeFile(asked, `${requirement}\n`);
      const options = ['--no-deps', '--only-binary', ':all:', '--require-hashes', '--requirement', asked];
      await python(command, [...pip('download'), ...options, '--dest', downloads]);
      await python(command, ['-c', extract, downloads, file, join(unfinished, 'file')]);
      await chmod(join(unfinished, 'file'), 0o755);
    } finally {
      await rm(downloads, { recursive: true, force: true });
    }
  });
  return join(folder, 'file');
}

// The scripts in bin/ begin with the path at which they were installed, which was another.
const runProgram = `import importlib.metadata, sys
[program] = importlib.metadata.entry_points(group='console_scripts', name=sys.argv[1])
sys.argv = sys.argv[1:]
sys.exit(program.load()())`;

const extract = `import glob, shutil, sys, zipfile
[wheel] = glob.glob(sys.argv[1] + '/*.whl')
with zipfile.ZipFile(wheel).open(sys.argv[2]) as source, open(sys.argv[3], 'wb') as target:
    shutil.copyfileobj(source, target)`;

function pip(action: string): readonly string[] {
  return ['-m', 'pip', action, '--quiet', '--disable-pip-version-check'];
}

async function pythonVersion(command: string): Promise<string> {
  const asked = run(command, ['-c', 'import sys; print(sys.version)']);
  const { stdout } = await asked.catch((error: unknown) => {
    throw new Error(`The deploy tests need Python, and ${command} does not run: ${installPython}`, { cause: error });
  });
  const [major = 0, minor = 0] = stdout.split('.').map(Number);
  if (major !== lowest[0] || minor < lowest[1])
    throw new Error(`Found Python ${stdout.split(' ')[0]}, which is too old for the deploy tests: ${installPython}`);
  return stdout;
}

async function python(command: string, args: readonly string[]): Promise<void> {
  await run(command, args, { timeout: installMilliseconds }).catch((error: unknown) => {
    const said = error instanceof Error && 'stderr' in error ? `: ${String(error.stderr).trim().slice(-1000)}` : '';
    throw new Error(`python ${args.slice(0, 3).join(' ')} failed${said}\n  ${installPython}`, { cause: error });
  });
}

async function interpreters(): Promise<Readonly<Record<string, string>>> {
  const tools = await pythonTools();
  const checkov = await pythonTools('requirements-checkov.txt');
  return { tools: tools.python, checkov: checkov.python };
}

if (import.meta.main) await buildFromCommandLine(interpreters());
