// The service as osls packages it, in a folder of its own: serverless.yml, its included files, and stubs for bundles,
// because osls only zips them. Packaging and deploying then do not touch dist/ and .serverless/.
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { oslsProgram } from '../../src/dev/packaged-template.ts';
import { environment } from '../environment.ts';

/** The exit status of osls and its output: results and errors in `output`, everything else in `progress`. */
export type OslsResult = { readonly status: number; readonly output: string; readonly progress: string };

/** A copy of the service. */
export type ServiceFolder = {
  readonly folder: string;
  /** Adds stubs of the bundles of these functions. */
  addBundles(functions: readonly string[]): Promise<void>;
  /** Runs osls in the folder with only this environment and its caches: no credentials, no region, no profile. */
  osls(args: readonly string[], environment?: Readonly<Record<string, string>>): Promise<OslsResult>;
  /** Returns the template that osls packaged or deployed last. */
  template(): Promise<string>;
  remove(): Promise<void>;
};

/** The arguments of osls for values of `--param`. */
export function paramsOf(values: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(values).flatMap(([name, value]) => ['--param', `${name}=${value}`]);
}

/** The settings that the samples need. */
export const sampleSettings = { PLANT_URL: 'https://plant.example.com', PANTRY_URL: 'https://pantry.example.com' };

const source = path.resolve(import.meta.dirname, '../..');
const oslsMilliseconds = 400_000;

/** Creates the folder, with the name of another project if one is given. */
export async function serviceFolder(project?: string): Promise<ServiceFolder> {
  const folder = await mkdtemp(path.join(tmpdir(), 'outrigger-service-'));
  await cp(path.join(source, 'serverless.yml'), path.join(folder, 'serverless.yml'));
  await cp(path.join(source, 'infra/aws'), path.join(folder, 'infra/aws'), { recursive: true });
  const named = project === undefined ? {} : { outrigger: { project } };
  await writeFile(path.join(folder, 'package.json'), JSON.stringify({ type: 'module', ...named }));
  const addBundles = async (functions: readonly string[]) => {
    for (const name of functions) {
      const bundle = path.join(folder, 'dist', name);
      await mkdir(bundle, { recursive: true });
      await writeFile(path.join(bundle, 'index.mjs'), 'export const handler = () => {};');
    }
  };
  await addBundles((await readdir(path.join(source, 'functions'))).map((file) => path.basename(file, '.ts')));
  return {
    folder,
    addBundles,
    osls: (args, environment = {}) => runOsls(folder, args, environment),
    template: () => readFile(path.join(folder, '.serverless/cloudformation-template-update-stack.json'), 'utf8'),
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

function runOsls(cwd: string, args: readonly string[], more: Readonly<Record<string, string>>): Promise<OslsResult> {
  const program = oslsProgram(source);
  const { NODE_COMPILE_CACHE, SLS_SCHEMA_CACHE_BASE_DIR } = environment;
  const caches = { NODE_COMPILE_CACHE, SLS_SCHEMA_CACHE_BASE_DIR };
  const env = { PATH: '/usr/bin:/bin', HOME: cwd, SLS_TELEMETRY_DISABLED: '1', CI: 'true', ...caches, ...more };
  return new Promise((resolve) => {
    const options = { cwd, env, timeout: oslsMilliseconds };
    const child = execFile(process.execPath, [program, ...args], options, (_error, stdout, stderr) =>
      resolve({ status: child.exitCode ?? 1, output: stdout, progress: stderr }),
    );
  });
}
