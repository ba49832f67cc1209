// The service as osls packages it, in a folder of its own: serverless.yml, the controllers of this repository, and stubs
// for bundles, because osls only zips them. Packaging and deploying then do not touch dist/ and .serverless/.
import { execFile } from 'node:child_process';
import { appendFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { oslsProgram } from '@outrigger/cli/dev/packaged-template';
import * as z from 'zod';
import { environment } from '../environment.ts';

/** The exit status of osls and its output: results and errors in `output`, everything else in `progress`. */
export type OslsResult = { readonly status: number; readonly output: string; readonly progress: string };

/** A copy of the service. */
export type ServiceFolder = {
  readonly folder: string;
  /** Replaces the controllers: the file, from `test`, and the name of an exported registry. */
  setRegistry(file: string, name: string): Promise<void>;
  /** Adds lines to serverless.yml. */
  extend(text: string): Promise<void>;
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
export async function serviceFolder(project = 'outrigger'): Promise<ServiceFolder> {
  const folder = await mkdtemp(path.join(tmpdir(), 'outrigger-service-'));
  const serverless = path.join(folder, 'serverless.yml');
  const text = await readFile(path.join(source, 'serverless.yml'), 'utf8');
  const own = text
    .replace('service: outrigger', `service: ${project}`)
    .replace('./packages/cli/src/serverless/plugin.ts', './plugin.mjs');
  // osls takes a plugin by a path within the service.
  const plugin = path.join(source, 'packages/cli/src/serverless/plugin.ts');
  await writeFile(path.join(folder, 'plugin.mjs'), `export { default } from ${JSON.stringify(plugin)};\n`);
  await writeFile(serverless, own);
  await writeFile(
    path.join(folder, 'package.json'),
    JSON.stringify({ type: 'module', version: '1.4.0', outrigger: { project } }),
  );
  await mkdir(path.join(folder, 'src/controllers'), { recursive: true });
  const setModule = async (file: string, name: string) => {
    const text = `export { ${name} as registry } from ${JSON.stringify(file)};\n`;
    await writeFile(path.join(folder, 'src/controllers/registry.ts'), text);
    const registry = z.array(z.object({ name: z.string() })).parse(Object(await import(file))[name]);
    for (const function_ of [...registry.map((one) => one.name), 'timers', 'resync', 'wake']) {
      const bundle = path.join(folder, 'dist', function_);
      await mkdir(bundle, { recursive: true });
      await writeFile(path.join(bundle, 'index.mjs'), 'export const handler = () => {};');
    }
  };
  await setModule(path.join(source, 'src/controllers/registry.ts'), 'registry');
  return {
    folder,
    setRegistry: async (file, name) => await setModule(path.join(source, 'test', file), name),
    extend: async (more) => await appendFile(serverless, more),
    osls: (args, environment = {}) => runOsls(folder, args, environment),
    template: () => readFile(path.join(folder, '.serverless/cloudformation-template-update-stack.json'), 'utf8'),
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

function runOsls(cwd: string, args: readonly string[], more: Readonly<Record<string, string>>): Promise<OslsResult> {
  const program = oslsProgram(source);
  const env = {
    PATH: '/usr/bin:/bin',
    HOME: cwd,
    SLS_TELEMETRY_DISABLED: '1',
    CI: 'true',
    OUTRIGGER_BUNDLES: 'built',
    ...environment,
    ...more,
  };
  return new Promise((resolve) => {
    const options = { cwd, env, timeout: oslsMilliseconds };
    const child = execFile(process.execPath, [program, ...args], options, (_error, stdout, stderr) =>
      resolve({ status: child.exitCode ?? 1, output: stdout, progress: stderr }),
    );
  });
}
