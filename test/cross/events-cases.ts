// Events, for every controller (X22): said when something has changed, once; counted under one name when it happens again; and
// never because somebody looked.
import { expect, it } from 'vitest';
import * as z from 'zod';
import { existingKind } from '../../src/core/kind.ts';
import { applyObject } from '../../src/kube/apply/apply.ts';
import { childrenOf } from './children.ts';
import type { Stage } from './system.ts';
import type { Theatre } from './theatre.ts';
import { isEvent, isWrite, lineOf } from './wire.ts';

const eventKind = existingKind<object>({ group: '', version: 'v1', kind: 'Event' });
const event = z.object({
  metadata: z.object({ name: z.string() }),
  involvedObject: z.object({ name: z.string(), kind: z.string() }),
  reason: z.string(),
  message: z.string(),
  count: z.number(),
});

/** The subject's Events: their names, and how often each was said. */
async function eventsOf({ list, name, kind }: Stage): Promise<Readonly<Record<string, number>>> {
  const all = (await list(eventKind)).map((one) => event.parse(one));
  const own = all.filter(({ involvedObject }) => involvedObject.name === name && involvedObject.kind === kind.kind);
  expect(new Set(own.map(({ reason, message }) => `${reason} ${message}`)).size, 'each said under one name').toBe(
    own.length,
  );
  return Object.fromEntries(own.map(({ metadata, count }) => [metadata.name, count]));
}

/** Declares X22. */
export function eventCases(theatre: Theatre): void {
  const everyOne = it.each(theatre.registry);

  everyOne(
    'X22: $name: says an Event at most once for each thing that it changes, and none when it changes nothing',
    async (controller) => {
      await using stage = await theatre.settled(controller);
      const own = stage.calls.filter((call) => call.controller === controller.name && isWrite(call));
      const said = await eventsOf(stage);
      expect(Object.values(said).reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(
        own.filter((call) => !isEvent(call)).length,
      );
      for (let again = 0; again < 3; again += 1) {
        expect((await stage.visit()).filter(isEvent).map(lineOf)).toEqual([]);
      }
      expect(await eventsOf(stage)).toEqual(said);
    },
  );

  everyOne('X22: $name: the same thing said again is the same Event, counted', async (controller) => {
    await using stage = await theatre.settled(controller);
    const loseChildren = async () => {
      for (const { kind, name } of await childrenOf(stage)) await stage.delete(kind, name);
      await stage.settle();
      return await eventsOf(stage);
    };
    await loseChildren();
    const once = await loseChildren();
    const twice = await loseChildren();
    expect(Object.keys(twice)).toEqual(Object.keys(once));
    for (const [name, count] of Object.entries(twice)) expect(count - (once[name] ?? 0), name).toBeLessThanOrEqual(1);
  });

  everyOne('X22: $name: what stays wrong is said once', async (controller) => {
    const [kind] = controller.declares.owns;
    await using stage = await theatre.settled(controller);
    const [child] = await childrenOf(stage);
    if (kind !== undefined && child !== undefined) {
      await stage.delete(child.kind, child.name);
      const { metadata: _, ...content } = child.owned;
      const metadata = { name: child.name, namespace: stage.namespace };
      const taken = { apiVersion: child.kind.apiVersion, kind: child.kind.kind, ...content, metadata };
      await applyObject(stage.client, child.kind, taken, { fieldManager: 'somebody' });
      await stage.visit();
    }
    const said = await eventsOf(stage);
    for (let again = 0; again < 3; again += 1) await stage.visit();
    expect(await eventsOf(stage)).toEqual(said);
  });
}
