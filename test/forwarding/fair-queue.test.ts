// The order in which FairQueue returns ids. Which keys are in it, and when they may be sent, is work-queue.test.ts.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createFairQueue } from '../../src/forwarding/fair-queue.ts';

const queueOf = (...entries: readonly string[]) => {
  const queue = createFairQueue();
  for (const entry of entries) queue.add(entry.charAt(0), entry);
  return queue;
};
const drainAll = (from: ReturnType<typeof queueOf>) => {
  const taken: string[] = [];
  for (let next = from.next(); next !== undefined; next = from.next()) taken.push(next);
  return taken;
};

it('FairQueue.next alternates between namespaces, and is first in, first out within a namespace', () => {
  expect(drainAll(queueOf('a1', 'a2', 'a3', 'b1', 'c1', 'c2'))).toEqual(['a1', 'b1', 'c1', 'a2', 'c2', 'a3']);
});

it('FairQueue.add keeps the position of an id that is there already', () => {
  expect(drainAll(queueOf('a1', 'a2', 'a1'))).toEqual(['a1', 'a2']);
});

it('FairQueue.next returns every id once, and no other namespace twice while a namespace waits', () => {
  const step = fc.oneof(
    { weight: 3, arbitrary: fc.record({ namespace: fc.constantFrom('a', 'b', 'c', 'd'), id: fc.nat(30) }) },
    { weight: 2, arbitrary: fc.constant('next' as const) },
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const queue = createFairQueue();
      const waiting = new Map<string, Set<string>>();
      /** For each waiting namespace: the namespaces that had a turn since it began to wait or had its own turn. */
      const turnsSince = new Map<string, string[]>();
      const take = () => {
        const next = queue.next();
        const [namespace = ''] = next ?? '';
        expect(next === undefined).toBe(waiting.size === 0);
        if (next === undefined) return;
        const ids = waiting.get(namespace);
        expect(ids?.delete(next)).toBe(true);
        if (ids?.size === 0) waiting.delete(namespace);
        for (const [other, before] of turnsSince) {
          if (!waiting.has(other) || other === namespace) continue;
          expect(before).not.toContain(namespace);
          before.push(namespace);
        }
        if (waiting.has(namespace)) turnsSince.set(namespace, []);
        else turnsSince.delete(namespace);
      };
      for (const one of steps) {
        if (one === 'next') {
          take();
          continue;
        }
        const { namespace, id } = one;
        queue.add(namespace, `${namespace}${id}`);
        if (!waiting.has(namespace)) turnsSince.set(namespace, []);
        waiting.set(namespace, (waiting.get(namespace) ?? new Set()).add(`${namespace}${id}`));
      }
      while (waiting.size > 0) take();
      expect(queue.next()).toBeUndefined();
    }),
  );
});
