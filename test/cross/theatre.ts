// Where the cases take place: on which API server, and with which controllers. The cases ask for stages and know neither.
import { vi } from 'vitest';
import type { Registered } from '../../src/core/controller.ts';
import { isInvalid } from '../../src/kube/client/errors.ts';
import { concernedBy, type EndState } from './end-state.ts';
import { isSettled } from './readiness.ts';
import { readSamples, sampleOf } from './sample.ts';
import { openStage, type Platform, type Stage } from './system.ts';
import { variantsOf } from './variants.ts';

type StageOptions = { readonly platform?: Platform; readonly more?: readonly Registered[] };

/** Opens stages. */
export type Theatre = {
  readonly registry: readonly Registered[];
  /**
   * An empty stage for a controller: its sample is not applied yet.
   * @param options `platform`: where it is to be, when that is known; `more`: controllers that are not in the registry
   */
  open(controller: Registered, options?: StageOptions): Promise<Stage>;
  /** A stage whose subject has settled. */
  settled(controller: Registered): Promise<Stage>;
  /** Changes a number of the subject's spec, to one with which it gets Ready again. */
  change(stage: Stage): Promise<void>;
  /** How the sample ends when nothing goes wrong: created, or created and then changed. */
  calm(controller: Registered, life: 'created' | 'changed'): Promise<EndState>;
};

/** Whole lives on a machine that has other things to do. */
const testTimeout = 120_000;

/** Opens a platform where at least these controllers' kinds are installed. */
type OpenPlatform = (controllers: readonly Registered[]) => Promise<Platform>;

/** Creates a theatre for a registry. */
export function createTheatre(registry: readonly Registered[], openPlatform: OpenPlatform): Theatre {
  const samples = readSamples();
  const changes = new Map<string, Promise<object>>();
  const calms = new Map<string, Promise<EndState>>();
  vi.setConfig({ testTimeout });

  async function open(controller: Registered, { platform, more = [] }: StageOptions = {}): Promise<Stage> {
    const sample = sampleOf(controller, await samples);
    const others = registry.filter(({ name }) => name !== controller.name);
    const controllers = [...concernedBy(others, controller), ...more];
    return await openStage(platform ?? (await openPlatform(controllers)), controllers, controller, sample);
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

  async function change({ controller, kind, name, patch }: Stage): Promise<void> {
    const found = changes.get(controller.name) ?? findChange(controller);
    changes.set(controller.name, found);
    await patch(kind, name, await found);
  }
  async function live(controller: Registered, life: 'created' | 'changed'): Promise<EndState> {
    await using stage = await settled(controller);
    if (life === 'created') return await stage.endState();
    await change(stage);
    await stage.settle();
    return await stage.endState();
  }

  return {
    registry,
    open,
    settled,
    change,
    calm: async (controller, life) => {
      const which = `${controller.name} ${life}`;
      const calm = calms.get(which) ?? live(controller, life);
      calms.set(which, calm);
      return await calm;
    },
  };
}
