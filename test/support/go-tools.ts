// Programs for tests from Go modules that a go.mod pins as tools, built once per machine (cached-folder.ts).
import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { cachedFolder, exists } from './cached-folder.ts';

/** The programs to build. */
export type GoTools = {
  /** The folder of go.mod and go.sum. */
  readonly module: string;
  /** The prefix of the programs' folder. */
  readonly name: string;
  /** A text with the programs and the expected time. */
  readonly announcement: string;
  /** The file names of the programs, which must exist at the end. */
  readonly programs: readonly string[];
  readonly flags: readonly string[];
  /** Our own sources in the module's folder; a change of them rebuilds the programs. */
  readonly sources?: readonly string[];
};

const lowestGo = { major: 1, minor: 26 };
const installGo = 'install Go 1.26 or newer: https://go.dev/doc/install';
const progressSeconds = 10;

/**
 * Returns the folder of the programs, and builds them first if this machine has not done so. Reports progress to
 * `print`.
 */
export async function buildGoTools(tools: GoTools, print: (line: string) => void = printLine): Promise<string> {
  const { module, name, flags, sources = [] } = tools;
  const files = ['go.mod', 'go.sum', ...sources].map((file) => readFile(join(module, file), 'utf8'));
  const inputs = [...(await Promise.all(files)), JSON.stringify([flags, process.platform, process.arch])];
  const folder = await cachedFolder({ name, inputs }, (unfinished) => build(tools, unfinished, print));
  for (const program of tools.programs) {
    const file = join(folder, program);
    if (!(await exists(file))) throw new Error(`${file} is missing: remove ${folder} and run this again`);
  }
  return folder;
}

/** Builds as the whole task of a script, and prints the paths of the programs. */
export async function buildFromCommandLine(built: Promise<object>): Promise<void> {
  await built.then(
    (programs) => process.stdout.write(`${Object.values(programs).join('\n')}\n`),
    (error: unknown) => {
      const causes = [];
      for (let at = error; at instanceof Error; at = at.cause) causes.push(at.message);
      process.stderr.write(`${causes.join('\n  ')}\n`);
      process.exitCode = 1;
    },
  );
}

async function build(
  { module, announcement, flags }: GoTools,
  folder: string,
  print: (line: string) => void,
): Promise<void> {
  await requireGo(module);
  print(`Building ${announcement}.`);
  await step('1/2 download modules', module, ['mod', 'download'], print);
  await step('2/2 compile', module, ['build', '-v', ...flags, '-o', `${folder}/`, 'tool'], print);
}

async function step(
  title: string,
  module: string,
  args: readonly string[],
  print: (line: string) => void,
): Promise<void> {
  const started = Date.now();
  const elapsed = (): string => `${Math.round((Date.now() - started) / 1000)} s`;
  let packages = 0;
  const packageCount = (): string => (packages > 0 ? `, ${packages} packages` : '');
  print(`${title} ...`);
  const progressTimer = setInterval(() => print(`${title}: ${elapsed()}${packageCount()} ...`), progressSeconds * 1000);
  try {
    await runGo(module, args, (lines) => {
      packages += lines;
    });
    print(`${title}: done in ${elapsed()}`);
  } finally {
    clearInterval(progressTimer);
  }
}

async function requireGo(module: string): Promise<void> {
  const version = await runGo(module, ['env', 'GOVERSION']).catch((error: unknown) => {
    throw new Error(`The cluster tests build real parts from source and need Go. ${installGo}`, { cause: error });
  });
  const [, major = '0', minor = '0'] = /^go(\d+)\.(\d+)/.exec(version.trim()) ?? [];
  const newEnough = Number(major) === lowestGo.major ? Number(minor) >= lowestGo.minor : Number(major) > lowestGo.major;
  if (!newEnough) throw new Error(`Found Go ${version.trim()}, which is too old for the cluster tests. ${installGo}`);
}

/** Runs `go` in the module's folder and returns its standard output; an error has its standard error as the message. */
function runGo(
  module: string,
  args: readonly string[],
  onErrorLines: (count: number) => void = () => {},
): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn('go', args, { cwd: module, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    let errors = '';
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      output += chunk;
    });
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
      errors = (errors + chunk).slice(-4000);
      onErrorLines(chunk.split('\n').length - 1);
    });
    child.on('error', reject);
    child.on('close', (code) => {
      if (code === 0) resolve(output);
      else reject(new Error(`go ${args[0]} ended with ${code}: ${errors}`));
    });
  });
}

function printLine(line: string): void {
  process.stderr.write(`${line}\n`);
}
