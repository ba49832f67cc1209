// The metrics of the watcher, for Prometheus. Labels are clusters, controllers, causes, queues and kinds, and never
// objects, so the number of time series is bounded.
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { Health, KindReport } from '../forwarding/health.ts';
import type { ForwardMetrics } from '../forwarding/queue-sender.ts';

/** Where the gauges of a cluster are read from when Prometheus scrapes. */
export type MetricsSource = {
  readonly health: Health;
  /** The number of keys that are queued or in flight. */
  readonly queueDepth: () => number;
  /** The number of known objects, by kind. */
  readonly objects: () => Iterable<readonly [string, number]>;
};

/** The metrics of one cluster. */
export type ClusterMetrics = {
  /** The counters of its forwarder. */
  readonly forward: ForwardMetrics;
  /** Sets the source of the cluster's gauges. */
  observe(source: MetricsSource): void;
  /** Removes the cluster's gauges. Its counters stay, because a counter that disappears looks like a restart. */
  remove(): void;
};

/** The metrics: those of each cluster, and the page to scrape. */
export type WatcherMetrics = {
  /** Returns the metrics of a cluster by its name in the clusters table. */
  of(cluster: string): ClusterMetrics;
  readonly contentType: string;
  page(): Promise<string>;
};

/** In seconds: from a few milliseconds on an idle watcher to an outage of hours. */
const latencyBuckets = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800, 7200];

/** Creates the metrics, in their own registry. */
export function createMetrics(): WatcherMetrics {
  const registers = [new Registry()];
  const [registry = new Registry()] = registers;
  collectDefaultMetrics({ register: registry });
  const forwarded = new Counter({
    name: 'outrigger_watcher_forwarded_total',
    help: 'Keys that SQS has accepted.',
    labelNames: ['cluster', 'controller', 'cause'],
    registers,
  });
  const coalesced = new Counter({
    name: 'outrigger_watcher_coalesced_total',
    help: 'Changes of a key that was queued already.',
    labelNames: ['cluster', 'controller'],
    registers,
  });
  const rateLimited = new Counter({
    name: 'outrigger_watcher_rate_limited_total',
    help: 'Keys that waited for the rate limit of their controller (RATE_LIMIT_PER_SECOND, RATE_LIMIT_BURST).',
    labelNames: ['cluster', 'controller'],
    registers,
  });
  const rejected = new Counter({
    name: 'outrigger_watcher_send_failures_total',
    help: 'Keys that a queue rejected. They are retried.',
    labelNames: ['cluster', 'queue'],
    registers,
  });
  const latency = new Histogram({
    name: 'outrigger_watcher_forward_latency_seconds',
    help: 'From the observation of a change until SQS accepted its key.',
    labelNames: ['cluster', 'controller', 'cause'],
    buckets: latencyBuckets,
    registers,
  });
  const sources = new Map<string, MetricsSource>();
  for (const metric of observedMetrics(sources)) registry.registerMetric(metric);
  return {
    of: (cluster) => {
      let own: MetricsSource | undefined;
      return {
        forward: {
          accepted: (controller, cause, latencyMs) => {
            forwarded.inc({ cluster, controller, cause });
            latency.observe({ cluster, controller, cause }, latencyMs / 1000);
          },
          coalesced: (controller) => coalesced.inc({ cluster, controller }),
          rejected: (queue, keys) => rejected.inc({ cluster, queue }, keys),
          rateLimited: (controller, keys) => rateLimited.inc({ cluster, controller }, keys),
        },
        observe: (source) => {
          own = source;
          sources.set(cluster, source);
        },
        remove: () => {
          if (sources.get(cluster) === own) sources.delete(cluster);
        },
      };
    },
    contentType: registry.contentType,
    page: () => registry.metrics(),
  };
}

/** The metrics that are read from the running watchers, with one value for each cluster and kind. */
function observedMetrics(sources: ReadonlyMap<string, MetricsSource>): readonly (Gauge | Counter)[] {
  const registers: Registry[] = [];
  const labelNames = ['cluster', 'kind'];
  const kinds = () =>
    [...sources].flatMap(([cluster, { health }]) =>
      health.report().map((report) => ({ labels: { cluster, kind: report.kind }, report })),
    );
  const gauge = (name: string, help: string, read: (report: KindReport) => number | undefined) =>
    new Gauge({
      name,
      help,
      labelNames,
      registers,
      collect() {
        this.reset();
        for (const { labels, report } of kinds()) {
          const value = read(report);
          if (value !== undefined) this.set(labels, value);
        }
      },
    });
  const counter = (name: string, help: string, read: (report: KindReport) => number) =>
    new Counter({
      name,
      help,
      labelNames,
      registers,
      collect() {
        // The loops hold the count; prom-client's counters cannot be set.
        this.reset();
        for (const { labels, report } of kinds()) this.inc(labels, read(report));
      },
    });
  return [
    new Gauge({
      name: 'outrigger_watcher_queue_depth',
      help: 'Keys that are queued in the watcher or in flight to SQS.',
      labelNames: ['cluster'],
      registers,
      collect() {
        this.reset();
        for (const [cluster, { queueDepth }] of sources) this.set({ cluster }, queueDepth());
      },
    }),
    new Gauge({
      name: 'outrigger_watcher_cluster_ready',
      help: 'Whether every kind of the cluster had a recent event.',
      labelNames: ['cluster'],
      registers,
      collect() {
        this.reset();
        for (const [cluster, { health }] of sources) this.set({ cluster }, health.ready() ? 1 : 0);
      },
    }),
    new Gauge({
      name: 'outrigger_watcher_objects',
      help: 'Objects that the watcher tracks.',
      labelNames,
      registers,
      collect() {
        this.reset();
        for (const [cluster, { objects }] of sources) {
          for (const [kind, count] of objects()) this.set({ cluster, kind }, count);
        }
      },
    }),
    gauge(
      'outrigger_watcher_last_event_age_seconds',
      'Time since the last event of a kind: a change, a bookmark, the read after an idle watch. Absent before one.',
      ({ lastEventAgeSeconds }) => lastEventAgeSeconds,
    ),
    gauge(
      'outrigger_watcher_served',
      'Whether the API server serves a kind to the watcher (0: it responds with 404).',
      ({ served }) => (served === undefined ? undefined : Number(served)),
    ),
    counter('outrigger_watcher_lists_total', 'Lists of a whole kind that were started.', ({ lists }) => lists),
    counter(
      'outrigger_watcher_watch_errors_total',
      'Lists and watches that failed and were retried.',
      ({ watchErrors }) => watchErrors,
    ),
    counter(
      'outrigger_watcher_loop_restarts_total',
      'Watch loops that failed and were restarted.',
      ({ restarts }) => restarts,
    ),
  ];
}
