// Only what the functions' metrics and log entries are called, and whose they are said to be. That dashboard, alarms and saved
// questions speak of these and no others is test/generate/console.test.ts.
import { expect, it } from 'vitest';
import { collectEmissions, emitting } from './emissions.ts';

it('has the controller as a metric’s only dimension, the cluster where that is asked for, and nothing else', async () => {
  const { metrics } = await collectEmissions({ perCluster: false });
  // Seldom written, and not shown by anything that could be missed: an apply that changed nothing.
  expect(metrics.map(({ name }) => name)).toContain('ApplyNoops');
  for (const { name, dimensions } of metrics) expect(Object.keys(dimensions), name).toEqual(['service']);
  const whose = new Set(metrics.map(({ dimensions }) => dimensions.service));
  expect(whose).toEqual(new Set([emitting, 'resync', 'timers']));

  const both = (await collectEmissions({ perCluster: true })).metrics;
  const of = (name: string) => both.filter((one) => one.name === name).map(({ dimensions }) => dimensions);
  // What is a cluster's is counted for it and for all; a tick is nobody's.
  for (const name of ['LagMilliseconds', 'ReconcilesDone', 'Unobserved']) {
    expect(of(name)).toContainEqual({ service: emitting });
    expect(of(name)).toContainEqual({ service: emitting, cluster: 'alpha' });
  }
  expect(of('ReconcilesDeferred')).toContainEqual({ service: emitting, cluster: 'broken' });
  expect(of('WatchersSilent')).toContainEqual({ service: 'resync', cluster: 'alpha' });
  for (const dimensions of of('ResyncTicks')) expect(dimensions).toEqual({ service: 'resync' });
});
