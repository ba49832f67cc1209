// The order in which FairQueue returns entries. Which keys are in it, and when they may be sent, is work-queue.test.ts.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createFairQueue } from '../../src/forwarding/fair-queue.ts';

const queueOf = (...entries: readonly string[]) => {
  const queue = createFairQueue<string>();
  for (const entry of entries) queue.set(entry.charAt(0), entry, entry);
  return queue;
};
const drainAll = (from: ReturnType<typeof queueOf>) => {
  const taken: string[] = [];
  for (let next = from.next(); next !== undefined; next = from.next()) taken.push(next[0]);
  return taken;
};

it('FairQueue.next alternates between namespaces, and is first in, first out within a namespace', () => {
  expect(drainAll(queueOf('a1', 'a2', 'a3', 'b1', 'c1', 'c2'))).toEqual(['a1', 'b1', 'c1', 'a2', 'c2', 'a3']);
});

it('FairQueue.set keeps the position of an entry that it replaces', () => {
  const queue = queueOf('a1', 'a2');
  queue.set('a', 'a1', 'newer');
  expect([queue.size(), queue.get('a', 'a1'), queue.next()]).toEqual([2, 'newer', ['a1', 'newer']]);
});

it('FairQueue.next returns every entry once, and no other namespace twice while a namespace waits', () => {
  const step = fc.oneof(
    { weight: 3, arbitrary: fc.record({ namespace: fc.constantFrom('a', 'b', 'c', 'd'), id: fc.nat(30) }) },
    { weight: 2, arbitrary: fc.constant('next' as const) },
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const queue = createFairQueue<string>();
      const waiting = new Map<string, Set<string>>();
      /** For each waiting namespace: the namespaces that had a turn since it began to wait or had its own turn. */
      const turnsSince = new Map<string, string[]>();
      const take = () => {
        const next = queue.next();
        const [namespace = ''] = next?.[0] ?? '';
        expect(next === undefined).toBe(waiting.size === 0);
        if (next === undefined) return;
        const ids = waiting.get(namespace);
        expect(ids?.delete(next[0])).toBe(true);
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
        queue.set(namespace, `${namespace}${id}`, 'entry');
        if (!waiting.has(namespace)) turnsSince.set(namespace, []);
        waiting.set(namespace, (waiting.get(namespace) ?? new Set()).add(`${namespace}${id}`));
        expect(queue.size()).toBe([...waiting.values()].reduce((sum, ids) => sum + ids.size, 0));
      }
      while (waiting.size > 0) take();
      expect([queue.size(), queue.next()]).toEqual([0, undefined]);
    }),
  );
});
