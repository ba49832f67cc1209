// Only the names and dimensions of the functions' metrics. That dashboard, alarms and saved queries use these and no
// others is in test/generate/console.test.ts.
import { expect, it } from 'vitest';
import { collectEmissions, emitting } from './emissions.ts';

it('a metric has the controller as its only dimension, and the cluster with METRICS_PER_CLUSTER', async () => {
  const { metrics } = await collectEmissions({ perCluster: false });
  // ApplyNoops is rare, and in no dashboard or alarm whose test would miss it.
  expect(metrics.map(({ name }) => name)).toContain('ApplyNoops');
  for (const { name, dimensions } of metrics)
    expect(Object.keys(dimensions), name).toEqual(
      name === 'ClusterTrouble'
        ? ['service', 'cluster', 'what']
        : name === 'Reconciles'
          ? ['service', 'cause']
          : ['service'],
    );
  expect(metrics.find(({ name }) => name === 'PartsMade')).toMatchObject({ dimensions: { service: emitting } });
  const causes = metrics.flatMap(({ name, dimensions }) => (name === 'Reconciles' ? [dimensions.cause] : []));
  expect([...new Set(causes)].sort()).toEqual(['change', 'resync', 'retry']);
  // Only what is wrong is written: the watcher of `alpha` has no checkpoint, the server of `noop` keeps no status, and
  // the entry of `broken` has no server.
  expect(metrics.filter(({ name }) => name === 'ClusterTrouble').map(({ dimensions }) => dimensions)).toEqual([
    { service: 'resync', cluster: 'alpha', what: 'watcher-down' },
    { service: 'resync', cluster: 'noop', what: 'not-reconciled' },
    { service: 'resync', cluster: 'broken', what: 'invalid-entry' },
    { service: 'resync', cluster: 'alpha', what: 'list-abandoned' },
  ]);
  const services = new Set(metrics.map(({ dimensions }) => dimensions.service));
  expect(services).toEqual(new Set([emitting, 'resync', 'timers']));

  const both = (await collectEmissions({ perCluster: true })).metrics;
  const of = (name: string) => both.filter((one) => one.name === name).map(({ dimensions }) => dimensions);
  // The metrics of a cluster are counted with and without the cluster. A resync run has no cluster.
  // That of the author is not: each cluster would be billed.
  expect(of('PartsMade').every(({ cluster }) => cluster === undefined)).toBe(true);
  for (const name of ['ReconcileLatency', 'ReconcilesDone', 'MissedChanges']) {
    expect(of(name)).toContainEqual({ service: emitting });
    expect(of(name)).toContainEqual({ service: emitting, cluster: name === 'MissedChanges' ? 'noop' : 'alpha' });
  }
  expect(of('ReconcilesPostponed')).toContainEqual({ service: emitting, cluster: 'broken' });
  expect(of('WatcherDown')).toContainEqual({ service: 'resync', cluster: 'alpha' });
  for (const dimensions of of('ResyncRuns')) expect(dimensions).toEqual({ service: 'resync' });
});
