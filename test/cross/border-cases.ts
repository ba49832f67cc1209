// What lies next to a controller's object and does not belong to it: another namespace (X17), and a kind of the same name in another
// group (X19).
import { expect, it } from 'vitest';
import type { ControllerDefinition } from '../../src/api/definition.ts';
import { controllerQueue, timersQueue } from '../../src/core/names.ts';
import { groupIdOf } from '../../src/sqs/deduplication.ts';
import { keyOfMessage, parseMessage } from '../../src/sqs/message.ts';
import { startWatch } from '../statements/watch.ts';
import type { Harness } from './harness.ts';
import { lifeOf } from './life.ts';
import { lineOf } from './wire.ts';

/** Declares X17. */
export function namespaceCases(harness: Harness): void {
  const everyOne = it.each(harness.registry);

  everyOne(
    'X17: $name: objects of another namespace are neither read nor written in a whole life',
    async (controller) => {
      const { beside, calls, namespace, sent } = await lifeOf(harness, controller);
      const inside = `/namespaces/${namespace}/`;
      expect(calls.length).toBeGreaterThan(0);
      expect(calls.filter(({ path }) => !path.includes(inside)).map(lineOf)).toEqual([]);
      expect(beside[1]).toEqual(beside[0]);
      // And no Event is about them.
      expect(new Set(sent.map(({ body }) => parseMessage(body).namespace))).toEqual(new Set([namespace]));
    },
  );
}

/** Declares the watcher's part of X17. */
export function watchedNamespaceCases(harness: Harness): void {
  it.each(
    harness.registry,
  )('X17: $name: a watcher of one namespace neither reads nor forwards keys of another', async (controller) => {
    await using system = await harness.open(controller);
    await using beside = await harness.open(controller, { platform: await system.platform.elsewhere() });
    const watch = startWatch(system.tap('watcher', system.client), system.namespace, system.send, {
      controllers: system.registry,
    });
    try {
      await beside.create();
      await system.create();
      while (!watch.forwarded.some((body) => parseMessage(body).name === system.name)) await watch.next();
    } finally {
      await watch.stop();
    }
    const keys = watch.forwarded.map((body) => parseMessage(body));
    expect(keys.filter(({ namespace }) => namespace !== system.namespace)).toEqual([]);
    const inside = `/namespaces/${system.namespace}/`;
    expect(system.calls.filter(({ path }) => !path.includes(inside)).map(lineOf)).toEqual([]);
  });
}

const twinGroup = 'twin.example.net';

/** The same controller for a kind of the same name in another group. */
function twinOf(controller: ControllerDefinition): ControllerDefinition {
  const { resource } = controller.declaration;
  const twin = { ...resource, group: twinGroup, apiVersion: `${twinGroup}/${resource.version}` };
  // Its watches of other kinds do not matter here.
  return {
    ...controller,
    name: `${controller.name}-twin`,
    declaration: { ...controller.declaration, resource: twin, watches: [] },
  };
}

/** Declares X19. */
export function twinCases(harness: Harness): void {
  it.each(
    harness.registry,
  )('X19: $name: a kind of the same name in another group has keys, groups and queues of its own', async (controller) => {
    const twin = twinOf(controller);
    await using system = await harness.open(controller, { more: [twin] });
    const watch = startWatch(system.client, system.namespace, system.send, { controllers: system.registry });
    const { spec, metadata } = await system.create();
    await system.apply(twin.declaration.resource, system.name, Object(spec));
    const about = (one: ControllerDefinition) =>
      watch.forwarded
        .map(parseMessage)
        .filter(
          ({ name, controller: to, group }) =>
            name === system.name && to === one.name && group === one.declaration.resource.group,
        );
    try {
      while (about(controller).length === 0 || about(twin).length === 0) await watch.next();
    } finally {
      await watch.stop();
    }
    expect(metadata.name).toBe(system.name);
    // Objects that existed before the watcher started come through the timers, some time later by the watcher's clock.
    system.clock.ms = Date.now() + 60_000;
    await system.deliver();
    const keys = system.sent.filter(
      ({ queue, body }) => queue !== timersQueue && parseMessage(body).name === system.name,
    );
    const groupsOf = new Map<string, Set<string | undefined>>();
    for (const { queue, body, groupId } of keys) {
      const message = parseMessage(body);
      const to = system.registry.find(({ name }) => name === message.controller);
      expect(message.group).toBe(to?.declaration.resource.group);
      expect([queue, groupId]).toEqual([controllerQueue(message.controller), groupIdOf(keyOfMessage(message))]);
      groupsOf.set(message.controller, (groupsOf.get(message.controller) ?? new Set()).add(groupId));
    }
    expect([...groupsOf.keys()]).toEqual(expect.arrayContaining([controller.name, twin.name]));
    const groups = [...groupsOf.values()].flatMap((some) => [...some]);
    expect(new Set(groups).size, 'one group for each controller').toBe(groupsOf.size);

    // Two such keys on one queue stay apart as well: one is reconciled, the other one is not this controller's.
    const stranger = system.message({ group: twinGroup });
    await system.enqueue(stranger, system.message());
    await system.deliver();
    expect((await system.deadLetters(controller.name)).map((body) => parseMessage(body).group)).toEqual([twinGroup]);

    // Each controller reads the object of its own kind, in any order of the keys.
    const mine = system.message();
    const its = { ...mine, controller: twin.name, group: twinGroup };
    await system.enqueue(mine, its);
    await system.deliver();
    for (const one of [controller, twin]) {
      const primary = new RegExp(`^/apis/([^/]+)/[^/]+/namespaces/[^/]+/${system.kind.plural}(/|$)`);
      const read = system.calls
        .filter((call) => call.controller === one.name)
        .map(({ path }) => primary.exec(path)?.[1]);
      expect(new Set(read.filter((group) => group !== undefined))).toEqual(new Set([one.declaration.resource.group]));
    }
  });
}
