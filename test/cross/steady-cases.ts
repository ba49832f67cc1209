// A steady state, for every controller: a converged object costs a known number of reads and no write, for any repeated message (X2, X5) and
// any change of its metadata (X13).
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { kindOfRead } from '../../src/api/reads.ts';
import { controllerQueue, timersQueue } from '../../src/core/names.ts';
import { collectionPath, objectPath } from '../../src/kube/client/path.ts';
import { type Message, parseMessage } from '../../src/sqs/message.ts';
import { asChange, asRequeue, asResync, asRetry } from '../sqs/messages.ts';
import type { Harness } from './harness.ts';
import type { Fixture } from './system.ts';
import { isCommand, isWrite, lineOf } from './wire.ts';

/** Declares X2. */
export function replayCases(harness: Harness): void {
  const everyOne = it.each(harness.registry);
  everyOne('X2: $name: old messages, in any order, change no version', async (controller) => {
    await using system = await harness.settled(controller);
    await harness.change(system);
    await system.settle();
    const queues = [timersQueue, ...harness.registry.map(({ name }) => controllerQueue(name))];
    const bodies = new Set(system.sent.filter(({ queue }) => queues.includes(queue)).map(({ body }) => body));
    // Messages of mapped kinds count as well.
    const changed = controller.declaration.watches.filter(({ label }) => label === undefined);
    const mapped = changed.map(async ({ kind }) =>
      (await system.list(kind)).map(({ metadata: { name } }) =>
        system.message({ group: kind.group, resource: kind.plural, name }),
      ),
    );
    const yesterday = [
      ...[...bodies].map(parseMessage),
      ...(await Promise.all(mapped)).flat(),
      ...lateMessages(system),
    ];
    expect(yesterday.length).toBeGreaterThan(2);
    const before = await system.versions();
    const shuffled = fc.shuffledSubarray(yesterday, { minLength: yesterday.length });
    await fc.assert(
      fc.asyncProperty(shuffled, async (messages) => {
        await system.enqueue(...messages);
        await system.deliver();
        expect(await system.versions()).toEqual(before);
      }),
      { numRuns: 2 },
    );
  });
}

/** Declares X5. */
export function idleCases(harness: Harness): void {
  const everyOne = it.each(harness.registry);
  everyOne(
    'X5, V9, V11: $name: a converged object costs no write, one read, and one read for each declared kind',
    async (controller) => {
      await using system = await harness.settled(controller);
      // Commands in pods are no reads of the API server.
      const calls = (await system.reconcileOnce()).filter((call) => !isCommand(call));
      expect(calls.filter(isWrite)).toEqual([]);
      const { resource, owns, reads, watches } = controller.declaration;
      const own = objectPath(system.kind, { name: system.name, namespace: system.namespace });
      expect(calls.filter(({ path }) => path === own)).toHaveLength(1);
      // For any other kind, one read for the owned objects and one for the referenced ones.
      for (const kind of [...owns, ...reads.map(kindOfRead)]) {
        const of = calls.filter(({ path }) => path !== own && path.startsWith(collectionPath(kind, system.namespace)));
        expect(of.length, of.map(lineOf).join()).toBeLessThanOrEqual(2);
      }
      const declared = [resource, ...owns, ...reads, ...watches];
      expect(calls.length, calls.map(lineOf).join()).toBeLessThanOrEqual(declared.length);
    },
  );
}

/** Declares X13. */
export function metadataCases(harness: Harness): void {
  const everyOne = it.each(harness.registry);
  everyOne('X13, M25: $name: a change of labels and annotations causes no write', async (controller) => {
    await using system = await harness.settled(controller);
    const before = await system.versions();
    const touched = { labels: { 'example.com/team': 'kitchen' }, annotations: { 'example.com/note': 'none' } };
    const { metadata } = await system.patch(system.kind, system.name, { metadata: touched });
    const calls = await system.reconcileOnce();
    expect(calls.length).toBeGreaterThan(0);
    expect(calls.filter(isWrite)).toEqual([]);
    const subject = `${system.kind.kind}/${system.name}`;
    expect(await system.versions()).toEqual({ ...before, [subject]: metadata.resourceVersion });
  });
}

/** Old messages of the subject: one for each delayed cause, unordered. */
export function lateMessages(system: Fixture): readonly Message[] {
  const now = Math.floor(system.clock.ms / 1000);
  const late: readonly Partial<Message>[] = [
    asRetry({ attempt: 3, dueAt: now - 60, slot: '60/1' }),
    asResync({ run: '2025-12-31T23:50:00Z' }),
    asRequeue({ dueAt: now - 3600, slot: '30/7' }),
    asChange({ observedAt: system.clock.ms - 3_600_000 }),
    asRetry({ postponements: 4, dueAt: now - 900, slot: '900/2' }),
  ];
  return late.map((fields) => system.message(fields));
}
