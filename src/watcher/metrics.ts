// What Prometheus reads off a watcher. Labels are controllers, lanes and kinds, never objects: their number is known.
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { ForwardMeter } from '../runtime/pump.ts';
import type { Health } from './health.ts';

/** What the figures are read from when somebody asks. */
export type MetricsSource = {
  readonly health: Health;
  /** Keys that wait or are on their way. */
  readonly waiting: () => number;
  /** Known objects by kind. */
  readonly objects: () => Iterable<readonly [string, number]>;
};

/** The watcher's metrics: where the forwarder counts, and the page. */
export type WatcherMetrics = {
  readonly meter: ForwardMeter;
  /** Begins to read from the running parts. */
  observe(source: MetricsSource): void;
  readonly contentType: string;
  page(): Promise<string>;
};

/** From an idle watcher's few milliseconds to an outage of hours. */
const lagSeconds = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800, 7200];

/** Creates metrics with a registry of their own. */
export function createMetrics(): WatcherMetrics {
  const registers = [new Registry()];
  const [registry = new Registry()] = registers;
  collectDefaultMetrics({ register: registry });
  const forwarded = new Counter({
    name: 'outrigger_watcher_forwarded_total',
    help: 'Keys that SQS has accepted.',
    labelNames: ['controller', 'lane'],
    registers,
  });
  const coalesced = new Counter({
    name: 'outrigger_watcher_coalesced_total',
    help: 'Changes that joined a key which was waiting already.',
    labelNames: ['controller'],
    registers,
  });
  const paced = new Counter({
    name: 'outrigger_watcher_paced_total',
    help: 'Keys that had to wait because more changed than their controller may be sent (FORWARD_PER_SECOND, FORWARD_BURST).',
    labelNames: ['controller'],
    registers,
  });
  const refused = new Counter({
    name: 'outrigger_watcher_send_failures_total',
    help: 'Keys that a queue did not accept; they are sent again.',
    labelNames: ['queue'],
    registers,
  });
  const lag = new Histogram({
    name: 'outrigger_watcher_lag_seconds',
    help: 'From seeing a change until SQS accepted its key.',
    labelNames: ['controller', 'lane'],
    buckets: lagSeconds,
    registers,
  });
  return {
    meter: {
      accepted: (controller, lane, lagMs) => {
        forwarded.inc({ controller, lane });
        lag.observe({ controller, lane }, lagMs / 1000);
      },
      coalesced: (controller) => coalesced.inc({ controller }),
      refused: (queue, keys) => refused.inc({ queue }, keys),
      paced: (controller, keys) => paced.inc({ controller }, keys),
    },
    observe: (source) => {
      for (const gauge of gaugesOf(source)) registry.registerMetric(gauge);
    },
    contentType: registry.contentType,
    page: () => registry.metrics(),
  };
}

function gaugesOf({ health, waiting, objects }: MetricsSource): readonly Gauge[] {
  const registers: Registry[] = [];
  return [
    new Gauge({
      name: 'outrigger_watcher_waiting',
      help: 'Keys that wait for SQS or are on their way.',
      registers,
      collect() {
        this.set(waiting());
      },
    }),
    new Gauge({
      name: 'outrigger_watcher_objects',
      help: 'Objects that the watcher knows.',
      labelNames: ['kind'],
      registers,
      collect() {
        for (const [kind, count] of objects()) this.set({ kind }, count);
      },
    }),
    new Gauge({
      name: 'outrigger_watcher_last_frame_age_seconds',
      help: 'Since the API server last sent anything for a kind; absent before the first time.',
      labelNames: ['kind'],
      registers,
      collect() {
        for (const { kind, frameAgeSeconds } of health.report()) {
          if (frameAgeSeconds !== undefined) this.set({ kind }, frameAgeSeconds);
        }
      },
    }),
    new Gauge({
      name: 'outrigger_watcher_served',
      help: 'Whether the API server serves a kind to the watcher (0: it answers 403 or 404).',
      labelNames: ['kind'],
      registers,
      collect() {
        for (const { kind, served } of health.report()) if (served !== undefined) this.set({ kind }, served ? 1 : 0);
      },
    }),
    new Gauge({
      name: 'outrigger_watcher_lists',
      help: 'Lists of a whole kind that were begun.',
      labelNames: ['kind'],
      registers,
      collect() {
        for (const { kind, lists } of health.report()) this.set({ kind }, lists);
      },
    }),
    new Gauge({
      name: 'outrigger_watcher_interruptions',
      help: 'Lists and watches that failed and were tried again.',
      labelNames: ['kind'],
      registers,
      collect() {
        for (const { kind, interruptions } of health.report()) this.set({ kind }, interruptions);
      },
    }),
    new Gauge({
      name: 'outrigger_watcher_loop_restarts',
      help: 'Times that a watch loop broke and began anew.',
      labelNames: ['kind'],
      registers,
      collect() {
        for (const { kind, restarts } of health.report()) this.set({ kind }, restarts);
      },
    }),
  ];
}
