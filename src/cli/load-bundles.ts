// Loads the bundles of the functions as Lambda does, before they are deployed: in their own folders, without the folder
// and the settings of the project. resync and wake contain the code of every controller. One that throws when it is
// loaded would stop the resync of all.
import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { UserError } from '../core/errors.ts';

/** The Node that bundles are for. An older one may not parse them. */
const bundleMajor = 24;
const loadSeconds = 60;

/** What Lambda sets in each function, but for credentials (AWS Lambda, "Defined runtime environment variables"). */
const lambdaEnvironment = {
  AWS_DEFAULT_REGION: 'us-east-1',
  AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x',
  AWS_LAMBDA_FUNCTION_MEMORY_SIZE: '256',
  AWS_LAMBDA_FUNCTION_NAME: 'function',
  AWS_LAMBDA_FUNCTION_VERSION: '$LATEST',
  AWS_REGION: 'us-east-1',
  LANG: 'en_US.UTF-8',
  PATH: '/var/lang/bin:/usr/local/bin:/usr/bin/:/bin:/opt/bin',
  TZ: ':UTC',
};

/** Prints the name and the error of the first bundle that cannot be loaded. */
const loadAll = `
  for (const name of process.argv.slice(1)) {
    process.chdir(name);
    await import(process.cwd() + '/index.mjs').catch((error) => {
      const [text, ...frames] = String(error?.stack ?? error).split('\\n');
      const frame = frames.find((line) => line.includes('src/')) ?? '';
      process.stdout.write('functions/' + name + '.ts: ' + text + frame.replace(/^ +/, ' '));
      process.exit(1);
    });
    process.chdir('..');
  }
  process.exit(0);
`;

/** Throws a UserError that names the first function whose bundle cannot be loaded. */
export async function requireLoadable(folder: string, names: readonly string[]): Promise<void> {
  if (Number.parseInt(process.versions.node, 10) < bundleMajor) return;
  const argv = ['--input-type=module', '-e', loadAll, ...names];
  const cwd = path.resolve(folder);
  const env = { ...lambdaEnvironment, LAMBDA_TASK_ROOT: cwd };
  const options = { cwd, env, timeout: loadSeconds * 1000 };
  await promisify(execFile)(process.execPath, argv, options).catch((error: Error & { readonly stdout?: string }) => {
    const problem = error.stdout ? error.stdout : error.message;
    throw new UserError(
      `${problem}; a function has neither the folder nor the settings of the project when it is loaded`,
    );
  });
}
