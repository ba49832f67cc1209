// The battery: the faults that reconcilers get wrong, as named checks of one controller and its samples. It knows no
// test runner: a check is a name and a function that rejects with a BatteryError, which says what happened and what to
// change.
import type { ControllerDefinition } from '../../api/definition.ts';
import { changeChecks } from './change-checks.ts';
import type { BatteryCheck, BatteryOptions } from './contract.ts';
import { faultChecks } from './fault-checks.ts';
import { checkSampleKind } from './sample.ts';
import { type EndState, openStage } from './stage.ts';
import type { TwoRuns } from './varying.ts';

/**
 * Makes the checks of a controller. Each starts its own in-memory API server. Throws TypeError for a sample of another
 * kind.
 * @example for (const { name, run } of battery(waterTank, { samples: [north] })) it(name, run);
 */
export function battery(controller: ControllerDefinition, options: BatteryOptions): readonly BatteryCheck[] {
  const { samples } = options;
  if (samples.length === 0) throw new TypeError('samples: the battery needs at least one object of the kind');
  const parts = samples.map((sample, index) => {
    checkSampleKind(controller, sample, index);
    const calm = async (): Promise<EndState | undefined> => {
      await using stage = await openStage(controller, sample, options);
      return (await stage.settle()) ? await stage.endState() : undefined;
    };
    let runs: Promise<TwoRuns | undefined> | undefined;
    const twoRuns = async (): Promise<TwoRuns | undefined> => {
      const [first, second] = [await calm(), await calm()];
      return first === undefined || second === undefined ? undefined : [first, second];
    };
    const open = async () => {
      runs ??= twoRuns();
      return await openStage(controller, sample, options, await runs);
    };
    return { open, suffix: samples.length === 1 ? '' : ` (sample ${index + 1})` };
  });
  return [...changeChecks, ...faultChecks].flatMap(({ name, run }) =>
    parts.map(({ open, suffix }) => ({ name: `${name}${suffix}`, run: async () => await run(open) })),
  );
}
