// Events, for every controller (X22): one for each change, counted under one name when it repeats, and none for a reconcile without a
// change.
import { expect, it } from 'vitest';
import * as z from 'zod';
import { applyObject } from '../../src/kube/apply/apply.ts';
import { Event } from '../../src/kubernetes.ts';
import { childrenOf } from './children.ts';
import { inMemory as harness } from './in-memory.ts';
import type { Fixture } from './system.ts';
import { isEvent, isWrite, lineOf } from './wire.ts';

const event = z.object({
  metadata: z.object({ name: z.string() }),
  involvedObject: z.object({ name: z.string(), kind: z.string() }),
  reason: z.string(),
  message: z.string(),
  count: z.number(),
});

/** The subject's Events: their names and counts. */
async function eventsOf({ list, name, kind }: Fixture): Promise<Readonly<Record<string, number>>> {
  const all = (await list(Event)).map((one) => event.parse(one));
  const own = all.filter(({ involvedObject }) => involvedObject.name === name && involvedObject.kind === kind.kind);
  expect(new Set(own.map(({ reason, message }) => `${reason} ${message}`)).size, 'each said under one name').toBe(
    own.length,
  );
  return Object.fromEntries(own.map(({ metadata, count }) => [metadata.name, count]));
}

it.each(
  harness.registry,
)('X22: $name: records at most one Event for each change, a repeated one under one name with a count, none without a change, and a problem that stays once', async (controller) => {
  await using system = await harness.settled(controller);
  const own = system.calls.filter((call) => call.controller === controller.name && isWrite(call));
  const said = await eventsOf(system);
  expect(Object.values(said).reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(
    own.filter((call) => !isEvent(call)).length,
  );
  for (let again = 0; again < 3; again += 1) {
    expect((await system.reconcileOnce()).filter(isEvent).map(lineOf)).toEqual([]);
  }
  expect(await eventsOf(system)).toEqual(said);

  const [child] = await childrenOf(system);
  if (child === undefined) return;
  const loseChildren = async () => {
    for (const { kind, name } of await childrenOf(system)) await system.delete(kind, name);
    await system.settle();
    return await eventsOf(system);
  };
  await loseChildren();
  const once = await loseChildren();
  const twice = await loseChildren();
  expect(Object.keys(twice)).toEqual(Object.keys(once));
  for (const [name, count] of Object.entries(twice)) expect(count - (once[name] ?? 0), name).toBeLessThanOrEqual(1);

  await system.delete(child.kind, child.name);
  const { metadata: _, ...content } = child.owned;
  const metadata = { name: child.name, namespace: system.namespace };
  const taken = { apiVersion: child.kind.apiVersion, kind: child.kind.kind, ...content, metadata };
  await applyObject(system.client, child.kind, taken, { fieldManager: 'another-manager' });
  await system.reconcileOnce();
  const troubled = await eventsOf(system);
  for (let again = 0; again < 3; again += 1) await system.reconcileOnce();
  expect(await eventsOf(system)).toEqual(troubled);
});
