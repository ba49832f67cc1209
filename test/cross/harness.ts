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
  const changes = new Map<string, Promise<object>>();
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
  /** Finds a valid change of the sample's spec, on a system of its own. */
  async function findChange(controller: ControllerDefinition): Promise<object> {
    await using system = await settled(controller);
    for (const spec of variantsOf((await system.subject()).spec)) {
      try {
        await system.patch(system.kind, system.name, { spec });
      } catch (error) {
        if (isInvalid(error)) continue;
        throw error;
      }
      await system.rest();
      if (isSettled(await system.subject())) return { spec };
    }
    throw new Error(`controller ${controller.name}: its sample has no number that can be one more or one less`);
  }

  async function change({ controller, kind, name, patch }: Fixture): Promise<void> {
    const found = changes.get(controller.name) ?? findChange(controller);
    changes.set(controller.name, found);
    await patch(kind, name, await found);
  }
  /** One life without faults, with its end states. */
  async function live(controller: ControllerDefinition): Promise<Readonly<Record<Life, EndState>>> {
    await using system = await settled(controller);
    const created = await system.endState();
    await change(system);
    await system.settle();
    return { created, changed: await system.endState() };
  }

  return {
    registry,
    open,
    settled,
    change,
    calm: async (controller, life) => {
      const calm = calms.get(controller.name) ?? live(controller);
      calms.set(controller.name, calm);
      return (await calm)[life];
    },
  };
}
