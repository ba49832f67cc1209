// Nobody watches (X3): the resync alone brings every change to its controller within one period, of a parent and of a child. What
// waited in the queues when a change was missed is lost as well, so that no requeue comes by and finds it.
import { expect, it } from 'vitest';
import { fieldManagerOf } from '../../src/core/names.ts';
import { isInvalid } from '../../src/kube/client/errors.ts';
import { ownedBy } from '../../src/kube/apply/managed-fields.ts';
import { observedGenerationOf } from '../../src/runtime/observed.ts';
import { type Child, childrenOf } from './children.ts';
import { alike } from './end-state.ts';
import { withoutReferences } from './ownership-cases.ts';
import type { Stage } from './system.ts';
import type { Theatre } from './theatre.ts';
import { edgesOf } from './variants.ts';

/** What a controller makes is seen in the next period, by the controller of that, and so on down and up again. */
const mostPeriods = 8;

/** Declares X3. */
export function resyncCases(theatre: Theatre): void {
  const everyOne = it.each(theatre.registry);
  const parents = it.each(theatre.registry.filter(({ declares }) => declares.owns.length > 0));

  everyOne(
    'X3: $name: a create, an update and a delete that nobody saw are found within a period, and all ends as if they were seen',
    async (controller) => {
      await using stage = await theatre.open(controller);
      await stage.create();
      await stage.period();
      expect(await isObserved(stage)).toBe(true);
      await settleUnseen(stage);
      expect(await stage.endState()).toEqual(await theatre.calm(controller, 'created'));

      stage.lose();
      await theatre.change(stage);
      expect(await isObserved(stage)).toBe(false);
      await stage.period();
      expect(await isObserved(stage)).toBe(true);
      await settleUnseen(stage);
      expect(await stage.endState()).toEqual(await theatre.calm(controller, 'changed'));

      stage.lose();
      await stage.delete(stage.kind, stage.name);
      await stage.period();
      expect(await stage.get(stage.kind, stage.name)).toBeUndefined();
      await settleUnseen(stage);
      expect(await stage.endState()).toEqual({});
      expect(await stage.deadLetters(controller.name)).toEqual([]);
    },
  );

  parents(
    'X3: $name: children that were deleted while nobody looked are there again within a period',
    async (controller) => {
      await using stage = await theatre.settled(controller);
      const before = await stage.endState();
      const children = await childrenOf(stage);
      stage.lose();
      for (const { kind, name } of children) await stage.delete(kind, name);
      // One with a finalizer is not gone before its own controller has been there.
      if (children.some(({ live }) => live.metadata.finalizers !== undefined)) await stage.period();
      await stage.period();
      expect(pathsOf(await childrenOf(stage))).toEqual(pathsOf(children));
      await settleUnseen(stage);
      expect(alike(await stage.endState())).toEqual(alike(before));
    },
  );

  parents(
    'X3: $name: children that were changed while nobody looked are put right within a period',
    async (controller) => {
      await using stage = await theatre.settled(controller);
      const before = await stage.endState();
      const children = await childrenOf(stage);
      stage.lose();
      for (const child of children) await spoil(stage, child);
      await stage.period();
      for (const { kind, name, owned } of children) {
        expect(ownedBy(await stage.read(kind, name), fieldManagerOf(controller.name))).toEqual(owned);
      }
      await settleUnseen(stage);
      expect(alike(await stage.endState())).toEqual(alike(before));
    },
  );
}

/** Tells whether the controller has said something of what the subject is now. */
async function isObserved({ subject, controller: { declares } }: Stage): Promise<boolean> {
  const { metadata, status } = await subject();
  return observedGenerationOf(status, declares.part) === metadata.generation;
}

/** Lets periods pass until everything is as it should be. */
async function settleUnseen(stage: Stage): Promise<void> {
  for (let period = 0; period < mostPeriods && !(await stage.isSettled()); period += 1) await stage.period();
  expect(await stage.isSettled(), `after ${mostPeriods} periods`).toBe(true);
}

/** Changes something in a child that its controller has said of it: of its content, or of its labels where that cannot be changed. */
async function spoil(stage: Stage, { kind, name, live, owned }: Child): Promise<void> {
  const { metadata, ...content } = withoutReferences(owned);
  for (const edited of [...edgesOf(content), ...edgesOf({ metadata })]) {
    const spoilt = await stage.patch(kind, name, Object(edited)).catch((error: unknown) => {
      if (isInvalid(error)) return live;
      throw error;
    });
    if (spoilt.metadata.resourceVersion !== live.metadata.resourceVersion) return;
  }
  throw new Error(`${kind.kind} ${name}: nothing in it can be changed`);
}

function pathsOf(children: readonly Child[]): readonly string[] {
  return children.map(({ path }) => path).sort();
}
