// How a function reads the clusters table, and reports reads that fail. The last good table stays in use without a
// limit, so its age is the only sign of an outage, of a missing permission or of a table that was deleted.
import type { OpenClustersOptions } from '../clusters/open-clusters.ts';
import { metricNames } from '../core/metrics.ts';
import { readAwsSettings } from '../settings.ts';
import type { Telemetry } from './telemetry.ts';

/** The age at which a table counts as stale. */
const staleAfterMs = 15 * 60_000;

/** Makes the options. The metrics are written only while reads fail, so a healthy function pays nothing for them. */
export function tableOptions({ log, metrics }: Pick<Telemetry, 'log' | 'metrics'>): OpenClustersOptions {
  return {
    ...readAwsSettings(),
    onFailedRead: ({ error, ageMs }) => {
      log({}).warn('clusters table not read', { reason: error.message, ageMs });
      metrics.milliseconds(metricNames.clustersTableAge, ageMs);
      if (ageMs > staleAfterMs) metrics.count(metricNames.clustersTableStale);
    },
  };
}
