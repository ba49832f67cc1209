// The metrics of the watcher, for Prometheus. Labels are controllers, causes, queues and kinds, never objects, so the
// number of time series is bounded.
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { Health } from '../forwarding/health.ts';
import type { ForwardMetrics } from '../forwarding/queue-sender.ts';

/** Where the gauges are read from when Prometheus scrapes. */
export type MetricsSource = {
  readonly health: Health;
  /** The number of keys that are queued or in flight. */
  readonly queueDepth: () => number;
  /** The number of known objects, by kind. */
  readonly objects: () => Iterable<readonly [string, number]>;
};

/** The metrics: the counters of the forwarder, and the page to scrape. */
export type WatcherMetrics = {
  readonly forward: ForwardMetrics;
  /** Registers the gauges, which read from the running watcher. */
  observe(source: MetricsSource): void;
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
    labelNames: ['controller', 'cause'],
    registers,
  });
  const coalesced = new Counter({
    name: 'outrigger_watcher_coalesced_total',
    help: 'Changes of a key that was queued already.',
    labelNames: ['controller'],
    registers,
  });
  const rateLimited = new Counter({
    name: 'outrigger_watcher_rate_limited_total',
    help: 'Keys that waited for the rate limit of their controller (RATE_LIMIT_PER_SECOND, RATE_LIMIT_BURST).',
    labelNames: ['controller'],
    registers,
  });
  const rejected = new Counter({
    name: 'outrigger_watcher_send_failures_total',
    help: 'Keys that a queue rejected. They are retried.',
    labelNames: ['queue'],
    registers,
  });
  const latency = new Histogram({
    name: 'outrigger_watcher_forward_latency_seconds',
    help: 'From the observation of a change until SQS accepted its key.',
    labelNames: ['controller', 'cause'],
    buckets: latencyBuckets,
    registers,
  });
  return {
    forward: {
      accepted: (controller, cause, latencyMs) => {
        forwarded.inc({ controller, cause });
        latency.observe({ controller, cause }, latencyMs / 1000);
      },
      coalesced: (controller) => coalesced.inc({ controller }),
      rejected: (queue, keys) => rejected.inc({ queue }, keys),
      rateLimited: (controller, keys) => rateLimited.inc({ controller }, keys),
    },
    observe: (source) => {
      for (const metric of observedMetrics(source)) registry.registerMetric(metric);
    },
    contentType: registry.contentType,
    page: () => registry.metrics(),
  };
}

function observedMetrics({ health, queueDepth, objects }: MetricsSource): readonly (Gauge | Counter)[] {
  const registers: Registry[] = [];
  return [
    new Gauge({
      name: 'outrigger_watcher_queue_depth',
      help: 'Keys that are queued in the watcher or in flight to SQS.',
      registers,
      collect() {
        this.set(queueDepth());
      },
    }),
    new Gauge({
      name: 'outrigger_watcher_objects',
      help: 'Objects that the watcher tracks.',
      labelNames: ['kind'],
      registers,
      collect() {
        for (const [kind, count] of objects()) this.set({ kind }, count);
      },
    }),
    new Gauge({
      name: 'outrigger_watcher_last_event_age_seconds',
      help: 'Time since the API server last sent an event of a kind, bookmarks included. Absent before the first one.',
      labelNames: ['kind'],
      registers,
      collect() {
        for (const { kind, lastEventAgeSeconds } of health.report()) {
          if (lastEventAgeSeconds !== undefined) this.set({ kind }, lastEventAgeSeconds);
        }
      },
    }),
    new Gauge({
      name: 'outrigger_watcher_served',
      help: 'Whether the API server serves a kind to the watcher (0: it responds with 403 or 404).',
      labelNames: ['kind'],
      registers,
      collect() {
        for (const { kind, served } of health.report()) if (served !== undefined) this.set({ kind }, served ? 1 : 0);
      },
    }),
    new Counter({
      name: 'outrigger_watcher_lists_total',
      help: 'Lists of a whole kind that were started.',
      labelNames: ['kind'],
      registers,
      collect() {
        // The loops hold the count; prom-client's counters cannot be set.
        this.reset();
        for (const { kind, lists } of health.report()) this.inc({ kind }, lists);
      },
    }),
    new Counter({
      name: 'outrigger_watcher_watch_errors_total',
      help: 'Lists and watches that failed and were retried.',
      labelNames: ['kind'],
      registers,
      collect() {
        // The loops hold the count; prom-client's counters cannot be set.
        this.reset();
        for (const { kind, watchErrors } of health.report()) this.inc({ kind }, watchErrors);
      },
    }),
    new Counter({
      name: 'outrigger_watcher_loop_restarts_total',
      help: 'Watch loops that failed and were restarted.',
      labelNames: ['kind'],
      registers,
      collect() {
        // The loops hold the count; prom-client's counters cannot be set.
        this.reset();
        for (const { kind, restarts } of health.report()) this.inc({ kind }, restarts);
      },
    }),
  ];
}
