// What `osls package` writes: the packages of the functions, and the CloudFormation template.

import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { access, constants, mkdir } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { UserError } from 'outrigger/internal/core/errors';
import * as z from 'zod';
import { describeVersion } from '../project/deployed-version.ts';
import { sourceArguments } from '../project/own-module.ts';
import { errorCode } from './explain-error.ts';

const run = promisify(execFile);
const packagingMilliseconds = 120_000;
const noOutput = { stdout: '', stderr: '' };
/** The template that osls writes. */
export const packagedFile = '.serverless/cloudformation-template-update-stack.json';

/** The program of osls: a project has it in its root, this repository in infra. Throws UserError if it is missing. */
export function oslsProgram(root: string): string {
  const programs = ['infra', '.'].map((folder) => path.join(root, folder, 'node_modules/osls/bin/serverless.js'));
  const found = programs.find((program) => existsSync(program));
  if (found !== undefined) return found;
  throw new UserError('osls is not installed; run npm install osls, or in the repository of Outrigger: npm run osls');
}

/** Where osls writes its packages of the functions and the template. */
export const packageFolder = '.serverless';

/**
 * Runs `osls package`. Throws UserError with the output of osls if it fails. serverless.yml needs nothing from AWS, so
 * osls does not get the developer's credentials and endpoints.
 */
export async function runOsls(root: string, signal: AbortSignal, argv: readonly string[] = []): Promise<void> {
  const osls = oslsProgram(root);
  try {
    const home = path.join(root, '.outrigger', 'cache');
    const env = {
      PATH: '/usr/local/bin:/usr/bin:/bin',
      HOME: home,
      SLS_SCHEMA_CACHE_BASE_DIR: (await sharedSchemaCache()) ?? home,
      SLS_TELEMETRY_DISABLED: '1',
      CI: 'true',
      OUTRIGGER_BUNDLES: 'built',
      // Its git may be at another place of the PATH.
      OUTRIGGER_VERSION: (await describeVersion(root)) ?? '',
    };
    await run(process.execPath, [...sourceArguments, osls, 'package', ...argv], {
      cwd: root,
      env,
      signal,
      timeout: packagingMilliseconds,
    });
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    // osls writes its error to stdout, and progress to stderr.
    const { stdout, stderr } = z.object({ stdout: z.string(), stderr: z.string() }).catch(noOutput).parse(error);
    const output = stdout.replace(/^\s*Error:/, '').trim() || stderr.trim();
    throw new UserError(`serverless.yml: packaging failed; run npx osls package for details: ${output.slice(0, 500)}`, {
      cause: error,
    });
  }
}

/**
 * The folder in which osls keeps the validation of serverless.yml. Generating it takes three seconds of a processor, so
 * all projects of a user share it. Undefined if there is no home that can be written, as in some containers.
 */
async function sharedSchemaCache(): Promise<string | undefined> {
  try {
    // Throws for a user without a home, such as one that has a number only.
    let folder = homedir();
    if (!path.isAbsolute(folder)) return undefined;
    for (const name of ['.cache', 'outrigger', 'osls']) {
      folder = path.join(folder, name);
      // Not recursive: that does not end where a file system answers mkdir with ENOENT, such as /proc.
      await mkdir(folder).catch((error: unknown) => {
        if (errorCode(error) !== 'EEXIST') throw error;
      });
    }
    await access(folder, constants.W_OK);
    return folder;
  } catch {
    return undefined;
  }
}
