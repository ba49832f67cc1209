// The end of an object, for every controller: its finalizer and those of others (X14), and that nothing is made for what goes (X16).
import { expect, it } from 'vitest';
import { finalizerOf } from '../../src/core/names.ts';
import { objectPath } from '../../src/kube/client/path.ts';
import { childrenOf, isChildWrite } from './children.ts';
import type { Theatre } from './theatre.ts';
import { isWrite, lineOf } from './wire.ts';

const hold = 'example.com/hold';

/** Declares X14. */
export function finalizerCases(theatre: Theatre): void {
  const everyOne = it.each(theatre.registry);

  everyOne(
    'X14: $name: its finalizer comes before all else and goes last, and one of others outlives it',
    async (controller) => {
      await using stage = await theatre.open(controller);
      const { finalizes } = controller.declares;
      const own = finalizes ? [finalizerOf(controller.name)] : [];
      const path = objectPath(stage.kind, { name: stage.name, namespace: stage.namespace });
      const finalizersOf = async () => (await stage.subject()).metadata.finalizers ?? [];
      await stage.create({ finalizers: [hold] });
      const first = (await stage.visit()).find(isWrite);
      expect((await finalizersOf()).filter((one) => one === hold || own.includes(one))).toEqual([hold, ...own]);
      if (finalizes) expect(first).toMatchObject({ path, body: { metadata: { finalizers: [hold, ...own] } } });
      await stage.settle();

      await stage.delete(stage.kind, stage.name);
      await stage.rest();
      // Whoever else has a finalizer of ours there is done, too.
      expect(await finalizersOf()).toEqual([hold]);
      const before = (await stage.subject()).metadata.resourceVersion;
      expect((await stage.visit()).filter(isWrite).map(lineOf)).toEqual([]);
      expect((await stage.subject()).metadata.resourceVersion).toBe(before);
      await stage.patch(stage.kind, stage.name, { metadata: { finalizers: null } }).catch(() => undefined);
      expect(await stage.get(stage.kind, stage.name)).toBeUndefined();
      await stage.settle();
      expect(await stage.endState()).toEqual({});
      expect(await stage.deadLetters(controller.name)).toEqual([]);
    },
  );
}

/** Declares X16. */
export function deletionCases(theatre: Theatre): void {
  const everyOne = it.each(theatre.registry);

  everyOne(
    'X16: $name: for an object that goes before it was ever seen, nothing is made or written',
    async (controller) => {
      await using stage = await theatre.open(controller);
      await stage.create({ finalizers: [hold] });
      await stage.delete(stage.kind, stage.name);
      const { metadata } = await stage.subject();
      expect(metadata.deletionTimestamp).toBeDefined();
      const calls = await stage.visit();
      await stage.rest();
      expect(calls.length).toBeGreaterThan(0);
      expect(stage.calls.filter((call) => call.controller === controller.name && isWrite(call)).map(lineOf)).toEqual(
        [],
      );
      expect((await stage.subject()).metadata.resourceVersion).toBe(metadata.resourceVersion);
    },
  );

  everyOne('X16: $name: for an object that goes, what is missing is not made again', async (controller) => {
    await using stage = await theatre.open(controller);
    await stage.create({ finalizers: [hold] });
    await stage.settle();
    const children = await childrenOf(stage);
    await stage.delete(stage.kind, stage.name);
    for (const { kind, name } of children) await stage.delete(kind, name);
    const before = stage.calls.length;
    await stage.visit();
    await stage.rest();
    const own = stage.calls.slice(before).filter((call) => call.controller === controller.name);
    expect(own.filter(isChildWrite(stage)).map(lineOf)).toEqual([]);
    for (const { kind, name } of children) expect(await stage.get(kind, name)).toBeUndefined();
  });
}
