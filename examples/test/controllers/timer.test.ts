// The pings of an object, by a clock that the test moves.
import { battery, startSystem } from 'outrigger/testing';
import { expect, it } from 'vitest';
import { KopfExample, timer } from '../../src/controllers/timer.ts';

const key = { namespace: 'default', name: 'ping' };
const sample = (intervalSeconds: number) => ({
  apiVersion: KopfExample.apiVersion,
  kind: 'KopfExample',
  metadata: key,
  spec: { field: 'value', intervalSeconds },
});

it('an object is pinged once a minute, however often it is changed', async () => {
  await using system = await startSystem({ controllers: [timer] });
  await system.cluster.apply(sample(60));
  await system.settled();
  for (const field of ['a', 'b', 'c']) await system.cluster.apply({ ...sample(60), spec: { field } });
  await system.settled();
  const before = system.reconciles.length;
  await system.advance(10);
  expect((await system.cluster.get(KopfExample, key))?.status).toMatchObject({ pings: 10 });
  expect(system.reconciles.slice(before)).toHaveLength(10);
});

// So old that one has ten pings, and the other one has two.
const options = { changesWithTime: true, sampleAgeSeconds: 610 };
for (const { name, run } of battery(timer, { samples: [sample(60), sample(300)], ...options })) it(name, run);
