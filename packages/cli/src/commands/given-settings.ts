// The settings of controllers that a person gives on one machine: by --set, in the environment, or in the file .env, in
// this order. The local system and a dry run against it read the same ones.
import path from 'node:path';
import { parseEnv } from 'node:util';
import type { Environment } from 'outrigger/internal/api/definition';
import { UserError } from 'outrigger/internal/core/errors';
import { readTextFile } from '../project/project.ts';

/** Where values come from. */
export type SettingSources = {
  /** The values of --set, each `NAME=value`. */
  readonly set: readonly string[];
  readonly environment: Environment;
  /** The project's folder, with the file .env. */
  readonly root: string;
};

/** Returns the variables that have a value. An empty one counts as not given. Throws UserError. */
export async function readGiven({ set, environment, root }: SettingSources): Promise<Environment> {
  const file = await readEnvFile(path.join(root, '.env'));
  const all = { ...file, ...environment, ...Object.fromEntries(set.map(parseSet)) };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined && value !== ''));
}

/** Splits the value of --set. Throws UserError. */
export function parseSet(text: string): readonly [name: string, value: string] {
  const at = text.indexOf('=');
  if (at < 1) throw new UserError(`--set ${text}: write it as NAME=value`);
  return [text.slice(0, at), text.slice(at + 1)];
}

async function readEnvFile(file: string): Promise<Environment> {
  return parseEnv((await readTextFile(file)) ?? '');
}
