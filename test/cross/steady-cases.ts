// A steady state, for every controller: a converged object costs a known number of reads and no write (X5), also after a change of its
// metadata (X13).
import { expect, it } from 'vitest';
import { kindOfRead } from '../../src/api/reads.ts';
import { collectionPath, objectPath } from '../../src/kube/client/path.ts';
import type { Harness } from './harness.ts';
import { isCommand, isWrite, lineOf } from './wire.ts';

/** Declares X5 and X13. */
export function idleCases(harness: Harness): void {
  const everyOne = it.each(harness.registry);
  everyOne(
    'X5, V9, V11, X13, M25: $name: a converged object costs no write, one read, and one read for each declared kind, and a change of its labels and annotations causes no write',
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

      const before = await system.versions();
      const touched = { labels: { 'example.com/team': 'kitchen' }, annotations: { 'example.com/note': 'none' } };
      const { metadata } = await system.patch(system.kind, system.name, { metadata: touched });
      const again = await system.reconcileOnce();
      expect(again.length).toBeGreaterThan(0);
      expect(again.filter(isWrite)).toEqual([]);
      const subject = `${system.kind.kind}/${system.name}`;
      expect(await system.versions()).toEqual({ ...before, [subject]: metadata.resourceVersion });
    },
  );
}
