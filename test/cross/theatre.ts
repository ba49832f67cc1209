// Where the cases take place: on which API server, and with which controllers. The cases ask for stages and know neither.
import type { Registered } from '../../src/core/controller.ts';
import { isInvalid } from '../../src/kube/errors.ts';
import { isSettled } from './readiness.ts';
import { readSamples, sampleOf } from './sample.ts';
import { openStage, type Platform, type Stage } from './stage.ts';
import { variantsOf } from './variants.ts';

/** Opens stages. */
export type Theatre = {
  readonly registry: readonly Registered[];
  /** An empty stage for a controller: its sample is not applied yet. `platform`: where it is to be, when that is known. */
  open(controller: Registered, platform?: Platform): Promise<Stage>;
  /** A stage whose subject has settled. */
  settled(controller: Registered): Promise<Stage>;
  /** Changes a number of the subject's spec, to one with which it gets Ready again. */
  change(stage: Stage): Promise<void>;
};

/** Creates a theatre for a registry. */
export function createTheatre(registry: readonly Registered[], openPlatform: () => Promise<Platform>): Theatre {
  const samples = readSamples();
  const changes = new Map<string, Promise<object>>();

  async function open(controller: Registered, platform?: Platform): Promise<Stage> {
    const sample = sampleOf(controller, await samples);
    const controllers = registry.map((one) => (one.name === controller.name ? controller : one));
    return await openStage(platform ?? (await openPlatform()), controllers, controller, sample);
  }
  async function settled(controller: Registered): Promise<Stage> {
    const stage = await open(controller);
    await stage.create();
    await stage.settle();
    return stage;
  }
  /** Tries on a stage of its own which change of the sample's spec is a good one. */
  async function findChange(controller: Registered): Promise<object> {
    await using stage = await settled(controller);
    for (const spec of variantsOf((await stage.subject()).spec)) {
      try {
        await stage.patch(stage.kind, stage.name, { spec });
      } catch (error) {
        if (isInvalid(error)) continue;
        throw error;
      }
      await stage.rest();
      if (isSettled(await stage.subject())) return { spec };
    }
    throw new Error(`controller ${controller.name}: its sample has no number that can be one more or one less`);
  }

  return {
    registry,
    open,
    settled,
    change: async ({ controller, kind, name, patch }) => {
      const found = changes.get(controller.name) ?? findChange(controller);
      changes.set(controller.name, found);
      await patch(kind, name, await found);
    },
  };
}
