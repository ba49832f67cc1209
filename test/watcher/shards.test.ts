// Only which shard watches which cluster.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { isOnShard } from '../../src/watcher/shards.ts';

const shardsOf = (cluster: string, count: number) =>
  Array.from({ length: count }, (_, index) => index).filter((index) => isOnShard(cluster, { index, count }));

it('each cluster is on two shards, and on the only one of one', () => {
  fc.assert(
    fc.property(fc.string({ minLength: 1 }), fc.integer({ min: 1, max: 9 }), (cluster, count) => {
      expect(shardsOf(cluster, count)).toHaveLength(Math.min(2, count));
    }),
  );
});

it('a shard that is added takes clusters over, and moves none between the others', () => {
  fc.assert(
    fc.property(fc.string({ minLength: 1 }), fc.integer({ min: 2, max: 9 }), (cluster, count) => {
      const before = shardsOf(cluster, count);
      const after = shardsOf(cluster, count + 1).filter((index) => index !== count);
      expect(before).toEqual(expect.arrayContaining(after));
    }),
  );
});

it('500 clusters are spread over 5 shards, 100 to 300 on each', () => {
  const names = Array.from({ length: 500 }, (_, number) => `prod-${number}`);
  for (let index = 0; index < 5; index += 1) {
    const own = names.filter((name) => isOnShard(name, { index, count: 5 }));
    expect(own.length).toBeGreaterThan(100);
    expect(own.length).toBeLessThan(300);
  }
});
