// The generated files of a project while `outrigger dev` runs: they follow the registry at the start, and with every
// saved source.
import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { toError, UserError } from '../core/errors.ts';
import { isRecord } from '../core/json.ts';
import { done, generate } from './generate.ts';
import { type Project, packageRoot } from './project.ts';

/** Brings the generated files up to date. Returns a line about them, or undefined if they were up to date. */
export async function generateAtStart({ registry, crdsOnly }: Project, root: string): Promise<string | undefined> {
  const differences = await generate(registry, root, { check: false, kinds: crdsOnly });
  if (differences.length === 0) return undefined;
  const files = differences.map(({ file, what }) => `${file} (${done[what]})`);
  return `generated from the registry: ${files.join(', ')}`;
}

/**
 * Brings the generated files up to date in a new process: a module that this process has loaded is not loaded again.
 * Returns the changed files. Throws UserError if the registry cannot be loaded.
 */
export async function regenerate(root: string): Promise<readonly string[]> {
  const program = path.join(packageRoot, 'bin/outrigger.js');
  try {
    const { stdout } = await promisify(execFile)(process.execPath, [program, 'generate'], { cwd: root });
    return stdout.split('\n').flatMap((line) => /^(?:updated|created|deleted): (.+)$/.exec(line)?.[1] ?? []);
  } catch (error) {
    const output = isRecord(error) && typeof error.stderr === 'string' ? error.stderr.trim() : '';
    throw new UserError(output === '' ? toError(error).message : output, { cause: error });
  }
}
