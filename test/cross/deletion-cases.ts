// The deletion of an object, for every controller: its finalizer and those of others (X14), and that no child is created for it (X16).
import { expect, it } from 'vitest';
import { finalizerOf } from '../../src/core/names.ts';
import { objectPath } from '../../src/kube/client/path.ts';
import { childrenOf, isChildWrite } from './children.ts';
import type { Harness } from './harness.ts';
import { isWrite, lineOf } from './wire.ts';

const hold = 'example.com/hold';

/** Declares X14. */
export function finalizerCases(harness: Harness): void {
  const everyOne = it.each(harness.registry);

  everyOne(
    'X14: $name: its finalizer is the first write and is removed last, and foreign finalizers stay',
    async (controller) => {
      await using system = await harness.open(controller);
      const { finalizes } = controller.declaration;
      const own = finalizes ? [finalizerOf(controller.name)] : [];
      const path = objectPath(system.kind, { name: system.name, namespace: system.namespace });
      const finalizersOf = async () => (await system.subject()).metadata.finalizers ?? [];
      await system.create({ finalizers: [hold] });
      const first = (await system.reconcileOnce()).find(isWrite);
      expect((await finalizersOf()).filter((one) => one === hold || own.includes(one))).toEqual([hold, ...own]);
      if (finalizes) expect(first).toMatchObject({ path, body: { metadata: { finalizers: [hold, ...own] } } });
      await system.settle();

      await system.delete(system.kind, system.name);
      await system.rest();
      // The other controllers with a finalizer on the object are done as well.
      expect(await finalizersOf()).toEqual([hold]);
      const before = (await system.subject()).metadata.resourceVersion;
      expect((await system.reconcileOnce()).filter(isWrite).map(lineOf)).toEqual([]);
      expect((await system.subject()).metadata.resourceVersion).toBe(before);
      await system.patch(system.kind, system.name, { metadata: { finalizers: null } }).catch(() => undefined);
      expect(await system.get(system.kind, system.name)).toBeUndefined();
      await system.settle();
      expect(await system.endState()).toEqual({});
      expect(await system.deadLetters(controller.name)).toEqual([]);
    },
  );
}

/** Declares X16. */
export function deletionCases(harness: Harness): void {
  const everyOne = it.each(harness.registry);

  everyOne(
    'X16: $name: an object that is deleted before its first reconcile gets no child and no write',
    async (controller) => {
      await using system = await harness.open(controller);
      await system.create({ finalizers: [hold] });
      await system.delete(system.kind, system.name);
      const { metadata } = await system.subject();
      expect(metadata.deletionTimestamp).toBeDefined();
      const calls = await system.reconcileOnce();
      await system.rest();
      expect(calls.length).toBeGreaterThan(0);
      expect(system.calls.filter((call) => call.controller === controller.name && isWrite(call)).map(lineOf)).toEqual(
        [],
      );
      expect((await system.subject()).metadata.resourceVersion).toBe(metadata.resourceVersion);
    },
  );

  const parents = harness.registry.filter(({ declaration }) => declaration.owns.length > 0);
  it.each(
    parents,
  )('X16, B19a, M22a, V12: $name: missing children of an object in deletion are not created again', async (controller) => {
    await using system = await harness.open(controller);
    await system.create({ finalizers: [hold] });
    await system.settle();
    const children = await childrenOf(system);
    await system.delete(system.kind, system.name);
    for (const { kind, name } of children) await system.delete(kind, name);
    const before = system.calls.length;
    await system.reconcileOnce();
    await system.rest();
    const own = system.calls.slice(before).filter((call) => call.controller === controller.name);
    expect(own.filter(isChildWrite(system)).map(lineOf)).toEqual([]);
    for (const { kind, name } of children) expect(await system.get(kind, name)).toBeUndefined();
  });
}
