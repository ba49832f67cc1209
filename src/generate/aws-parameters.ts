// The settings of controllers as parameters of the stack: `PLANT_URL` is the parameter `PlantUrl`, and the function gets it as
// the variable PLANT_URL. Defaults stay where they are, in the schema: a variable that is empty counts as not set.
import type { Registered } from '../core/controller.ts';
import { idOf, ref } from './aws/names.ts';
import type { JsonObject } from './json.ts';
import { SchemaError } from './schema-error.ts';

/** Variables that the runtime or Lambda reads itself. */
const taken =
  /^(QUEUE_URL_PREFIX|CLUSTERS|LOG_LEVEL|METRICS_NAMESPACE|METRICS_PER_CLUSTER|NODE_OPTIONS|(AWS|LAMBDA|POWERTOOLS|RESYNC)_.*)$/;

/** The `Parameters` of the template. Throws SchemaError for a setting that cannot be a variable. */
export function parametersOf(registry: readonly Registered[]): JsonObject {
  const parameters: Record<string, JsonObject> = {};
  for (const { name: controller, declares } of registry) {
    for (const [setting, { _zod }] of Object.entries(declares.settings?.shape ?? {})) {
      const path = `${controller}.settings.${setting}`;
      if (!/^[A-Z][A-Z0-9_]*$/.test(setting))
        throw new SchemaError(path, 'a setting is a variable, named like PLANT_URL');
      if (taken.test(setting)) throw new SchemaError(path, 'the runtime has a variable of that name');
      const before = parameters[idOf(setting)];
      // One parameter may serve two controllers; it is optional when it is to both.
      const isOptional = _zod.optin !== undefined && (before === undefined || 'Default' in before);
      parameters[idOf(setting)] = isOptional ? optionalParameter(setting) : requiredParameter(setting);
    }
  }
  return parameters;
}

/** Every setting of a registry, once. */
export function settingNames(registry: readonly Registered[]): readonly string[] {
  return [...new Set(registry.flatMap(settingsOf))];
}

/** What serverless.yml passes to the stack: `--param`, or the environment of whoever deploys. */
export function stackParametersOf(registry: readonly Registered[]): readonly JsonObject[] {
  return settingNames(registry).map((setting) => ({
    ParameterKey: idOf(setting),
    ParameterValue: `\${param:${setting}, env:${setting}, ''}`,
  }));
}

/** A function's part of the environment that is the controller's own. */
export function settingsEnvironment(controller: Registered): JsonObject {
  return Object.fromEntries(settingsOf(controller).map((setting) => [setting, ref(idOf(setting))]));
}

function settingsOf({ declares }: Registered): readonly string[] {
  return Object.keys(declares.settings?.shape ?? {});
}

function requiredParameter(setting: string): JsonObject {
  return {
    Type: 'String',
    Description: `${setting} of the controllers that use it.`,
    // Better a deployment that fails than a function that cannot start.
    AllowedPattern: '.+',
    ConstraintDescription: `${setting} is needed: --param ${setting}=...`,
  };
}

function optionalParameter(setting: string): JsonObject {
  return { Type: 'String', Default: '', Description: `${setting} of the controllers that use it; may be empty.` };
}
