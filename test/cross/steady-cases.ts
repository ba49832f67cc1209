// A steady world, for every controller: what has settled costs a stated number of reads and no write, whatever is said to it
// again (X2, X5), and whatever is written into its metadata (X13).
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { controllerQueue, timersQueue } from '../../src/core/names.ts';
import { collectionPath, objectPath } from '../../src/kube/client/path.ts';
import { parseMessage } from '../../src/queue/message.ts';
import { lateMessages } from './repeated-cases.ts';
import type { Theatre } from './theatre.ts';
import { isCommand, isWrite, lineOf } from './wire.ts';

/** Declares X2. */
export function replayCases(theatre: Theatre): void {
  const everyOne = it.each(theatre.registry);
  everyOne('X2: $name: yesterday’s messages, in any order, change no version', async (controller) => {
    await using stage = await theatre.settled(controller);
    await theatre.change(stage);
    await stage.settle();
    const queues = [timersQueue, ...theatre.registry.map(({ name }) => controllerQueue(name))];
    const bodies = new Set(stage.sent.filter(({ queue }) => queues.includes(queue)).map(({ body }) => body));
    // What a mapping function is asked is a message, too.
    const changed = controller.declares.watches.filter(({ label }) => label === undefined);
    const mapped = changed.map(async ({ kind }) =>
      (await stage.list(kind)).map(({ metadata: { name } }) =>
        stage.message({ group: kind.group, resource: kind.plural, name }),
      ),
    );
    const yesterday = [...[...bodies].map(parseMessage), ...(await Promise.all(mapped)).flat(), ...lateMessages(stage)];
    expect(yesterday.length).toBeGreaterThan(2);
    const before = await stage.versions();
    const shuffled = fc.shuffledSubarray(yesterday, { minLength: yesterday.length });
    await fc.assert(
      fc.asyncProperty(shuffled, async (messages) => {
        await stage.enqueue(...messages);
        await stage.deliver();
        expect(await stage.versions()).toEqual(before);
      }),
      { numRuns: 2 },
    );
  });
}

/** Declares X5. */
export function idleCases(theatre: Theatre): void {
  const everyOne = it.each(theatre.registry);
  everyOne(
    'X5: $name: a settled object costs no write, one read, and one for each thing that it declares',
    async (controller) => {
      await using stage = await theatre.settled(controller);
      // What it asks pods is none of the API server's reads.
      const calls = (await stage.visit()).filter((call) => !isCommand(call));
      expect(calls.filter(isWrite)).toEqual([]);
      const { resource, owns, reads, watches } = controller.declares;
      const own = objectPath(stage.kind, { name: stage.name, namespace: stage.namespace });
      expect(calls.filter(({ path }) => path === own)).toHaveLength(1);
      // Of any other kind one read for what is owned of it, and one for what is referred to.
      for (const kind of [...owns, ...reads]) {
        const of = calls.filter(({ path }) => path !== own && path.startsWith(collectionPath(kind, stage.namespace)));
        expect(of.length, of.map(lineOf).join()).toBeLessThanOrEqual(2);
      }
      const declared = [resource, ...owns, ...reads, ...watches];
      expect(calls.length, calls.map(lineOf).join()).toBeLessThanOrEqual(declared.length);
    },
  );
}

/** Declares X13. */
export function metadataCases(theatre: Theatre): void {
  const everyOne = it.each(theatre.registry);
  everyOne(
    'X13: $name: other labels and annotations cause no write, to children or anything else',
    async (controller) => {
      await using stage = await theatre.settled(controller);
      const before = await stage.versions();
      const touched = { labels: { 'example.com/team': 'kitchen' }, annotations: { 'example.com/note': 'none' } };
      const { metadata } = await stage.patch(stage.kind, stage.name, { metadata: touched });
      const calls = await stage.visit();
      expect(calls.length).toBeGreaterThan(0);
      expect(calls.filter(isWrite)).toEqual([]);
      const subject = `${stage.kind.kind}/${stage.name}`;
      expect(await stage.versions()).toEqual({ ...before, [subject]: metadata.resourceVersion });
    },
  );
}
