// The API server and the controllers of the cases. The cases open systems and know neither.
import { vi } from 'vitest';
import type { ControllerDefinition } from '../../src/api/definition.ts';
import { isInvalid } from '../../src/kube/client/errors.ts';
import { concernedBy, type EndState } from './end-state.ts';
import { isSettled } from './readiness.ts';
import { readSamples, sampleOf } from './sample.ts';
import { type Fixture, openFixture, type Platform } from './system.ts';
import { variantsOf } from './variants.ts';

type StageOptions = { readonly platform?: Platform; readonly more?: readonly ControllerDefinition[] };

/** A sample that was created, or created and then changed. */
type Life = 'created' | 'changed';

/** Opens systems for the cases. */
export type Harness = {
  readonly registry: readonly ControllerDefinition[];
  /**
   * Opens an empty system for a controller: its sample is not applied yet.
   * @param options `platform`: an existing platform to use; `more`: controllers that are not in the registry
   */
  open(controller: ControllerDefinition, options?: StageOptions): Promise<Fixture>;
  /** A system with a converged subject. */
  settled(controller: ControllerDefinition): Promise<Fixture>;
  /** Changes a number of the subject's spec to one with which the subject becomes Ready again. */
  change(system: Fixture): Promise<void>;
  /** The end state of the sample without faults: created, or created and then changed. */
  calm(controller: ControllerDefinition, life: Life): Promise<EndState>;
};

/** Time limit of a whole life on a loaded machine. */
const testTimeout = 120_000;

/** Opens a platform with at least the kinds of these controllers. */
type OpenPlatform = (controllers: readonly ControllerDefinition[]) => Promise<Platform>;

/** Creates the harness of a registry. */
export function createHarness(registry: readonly ControllerDefinition[], openPlatform: OpenPlatform): Harness {
  const samples = readSamples();
  const calms = new Map<string, ReturnType<typeof live>>();
  vi.setConfig({ testTimeout });

  async function open(controller: ControllerDefinition, { platform, more = [] }: StageOptions = {}): Promise<Fixture> {
    const sample = sampleOf(controller, await samples);
    const others = registry.filter(({ name }) => name !== controller.name);
    const controllers = [...concernedBy(others, controller), ...more];
    return await openFixture(platform ?? (await openPlatform(controllers)), controllers, controller, sample);
  }
  async function settled(controller: ControllerDefinition): Promise<Fixture> {
    const system = await open(controller);
    await system.create();
    await system.settle();
    return system;
  }
  /** One life without faults: its end states, and the first valid change of its spec. */
  async function live(controller: ControllerDefinition) {
    const rejected = new Set<string>();
    for (;;) {
      await using system = await settled(controller);
      const created = await system.endState();
      const variants = variantsOf((await system.subject()).spec).filter((spec) => !rejected.has(JSON.stringify(spec)));
      for (const spec of variants) {
        rejected.add(JSON.stringify(spec));
        try {
          await system.patch(system.kind, system.name, { spec });
        } catch (error) {
          if (isInvalid(error)) continue;
          throw error;
        }
        await system.rest();
        // The next variant needs a system that this one has not changed.
        if (!isSettled(await system.subject())) break;
        await system.settle();
        return { created, changed: await system.endState(), spec };
      }
      if (variants.length === 0)
        throw new Error(`controller ${controller.name}: its sample has no number that can be one more or one less`);
    }
  }
  async function lifeOf(controller: ControllerDefinition): ReturnType<typeof live> {
    const life = calms.get(controller.name) ?? live(controller);
    calms.set(controller.name, life);
    return await life;
  }

  return {
    registry,
    open,
    settled,
    change: async ({ controller, kind, name, patch }) => {
      const { spec } = await lifeOf(controller);
      await patch(kind, name, { spec });
    },
    calm: async (controller, life) => (await lifeOf(controller))[life],
  };
}
