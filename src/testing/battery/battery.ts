// The battery: the faults that reconcilers get wrong, as named checks of one controller and its samples. It knows no
// test runner: a check is a name and a function that rejects with a BatteryError, which says what happened and what to
// change.
import type { ControllerDefinition } from '../../api/definition.ts';
import { changeChecks } from './change-checks.ts';
import type { BatteryCheck, BatteryOptions } from './contract.ts';
import { faultChecks } from './fault-checks.ts';
import { openStage } from './stage.ts';

/**
 * Makes the checks of a controller. Each starts its own in-memory API server.
 * @example for (const { name, run } of battery(waterTank, { samples: [north] })) it(name, run);
 */
export function battery(controller: ControllerDefinition, options: BatteryOptions): readonly BatteryCheck[] {
  const { samples } = options;
  if (samples.length === 0) throw new TypeError('samples: the battery needs at least one object of the kind');
  return [...changeChecks, ...faultChecks].flatMap(({ name, run }) =>
    samples.map((sample, index) => ({
      name: samples.length === 1 ? name : `${name} (sample ${index + 1})`,
      run: async () => await run(async () => await openStage(controller, sample, options)),
    })),
  );
}
