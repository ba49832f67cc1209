// Only the clusters with which metrics are labelled: each is a metric that is billed, and a message may name any.
import { expect, it } from 'vitest';
import { record, setUp } from './batch-harness.ts';

it('while the clusters table cannot be read, metrics have the cluster of a message only if the table had it', async () => {
  const { run, seen, clusters } = setUp();
  seen.clusterAnswer = new Error('unavailable');
  await run(['a', 'x', 'y'].map((cluster) => record(cluster, { cluster })));
  expect([...clusters]).toEqual(['a', 'not known']);
});
