// The clusters table of many environments on a simulated clock: how often they read S3 together, and that an outage of
// S3 postpones no key. The table and the source are the real ones; the object is in memory.
// docs/decisions/0031-clusters-table-in-s3.md has the figures.
import { describe, expect, it } from 'vitest';
import { createClusterRegistry } from '../../../src/clusters/registry/registry.ts';
import type { S3Read } from '../../../src/clusters/registry/s3-object.ts';
import { createS3Source } from '../../../src/clusters/registry/source.ts';
import { createSeededRandom } from '../../../tools/chaos/random.ts';

const environmentCount = 70;
const hour = 3600;

function simulate(clusterCount: number) {
  const random = createSeededRandom(clusterCount).number;
  const state = { nowMs: 0, isDown: false, reads: 0, contents: 0 };
  const ca = 'A'.repeat(1_700);
  const entries = Array.from({ length: clusterCount }, (_, index) => [
    `cluster-${index}`,
    { server: `https://cluster-${index}`, ca, access: { type: 'eks', cluster: `c-${index}`, region: 'eu-central-1' } },
  ]);
  const text = JSON.stringify(Object.fromEntries(entries));
  const get = async (etag?: string): Promise<S3Read> => {
    state.reads += 1;
    if (state.isDown) throw new Error('S3 is down');
    if (etag === '"1"') return { type: 'unchanged' };
    state.contents += 1;
    return { type: 'object', text, etag: '"1"' };
  };
  const environments = Array.from({ length: environmentCount }, () =>
    createClusterRegistry(createS3Source('s3://bucket/clusters.json', { get }), {
      now: () => new Date(state.nowMs),
      random,
    }),
  );
  /** Each environment reconciles a key of a random cluster in each second. Returns the number of postponed keys. */
  const run = async (seconds: number): Promise<number> => {
    let postponed = 0;
    for (let second = 0; second < seconds; second += 1) {
      for (const environment of environments) {
        const found = await environment.get(`cluster-${Math.floor(random() * clusterCount)}`).catch(() => undefined);
        if (found === undefined) postponed += 1;
      }
      state.nowMs += 1000;
    }
    return postponed;
  };
  return { state, run, environments };
}

describe.each([50, 500])('70 environments with a table of %i clusters', (clusterCount) => {
  it('70 cold starts in one second read S3 70 times, and each key is found within that second', async () => {
    const { state, run } = simulate(clusterCount);
    expect(await run(1)).toBe(0);
    expect(state).toMatchObject({ reads: environmentCount, contents: environmentCount, nowMs: 1000 });
  });

  it('70 busy environments send at most 1.5 reads a second together, also in an hour without S3, which postpones no key', async () => {
    const { state, run, environments } = simulate(clusterCount);
    await run(60);
    for (const isDown of [false, true]) {
      const before = state.reads;
      state.isDown = isDown;
      expect(await run(isDown ? hour : hour / 4)).toBe(0);
      expect((state.reads - before) / (isDown ? hour : hour / 4)).toBeLessThanOrEqual(1.5);
    }
    state.isDown = false;
    expect(await run(120)).toBe(0);
    expect(state.contents).toBe(environmentCount);
    expect(environments.filter((one) => one.failure() !== undefined)).toEqual([]);
  });

  it('1,000 rejected credentials a second make each environment read once in 15 s', async () => {
    const { state, run, environments } = simulate(clusterCount);
    await run(60);
    const before = state.reads;
    for (let second = 0; second < 300; second += 1) {
      for (const environment of environments)
        for (let key = 0; key < 15; key += 1) environment.forget(`cluster-${key}`);
      await run(1);
    }
    const perEnvironment = (state.reads - before) / environmentCount;
    expect(perEnvironment).toBeLessThanOrEqual(300 / 15 + 1);
  });
});
