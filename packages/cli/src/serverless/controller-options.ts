// The options of the controllers that a deployment overrides: --param WATER_TANK_TIMEOUT_SECONDS=120. The generator
// has them as variables; what follows from a timeout follows from the value that osls resolves.
import type { ControllerDefinition } from 'outrigger/internal/api/definition';
import { functionLimits, optionParameter } from 'outrigger/internal/core/controller-options';
import { OptionError } from './options.ts';

/** The names of the options of a registry. */
export function controllerParameters(registry: readonly ControllerDefinition[]): readonly string[] {
  return registry.flatMap(({ name }) => Object.keys(functionLimits).map((option) => optionParameter(name, option)));
}

/**
 * Checks the given options, by parameter. osls checks their types only, and the limits of AWS. Throws OptionError for
 * the first one that is not a whole number within its limits. A value with a variable is left to osls.
 */
export function checkControllerOptions(
  registry: readonly ControllerDefinition[],
  given: Readonly<Record<string, unknown>>,
): void {
  for (const { name } of registry) {
    for (const [option, { min, max }] of Object.entries(functionLimits)) {
      const parameter = optionParameter(name, option);
      const text = String(given[parameter] ?? min).trim();
      const number = /^\d+$/.test(text) ? Number(text) : Number.NaN;
      if (text.includes('${') || (number >= min && number <= max)) continue;
      throw new OptionError(
        `${parameter}: ${JSON.stringify(given[parameter])} is not valid; give a whole number from ${min} to ${max}`,
      );
    }
  }
}
