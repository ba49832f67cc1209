// What osls makes of serverless.yml and the pieces beside it, with stubs for bundles and nothing to ask AWS with.
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

const source = path.resolve(import.meta.dirname, '../..');

/** Packages a stage, with parameters as `--param` takes them; resolves with the template's text. */
export async function packageTemplate(stage: string, parameters: readonly string[] = []): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'outrigger-package-'));
  try {
    await cp(path.join(source, 'serverless.yml'), path.join(folder, 'serverless.yml'));
    await cp(path.join(source, 'infra/aws'), path.join(folder, 'infra/aws'), { recursive: true });
    await writeFile(path.join(folder, 'package.json'), '{}');
    for (const file of await readdir(path.join(source, 'functions'))) {
      const bundle = path.join(folder, 'dist', path.basename(file, '.ts'));
      await mkdir(bundle, { recursive: true });
      await writeFile(path.join(bundle, 'index.mjs'), 'export const handler = () => {};');
    }
    // No credentials, no region, no profile.
    const env = { PATH: '/usr/bin:/bin', HOME: folder, SLS_TELEMETRY_DISABLED: '1', CI: 'true' };
    const osls = path.join(source, 'node_modules/osls/bin/serverless.js');
    const flags = parameters.flatMap((parameter) => ['--param', parameter]);
    const argv = [osls, 'package', '--stage', stage, ...flags];
    await promisify(execFile)(process.execPath, argv, { cwd: folder, env });
    return await readFile(path.join(folder, '.serverless/cloudformation-template-update-stack.json'), 'utf8');
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
