// The settings of controllers as parameters of the stack: `PLANT_URL` is the parameter `PlantUrl`, and the function's
// variable PLANT_URL. Defaults stay in the schema: an empty variable counts as not set.

import type { ControllerDefinition } from 'outrigger/internal/api/definition';
import { isSecret } from 'outrigger/internal/api/secret';
import { functionLimits, optionParameter } from 'outrigger/internal/core/controller-options';
import { SchemaError } from 'outrigger/internal/core/errors';
import type { JsonObject } from 'outrigger/internal/core/json';
import { logicalId } from 'outrigger/internal/core/names';
import { functionVariables } from 'outrigger/internal/settings';
import { optionDefaults } from './deployment.ts';
import { ref } from './names.ts';
import { secretSettings } from './role.ts';

/**
 * Variables of Lambda (AWS Lambda, "Defined runtime environment variables"), of Node and what it is made of (Node,
 * "Command-line API", "Environment variables"), and of OpenTelemetry.
 */
export const ofOthers = [
  /^(?:AWS|LAMBDA|NODE|UV|SSL|OPENSSL|LD|OTEL)_/,
  /^(?:LANG|PATH|TZ|PYTHONPATH|GEM_PATH|HTTPS?_PROXY|NO_PROXY)$/,
];

const ofFunctions = functionVariables();

/** Returns whether the runtime, the deployment or the process itself has a variable or an option of that name. */
function isReservedVariable(name: string): boolean {
  return ofFunctions.has(name) || name in optionDefaults || ofOthers.some((names) => names.test(name));
}

/** Makes the `Parameters` of the template. Throws SchemaError for a setting that cannot be a variable. */
export function parametersOf(registry: readonly ControllerDefinition[]): JsonObject {
  const parameters: Record<string, JsonObject> = {};
  const names = environmentNames(registry);
  const optionNames = new Set(
    registry.flatMap(({ name }) => Object.keys(functionLimits).map((option) => optionParameter(name, option))),
  );
  for (const { name: controller, declaration } of registry) {
    for (const [setting, schema] of Object.entries(declaration.settings?.shape ?? {})) {
      const path = `${controller}.settings.${setting}`;
      if (!/^[A-Z][A-Z0-9_]*$/.test(setting))
        throw new SchemaError(path, 'the name of a setting is a variable, like PLANT_URL');
      if (isReservedVariable(setting)) throw new SchemaError(path, 'the runtime has a variable of that name');
      if (optionNames.has(setting))
        throw new SchemaError(path, 'an option of a controller has a parameter of that name');
      const id = logicalId(setting);
      const alike = names.find((other) => logicalId(other) === id);
      if (alike !== setting) throw new SchemaError(path, `${alike} has the same parameter, ${id}; rename one of them`);
      // Whether the variable is a name or a value is one for the whole stack.
      const other = registry.find(({ declaration: { settings } }) => {
        const shared = settings?.shape[setting];
        return shared !== undefined && isSecret(shared) !== isSecret(schema);
      });
      if (other !== undefined)
        throw new SchemaError(path, `is a secret here or in ${other.name} only; use secret() in both, or another name`);
      const before = parameters[id];
      // Two controllers may share a parameter; it is optional if it is optional for both.
      const isOptional = schema._zod.optin !== undefined && (before === undefined || 'Default' in before);
      parameters[id] = {
        ...(isOptional ? optionalParameter(setting) : requiredParameter(setting)),
        ...(isSecret(schema) ? secretName(setting, isOptional, readableSecrets(registry, setting)) : {}),
      };
    }
  }
  return parameters;
}

/** Lists every setting of a registry once. */
export function environmentNames(registry: readonly ControllerDefinition[]): readonly string[] {
  return [...new Set(registry.flatMap(settingsOf))];
}

/**
 * The parameters that serverless.yml passes to the stack: from `--param`, or from the environment of the deployment.
 */
export function stackParametersOf(registry: readonly ControllerDefinition[]): readonly JsonObject[] {
  return environmentNames(registry).map((setting) => ({
    ParameterKey: logicalId(setting),
    ParameterValue: `\${param:${setting}, env:${setting}, ''}`,
  }));
}

/** The settings of a controller in its function's environment. */
export function settingsEnvironment(controller: ControllerDefinition): JsonObject {
  return Object.fromEntries(settingsOf(controller).map((setting) => [setting, ref(logicalId(setting))]));
}

function settingsOf({ declaration }: ControllerDefinition): readonly string[] {
  return Object.keys(declaration.settings?.shape ?? {});
}

function requiredParameter(setting: string): JsonObject {
  return {
    Type: 'String',
    Description: `${setting} of the controllers that use it.`,
    // An empty value fails the deployment, and not the start of the function.
    AllowedPattern: '.+',
    ConstraintDescription: `${setting} is needed: --param ${setting}=...`,
  };
}

/** The secrets that each function with the setting may read: those of the secret settings of its controller. */
function readableSecrets(registry: readonly ControllerDefinition[], setting: string): readonly string[] {
  const [first = [], ...others] = registry
    .filter((one) => settingsOf(one).includes(setting))
    .map(({ declaration }) => secretSettings(declaration.settings));
  return first.filter((name) => others.every((names) => names.includes(name)));
}

/** A value given for its name would be visible in the stack and in the function's configuration. */
function secretName(setting: string, isOptional: boolean, readable: readonly string[]): JsonObject {
  const name = `\${self:service}/\${self:custom.stage}/settings/`;
  return {
    AllowedPattern: `^(arn:.+:secret:)?${name}(${readable.join('|')})(-.{6})?(#.+)?$${isOptional ? '|^$' : ''}`,
    ConstraintDescription: `${setting} is the name of a secret: --param ${setting}=${name}${setting}`,
  };
}

function optionalParameter(setting: string): JsonObject {
  return { Type: 'String', Default: '', Description: `${setting} of the controllers that use it; may be empty.` };
}
