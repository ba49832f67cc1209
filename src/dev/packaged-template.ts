// The CloudFormation template that `osls package` writes, made again only when what goes into it has changed: packaging
// takes seconds, and nothing of ours may differ between this machine and AWS.
import { execFile } from 'node:child_process';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { hashFiles } from './hash-files.ts';
import { DevProblem } from './explain-error.ts';

const run = promisify(execFile);
const packagingMilliseconds = 120_000;
const inputs = ['serverless.yml', 'infra/aws', 'package-lock.json'];
const written = '.serverless/cloudformation-template-update-stack.json';

/**
 * Reads the template, packaging first when it is stale. The bundles must be built: packaging zips them.
 * Throws DevProblem with osls' own words when it fails.
 */
export async function packagedTemplate(root: string, signal: AbortSignal): Promise<string> {
  const hash = await hashFiles(root, inputs);
  const kept = path.join(root, '.outrigger', 'cache', `template-${hash}.json`);
  const cached = await readFile(kept, 'utf8').catch(() => undefined);
  if (cached !== undefined) return cached;
  await runOsls(root, signal);
  const text = await readFile(path.join(root, written), 'utf8');
  const folder = path.dirname(kept);
  await mkdir(folder, { recursive: true });
  for (const name of await readdir(folder)) {
    if (name.startsWith('template-')) await rm(path.join(folder, name), { force: true });
  }
  await writeFile(`${kept}.new`, text);
  await rename(`${kept}.new`, kept);
  return text;
}

async function runOsls(root: string, signal: AbortSignal): Promise<void> {
  const osls = path.join(root, 'node_modules/osls/bin/serverless.js');
  try {
    // Nothing in serverless.yml asks AWS; a developer's own credentials and endpoints are none of its business.
    const environment = {
      PATH: '/usr/local/bin:/usr/bin:/bin',
      HOME: path.join(root, '.outrigger', 'cache'),
      SLS_TELEMETRY_DISABLED: '1',
      CI: 'true',
    };
    await run(process.execPath, [osls, 'package'], {
      cwd: root,
      env: environment,
      signal,
      timeout: packagingMilliseconds,
    });
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    const output =
      error instanceof Error && 'stdout' in error && 'stderr' in error ? `${error.stdout} ${error.stderr}` : '';
    throw new DevProblem(
      `serverless.yml: packaging failed; run npx osls package to see it: ${output.trim().slice(-500)}`,
      {
        cause: error,
      },
    );
  }
}
