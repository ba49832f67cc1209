// The settings of controllers for `outrigger dev`. Settings of simulated systems have the address of the simulator
// unless they are given.

import { access, constants } from 'node:fs/promises';
import path from 'node:path';
import type { ControllerDefinition } from 'outrigger/internal/api/definition';
import { isSecret } from 'outrigger/internal/api/secret';
import { UserError } from 'outrigger/internal/core/errors';
import { formatZodIssues } from 'outrigger/internal/core/json';
import { logicalId } from 'outrigger/internal/core/names';
import { environmentNames } from '../aws/parameters.ts';
import { errorCode } from '../dev/explain-error.ts';
import { simulatedParameters } from '../dev/local-stack.ts';
import { parseSet, readGiven, type SettingSources } from './given-settings.ts';

/** The variable of a secret on one machine: a path. */
const filePrefix = 'file:';
/** Any address: only the format of a simulated setting is checked here. */
const simulatedUrl = 'http://127.0.0.1:1';

/**
 * Returns the values by parameter of the template (`PLANT_URL` is `PlantUrl`). Throws a UserError that names the
 * controller and the variable that is missing or wrong, and the ways to give it. Only with `hasSecretsManager` may a
 * secret not be a file: the embedded SQS server has none.
 */
export async function readDevSettings(
  registry: readonly ControllerDefinition[],
  sources: SettingSources,
  hasSecretsManager = false,
): Promise<Readonly<Record<string, string>>> {
  const { set, root } = sources;
  const names = environmentNames(registry);
  for (const [name] of set.map(parseSet)) {
    if (names.includes(name)) continue;
    const known = names.length === 0 ? 'no controller has settings' : `there are ${names.join(', ')}`;
    throw new UserError(`--set ${name}: no controller has this setting; ${known}`);
  }
  const values = await readGiven(sources);
  const given = new Map(
    names.flatMap((name) => {
      const value = values[name];
      return value === undefined ? [] : [[name, value] as const];
    }),
  );
  const unreadable = new Map<string, string>();
  for (const controller of registry) await checkSettings(controller, given, { root, hasSecretsManager, unreadable });
  if (unreadable.size > 0) throw new UserError([...unreadable.values()].join('; '));
  return Object.fromEntries([...given].map(([name, value]) => [logicalId(name), value]));
}

/** Checks the settings of a controller, and makes the paths of its secrets absolute. */
async function checkSettings(
  { name: controller, declaration }: ControllerDefinition,
  given: Map<string, string>,
  {
    root,
    hasSecretsManager,
    unreadable,
  }: {
    readonly root: string;
    readonly hasSecretsManager: boolean;
    /** By setting: why the file of a secret cannot be read. */
    readonly unreadable: Map<string, string>;
  },
): Promise<void> {
  const { settings } = declaration;
  if (settings === undefined) return;
  const values: Record<string, string> = {};
  for (const [name, schema] of Object.entries(settings.shape)) {
    const value = given.get(name);
    // The value may be the secret itself, so no message has it.
    if (value !== undefined && !value.startsWith(filePrefix) && !hasSecretsManager && isSecret(schema)) {
      throw new UserError(
        `controller ${controller}: ${name} is a secret: write its value to a file, and give ${name}=file:PATH`,
      );
    }
    if (value?.startsWith(filePrefix) === true && isSecret(schema)) {
      const file = path.resolve(root, value.slice(filePrefix.length));
      await access(file, constants.R_OK).catch((error: unknown) => {
        const reason = `controller ${controller}: ${name}: ${file} cannot be read (${errorCode(error)})`;
        if (!unreadable.has(name)) unreadable.set(name, reason);
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
