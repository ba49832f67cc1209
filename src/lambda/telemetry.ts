// Logger and Meter of the functions, over Powertools: one JSON line for each log entry, metrics in the embedded metric
// format with the controller as the only dimension, because each of a dimension's values is a metric that is paid for. A
// deployment that wants to pay for it has a second set of metrics, by controller and cluster.
import { LogFormatter, Logger, LogItem } from '@aws-lambda-powertools/logger';
import type { LogAttributes, UnformattedAttributes } from '@aws-lambda-powertools/logger/types';
import { Metrics, MetricUnit } from '@aws-lambda-powertools/metrics';
import type { Log } from '../core/context.ts';
import type { Meter, Whose } from '../core/meter.ts';
import { readTraceHeader, type TimersSettings } from '../settings.ts';

type MetricUnitOf = (typeof MetricUnit)[keyof typeof MetricUnit];

/** What a function logs and counts with. */
export type Telemetry = {
  /** A log whose every line carries these fields. */
  log(fields: object): Log;
  readonly meter: Meter;
  /** Writes out what was counted; once, at the end of an invocation. */
  flush(): void;
};

/** How the figures of a function are written. */
export type TelemetryOptions = {
  readonly level: 'DEBUG' | 'INFO' | 'WARN' | 'ERROR';
  readonly namespace: string;
  /** Whether what is a cluster's is also written with the cluster as a second dimension. */
  readonly perCluster?: boolean;
};

/** Reads the options of a function's telemetry from its settings. */
export function telemetryOptions({
  LOG_LEVEL: level,
  METRICS_NAMESPACE: namespace,
  METRICS_PER_CLUSTER: perCluster,
}: TimersSettings): TelemetryOptions {
  return { level, namespace, perCluster };
}

/** Creates the telemetry of one function; `service` is whose figures are nobody else's. */
export function createTelemetry(
  service: string,
  { level, namespace, perCluster = false }: TelemetryOptions,
): Telemetry {
  const logger = new Logger({ serviceName: service, logLevel: level, logFormatter: new LineFormatter() });
  const byDimensions = new Map<string, Metrics>();
  /** Figures with the same dimensions are one line. */
  const metricsOf = (serviceName: string, cluster?: string): Metrics => {
    const id = JSON.stringify([serviceName, cluster]);
    const before = byDimensions.get(id);
    if (before !== undefined) return before;
    const defaultDimensions = cluster === undefined ? {} : { cluster };
    const metrics = new Metrics({ namespace, serviceName, defaultDimensions });
    byDimensions.set(id, metrics);
    return metrics;
  };
  const add = (name: string, unit: MetricUnitOf, value: number, { controller = service, cluster }: Whose = {}) => {
    metricsOf(controller).addMetric(name, unit, value);
    if (perCluster && cluster !== undefined) metricsOf(controller, cluster).addMetric(name, unit, value);
  };
  return {
    log: (fields) => ({
      debug: (message, more) => logger.debug(message, { ...fields, ...more }),
      info: (message, more) => logger.info(message, { ...fields, ...more }),
      warn: (message, more) => logger.warn(message, { ...fields, ...more }),
      error: (message, more) => logger.error(message, { ...fields, ...more }),
    }),
    meter: {
      count: (name, value = 1, whose) => add(name, MetricUnit.Count, value, whose),
      milliseconds: (name, value, whose) => add(name, MetricUnit.Milliseconds, value, whose),
    },
    flush: () => {
      for (const metrics of byDimensions.values()) if (metrics.hasStoredMetrics()) metrics.publishStoredMetrics();
    },
  };
}

/**
 * Powertools' line without what says nothing here: a sampling rate, and a trace that nobody keeps (Lambda gives every invocation the
 * id of one, traced or not). Every byte of a line is paid for. A class, because Powertools takes no less.
 */
class LineFormatter extends LogFormatter {
  override formatAttributes(
    { logLevel, message, timestamp, serviceName, xRayTraceId }: UnformattedAttributes,
    more: LogAttributes,
  ): LogItem {
    const traced = readTraceHeader()?.includes('Sampled=1') === true ? { xray_trace_id: xRayTraceId } : {};
    const attributes = {
      level: logLevel,
      message,
      timestamp: this.formatTimestamp(timestamp),
      service: serviceName,
      ...traced,
    };
    return new LogItem({ attributes }).addAttributes(more);
  }
}
