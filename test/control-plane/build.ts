// Builds the real control plane of the cluster tests, once per machine: etcd, kube-apiserver, kube-controller-manager and
// kubectl, from the Go modules that go.mod here pins. The result lives outside the tree, under a name that changes with every
// input, so that a fresh clone finds it and a new version never meets an old binary. Run it by hand with
// `node test/control-plane/build.ts`; `npm run test:cluster` does so first.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { access, mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';

/** The programs of a control plane, as absolute paths. */
export interface ControlPlaneBinaries {
  readonly etcd: string;
  readonly apiServer: string;
  readonly controllerManager: string;
  readonly kubectl: string;
}

const KUBERNETES_VERSION = { major: '1', minor: '36', git: 'v1.36.3' };
const LOWEST_GO = { major: 1, minor: 26 };
const INSTALL_GO = 'install Go 1.26 or newer: https://go.dev/doc/install';
const PROGRESS_SECONDS = 10;

// Without these flags the programs call themselves v0.0.0, and clients that ask for the version believe it.
const VERSION_PACKAGE = 'k8s.io/component-base/version';
const LINKER_FLAGS = [
  '-s -w',
  `-X ${VERSION_PACKAGE}.gitVersion=${KUBERNETES_VERSION.git}`,
  `-X ${VERSION_PACKAGE}.gitMajor=${KUBERNETES_VERSION.major}`,
  `-X ${VERSION_PACKAGE}.gitMinor=${KUBERNETES_VERSION.minor}`,
].join(' ');
const BUILD_FLAGS = ['-trimpath', '-buildvcs=false', '-ldflags', LINKER_FLAGS];

/**
 * Returns the control plane's programs, building them first where this machine has not done so: about five minutes and 4 GB
 * of Go caches when cold, seconds when Go's caches are warm, nothing when the folder exists. Reports progress to `print`.
 */
export async function controlPlaneBinaries(print: (line: string) => void = printLine): Promise<ControlPlaneBinaries> {
  const folder = await cacheFolder();
  const binaries = {
    etcd: join(folder, 'server'),
    apiServer: join(folder, 'kube-apiserver'),
    controllerManager: join(folder, 'kube-controller-manager'),
    kubectl: join(folder, 'kubectl'),
  };
  if (!(await exists(folder))) await build(folder, print);
  for (const file of Object.values(binaries)) {
    if (!(await exists(file))) throw new Error(`${file} is missing: remove ${folder} and run this again`);
  }
  return binaries;
}

/** Builds next to the final folder and renames, so that a build that was interrupted leaves nothing that looks finished. */
async function build(folder: string, print: (line: string) => void): Promise<void> {
  await requireGo();
  await mkdir(join(folder, '..'), { recursive: true });
  const unfinished = await mkdtemp(`${folder}.unfinished-`);
  try {
    print(
      `Building Kubernetes ${KUBERNETES_VERSION.git} and etcd for the cluster tests (once; about five minutes when cold).`,
    );
    await step('1/2 download modules', ['mod', 'download'], print);
    await step('2/2 compile', ['build', '-v', ...BUILD_FLAGS, '-o', `${unfinished}/`, 'tool'], print);
    await rename(unfinished, folder).catch(async (error: unknown) => {
      if (!(await exists(folder))) throw error; // else another process finished the same build first: its result is as good
    });
    print(`Built into ${folder}`);
  } finally {
    await rm(unfinished, { recursive: true, force: true });
  }
}

async function step(title: string, args: readonly string[], print: (line: string) => void): Promise<void> {
  const started = Date.now();
  const elapsed = (): string => `${Math.round((Date.now() - started) / 1000)} s`;
  let packages = 0;
  const counted = (): string => (packages > 0 ? `, ${packages} packages` : '');
  print(`${title} ...`);
  const ticker = setInterval(() => print(`${title}: ${elapsed()}${counted()} ...`), PROGRESS_SECONDS * 1000);
  try {
    await runGo(args, (lines) => {
      packages += lines;
    });
    print(`${title}: done in ${elapsed()}`);
  } finally {
    clearInterval(ticker);
  }
}

async function requireGo(): Promise<void> {
  const version = await runGo(['env', 'GOVERSION']).catch((error: unknown) => {
    throw new Error(`The cluster tests build a real Kubernetes control plane and need Go. ${INSTALL_GO}`, {
      cause: error,
    });
  });
  const [, major = '0', minor = '0'] = /^go(\d+)\.(\d+)/.exec(version.trim()) ?? [];
  const newEnough =
    Number(major) === LOWEST_GO.major ? Number(minor) >= LOWEST_GO.minor : Number(major) > LOWEST_GO.major;
  if (!newEnough) throw new Error(`Found Go ${version.trim()}, which is too old for the control plane. ${INSTALL_GO}`);
}

/** Runs `go` in the module's folder and returns its standard output; its standard error is the message when it fails. */
function runGo(args: readonly string[], onErrorLines: (count: number) => void = () => {}): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn('go', args, { cwd: import.meta.dirname, stdio: ['ignore', 'pipe', 'pipe'] });
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

async function cacheFolder(): Promise<string> {
  const hash = createHash('sha256');
  for (const file of ['go.mod', 'go.sum']) hash.update(await readFile(join(import.meta.dirname, file)));
  hash.update(JSON.stringify([BUILD_FLAGS, process.platform, process.arch]));
  const cache = process.env.XDG_CACHE_HOME || join(homedir(), '.cache');
  return join(cache, 'outrigger', `control-plane-${hash.digest('hex').slice(0, 16)}`);
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

function printLine(line: string): void {
  process.stderr.write(`${line}\n`);
}

if (import.meta.main) {
  await controlPlaneBinaries().then(
    (binaries) => process.stdout.write(`${Object.values(binaries).join('\n')}\n`),
    (error: unknown) => {
      const causes = [];
      for (let at = error; at instanceof Error; at = at.cause) causes.push(at.message);
      process.stderr.write(`${causes.join('\n  ')}\n`);
      process.exitCode = 1;
    },
  );
}
