// The settings of controllers for `outrigger dev`: from --set, from the environment, or from the file .env, in this
// order. Settings of simulated systems have the address of the simulator unless they are given.
import { access, constants, readFile } from 'node:fs/promises';
import path from 'node:path';
import { parseEnv } from 'node:util';
import type { ControllerDefinition, Environment } from '../api/definition.ts';
import { isSecret } from '../api/secret.ts';
import { UserError } from '../core/errors.ts';
import { formatZodIssues } from '../core/json.ts';
import { errorCode } from '../dev/explain-error.ts';
import { simulatedParameters } from '../dev/local-stack.ts';
import { logicalId } from '../generate/aws/names.ts';
import { environmentNames } from '../generate/aws/parameters.ts';

/** Where values come from. */
export type SettingSources = {
  /** The values of --set, each `NAME=value`. */
  readonly set: readonly string[];
  readonly environment: Environment;
  /** The project's folder, with the file .env. */
  readonly root: string;
};

/** The variable of a secret on one machine: a path. */
const filePrefix = 'file:';
/** Any address: only the format of a simulated setting is checked here. */
const simulatedUrl = 'http://127.0.0.1:1';

/**
 * Returns the values by parameter of the template (`PLANT_URL` is `PlantUrl`). Throws a UserError that names the
 * controller and the variable that is missing or wrong, and the ways to give it.
 */
export async function readDevSettings(
  registry: readonly ControllerDefinition[],
  { set, environment, root }: SettingSources,
): Promise<Readonly<Record<string, string>>> {
  const names = environmentNames(registry);
  const file = await readEnvFile(path.join(root, '.env'));
  const given = new Map<string, string>();
  for (const name of names) {
    const value = environment[name] ?? file[name];
    if (value !== undefined && value !== '') given.set(name, value);
  }
  for (const [name, value] of set.map(parseSet)) {
    if (!names.includes(name)) {
      const known = names.length === 0 ? 'no controller has settings' : `there are ${names.join(', ')}`;
      throw new UserError(`--set ${name}: no controller has this setting; ${known}`);
    }
    given.set(name, value);
  }
  for (const controller of registry) await checkSettings(controller, given, root);
  return Object.fromEntries([...given].map(([name, value]) => [logicalId(name), value]));
}

/** Checks the settings of a controller, and makes the paths of its secrets absolute. */
async function checkSettings(
  { name: controller, declaration }: ControllerDefinition,
  given: Map<string, string>,
  root: string,
): Promise<void> {
  const { settings } = declaration;
  if (settings === undefined) return;
  const values: Record<string, string> = {};
  for (const [name, schema] of Object.entries(settings.shape)) {
    const value = given.get(name);
    if (value?.startsWith(filePrefix) === true && isSecret(schema)) {
      const file = path.resolve(root, value.slice(filePrefix.length));
      await access(file, constants.R_OK).catch((error: unknown) => {
        throw new UserError(`controller ${controller}: ${name}: ${file} cannot be read (${errorCode(error)})`);
      });
      given.set(name, filePrefix + file);
    }
    if (value !== undefined) values[name] = value;
    else if (simulatedParameters.includes(logicalId(name))) values[name] = simulatedUrl;
  }
  const parsed = settings.safeParse(values);
  if (parsed.success) return;
  throw new UserError(
    `controller ${controller} needs ${formatZodIssues(parsed.error)}; give --set NAME=value, or set it in the ` +
      'environment or in .env (a secret: NAME=file:PATH)',
  );
}

function parseSet(text: string): readonly [name: string, value: string] {
  const at = text.indexOf('=');
  if (at < 1) throw new UserError(`--set ${text}: write it as NAME=value`);
  return [text.slice(0, at), text.slice(at + 1)];
}

async function readEnvFile(file: string): Promise<Environment> {
  try {
    return parseEnv(await readFile(file, 'utf8'));
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return {};
    throw new UserError(`${file} cannot be read (${errorCode(error) ?? 'no text'})`, { cause: error });
  }
}
