// A log and metrics that record, for tests of commands.
import { type Log, loggedField } from '../../src/core/log.ts';
import type { MetricLabels, Metrics } from '../../src/core/metrics.ts';

/** The log lines and counts so far. */
export type Recorder = {
  readonly log: Log;
  readonly metrics: Metrics;
  readonly lines: readonly { readonly level: string; readonly message: string; readonly fields: object }[];
  /** The sum of each count; for durations, their number. */
  readonly counts: ReadonlyMap<string, number>;
  /** The clusters with which counts and durations were labelled. */
  readonly clusters: ReadonlySet<string>;
};

/** Creates a log and metrics that record. The fields of a line are as they are written. */
export function createRecorder(): Recorder {
  const lines: { level: string; message: string; fields: object }[] = [];
  const counts = new Map<string, number>();
  const clusters = new Set<string>();
  const add = (name: string, value: number, { cluster }: MetricLabels = {}) => {
    counts.set(name, (counts.get(name) ?? 0) + value);
    if (cluster !== undefined) clusters.add(cluster);
  };
  const logAt =
    (level: string) =>
    (message: string, fields: object = {}) =>
      void lines.push({ level, message, fields: JSON.parse(JSON.stringify(fields, loggedField)) });
  return {
    log: { debug: logAt('debug'), info: logAt('info'), warn: logAt('warn'), error: logAt('error') },
    metrics: {
      count: (name, value = 1, labels) => add(name, value, labels),
      trouble: (cluster, what) => void counts.set(`ClusterTrouble ${cluster} ${what}`, 1),
      author: (name, value) => add(name, value),
      milliseconds: (name, _, labels) => add(name, 1, labels),
    },
    lines,
    counts,
    clusters,
  };
}
