// The clusters that metrics may be labelled with. Each label is a metric that is billed, and a message may name any
// cluster: while the clusters table cannot be read, nothing else refuses a name that is not in it.
import type { MetricLabels, Metrics } from '../core/metrics.ts';

/** The label of every other cluster. It is no valid name of a cluster. */
const notKnown = 'not known';

/** Returns metrics whose label `cluster` is a known cluster, or a fixed one. */
export function labelKnownClusters(metrics: Metrics, isKnown: (cluster: string) => boolean): Metrics {
  const checked = (labels: MetricLabels = {}): MetricLabels =>
    labels.cluster === undefined || isKnown(labels.cluster) ? labels : { ...labels, cluster: notKnown };
  return {
    ...metrics,
    count: (name, value, labels) => metrics.count(name, value, checked(labels)),
    milliseconds: (name, value, labels) => metrics.milliseconds(name, value, checked(labels)),
  };
}
