// Only whose turn it is. What is an entry of the dirty set, and when it may go, is dirty-set.test.ts.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createNamespaceTurns } from '../../src/forwarding/fair-queue.ts';

const turns = (...entries: readonly string[]) => {
  const made = createNamespaceTurns<string>();
  for (const entry of entries) made.set(entry.charAt(0), entry, entry);
  return made;
};
const all = (from: ReturnType<typeof turns>) => {
  const taken: string[] = [];
  for (let next = from.next(); next !== undefined; next = from.next()) taken.push(next[0]);
  return taken;
};

it('namespaces take turns, and within one the longest waiting is first', () => {
  expect(all(turns('a1', 'a2', 'a3', 'b1', 'c1', 'c2'))).toEqual(['a1', 'b1', 'c1', 'a2', 'c2', 'a3']);
});

it('an entry that is replaced keeps its place', () => {
  const made = turns('a1', 'a2');
  made.set('a', 'a1', 'newer');
  expect([made.size(), made.get('a', 'a1'), made.next()]).toEqual([2, 'newer', ['a1', 'newer']]);
});

it('everything comes out once, and nobody who waits sees another namespace twice before his turn', () => {
  const step = fc.oneof(
    { weight: 3, arbitrary: fc.record({ namespace: fc.constantFrom('a', 'b', 'c', 'd'), id: fc.nat(30) }) },
    { weight: 2, arbitrary: fc.constant('next' as const) },
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const made = createNamespaceTurns<string>();
      const waiting = new Map<string, Set<string>>();
      /** By namespace that waits: whose turns it has seen since it began to wait, or had one. */
      const seen = new Map<string, string[]>();
      const take = () => {
        const next = made.next();
        const [namespace = ''] = next?.[0] ?? '';
        expect(next === undefined).toBe(waiting.size === 0);
        if (next === undefined) return;
        const ids = waiting.get(namespace);
        expect(ids?.delete(next[0])).toBe(true);
        if (ids?.size === 0) waiting.delete(namespace);
        for (const [other, before] of seen) {
          if (!waiting.has(other) || other === namespace) continue;
          expect(before).not.toContain(namespace);
          before.push(namespace);
        }
        if (waiting.has(namespace)) seen.set(namespace, []);
        else seen.delete(namespace);
      };
      for (const one of steps) {
        if (one === 'next') {
          take();
          continue;
        }
        const { namespace, id } = one;
        made.set(namespace, `${namespace}${id}`, 'entry');
        if (!waiting.has(namespace)) seen.set(namespace, []);
        waiting.set(namespace, (waiting.get(namespace) ?? new Set()).add(`${namespace}${id}`));
        expect(made.size()).toBe([...waiting.values()].reduce((sum, ids) => sum + ids.size, 0));
      }
      while (waiting.size > 0) take();
      expect([made.size(), made.next()]).toEqual([0, undefined]);
    }),
  );
});
