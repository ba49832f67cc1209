// What lies beside a controller's object and is none of its business: another namespace (X17), and a kind of the same name in
// another group (X19).
import { expect, it } from 'vitest';
import type { Registered } from '../../src/core/controller.ts';
import { controllerQueue, timersQueue } from '../../src/core/names.ts';
import { groupIdOf, targetParts } from '../../src/queue/group-id.ts';
import { formatMessage, hashOf, parseMessage, targetOf } from '../../src/queue/message.ts';
import { startWatch } from '../statements/watch.ts';
import type { Theatre } from './theatre.ts';
import { lineOf } from './wire.ts';

/** Declares X17. */
export function namespaceCases(theatre: Theatre): void {
  const everyOne = it.each(theatre.registry);

  everyOne(
    'X17: $name: in a whole life, objects of another namespace are neither read nor written',
    async (controller) => {
      await using stage = await theatre.open(controller);
      await using beside = await theatre.open(controller, { platform: await stage.platform.elsewhere() });
      await beside.create();
      await beside.settle();
      const before = await beside.versions();
      await stage.create();
      await stage.settle();
      await theatre.change(stage);
      await stage.settle();
      await stage.delete(stage.kind, stage.name);
      await stage.rest();
      const inside = `/namespaces/${stage.namespace}/`;
      expect(stage.calls.length).toBeGreaterThan(0);
      expect(stage.calls.filter(({ path }) => !path.includes(inside)).map(lineOf)).toEqual([]);
      expect(await beside.versions()).toEqual(before);
      // Nor is anything said about them.
      const namespaces = stage.sent.map(({ body }) => parseMessage(body).namespace);
      expect(new Set(namespaces)).toEqual(new Set([stage.namespace]));
    },
  );
}

/** Declares that of X17 which is the watcher's. */
export function watchedNamespaceCases(theatre: Theatre): void {
  it.each(
    theatre.registry,
  )('X17: $name: a watcher of one namespace reads and forwards nothing of another', async (controller) => {
    await using stage = await theatre.open(controller);
    await using beside = await theatre.open(controller, { platform: await stage.platform.elsewhere() });
    const watch = startWatch(stage.tap('watcher', stage.client), stage.namespace, stage.send, {
      controllers: stage.registry,
    });
    try {
      await beside.create();
      await stage.create();
      while (!watch.forwarded.some((body) => parseMessage(body).name === stage.name)) await watch.next();
    } finally {
      await watch.stop();
    }
    const keys = watch.forwarded.map((body) => parseMessage(body));
    expect(keys.filter(({ namespace }) => namespace !== stage.namespace)).toEqual([]);
    const inside = `/namespaces/${stage.namespace}/`;
    expect(stage.calls.filter(({ path }) => !path.includes(inside)).map(lineOf)).toEqual([]);
  });
}

const twinGroup = 'twin.example.net';

/** The same controller for a kind of the same name in another group. */
function twinOf(controller: Registered): Registered {
  const { resource } = controller.declares;
  const twin = { ...resource, group: twinGroup, apiVersion: `${twinGroup}/${resource.version}` };
  // What it watches for others is not the point here.
  return {
    ...controller,
    name: `${controller.name}-twin`,
    declares: { ...controller.declares, resource: twin, watches: [] },
  };
}

/** Declares X19. */
export function twinCases(theatre: Theatre): void {
  it.each(
    theatre.registry,
  )('X19: $name: a kind of the same name in another group has keys, groups and queues of its own', async (controller) => {
    const twin = twinOf(controller);
    await using stage = await theatre.open(controller, { more: [twin] });
    const watch = startWatch(stage.client, stage.namespace, stage.send, { controllers: stage.registry });
    const { spec, metadata } = await stage.create();
    await stage.apply(twin.declares.resource, stage.name, Object(spec));
    const about = (one: Registered) =>
      watch.forwarded
        .map(parseMessage)
        .filter(
          ({ name, controller: to, group }) =>
            name === stage.name && to === one.name && group === one.declares.resource.group,
        );
    try {
      while (about(controller).length === 0 || about(twin).length === 0) await watch.next();
    } finally {
      await watch.stop();
    }
    expect(metadata.name).toBe(stage.name);
    // What was there when the watcher began comes by the timers, some time after now by its own clock.
    stage.clock.ms = Date.now() + 60_000;
    await stage.deliver();
    const keys = stage.sent.filter(
      ({ queue, body }) => queue !== timersQueue && parseMessage(body).name === stage.name,
    );
    const groupsOf = new Map<string, Set<string | undefined>>();
    for (const { queue, body, groupId } of keys) {
      const message = parseMessage(body);
      const to = stage.registry.find(({ name }) => name === message.controller);
      expect(message.group).toBe(to?.declares.resource.group);
      expect([queue, groupId]).toEqual([controllerQueue(message.controller), groupIdOf(targetOf(message))]);
      groupsOf.set(message.controller, (groupsOf.get(message.controller) ?? new Set()).add(groupId));
    }
    expect([...groupsOf.keys()]).toEqual(expect.arrayContaining([controller.name, twin.name]));
    const groups = [...groupsOf.values()].flatMap((some) => [...some]);
    expect(new Set(groups).size, 'one group for each controller').toBe(groupsOf.size);

    // Nor do two such keys meet where both are on one queue: one is reconciled, the other is none of this controller's.
    const stranger = stage.message({ group: twinGroup });
    expect(groupIdOf(targetOf(stranger))).not.toBe(groupIdOf(targetOf(stage.message())));
    expect(hashOf(...targetParts(targetOf(stranger)))).not.toBe(hashOf(...targetParts(targetOf(stage.message()))));
    await stage.enqueue(stranger, stage.message());
    await stage.deliver();
    expect((await stage.deadLetters(controller.name)).map((body) => parseMessage(body).group)).toEqual([twinGroup]);

    // Each reads its own kind's object, however the keys come.
    const mine = stage.message();
    const its = { ...mine, controller: twin.name, group: twinGroup };
    expect(formatMessage(its)).not.toBe(formatMessage(mine));
    await stage.enqueue(mine, its);
    await stage.deliver();
    for (const one of [controller, twin]) {
      const primary = new RegExp(`^/apis/([^/]+)/[^/]+/namespaces/[^/]+/${stage.kind.plural}(/|$)`);
      const read = stage.calls
        .filter((call) => call.controller === one.name)
        .map(({ path }) => primary.exec(path)?.[1]);
      expect(new Set(read.filter((group) => group !== undefined))).toEqual(new Set([one.declares.resource.group]));
    }
  });
}
