// Logger and Meter of the functions, over Powertools: one JSON line for each log entry, metrics in the embedded metric
// format with the controller as the only dimension (each dimension value is a metric that is paid for).
import { Logger } from '@aws-lambda-powertools/logger';
import { Metrics, MetricUnit } from '@aws-lambda-powertools/metrics';
import type { Log } from '../core/context.ts';
import type { Meter } from '../core/meter.ts';

/** What a function logs and counts with. */
export type Telemetry = {
  /** A log whose every line carries these fields. */
  log(fields: object): Log;
  readonly meter: Meter;
  /** Writes out what was counted; once, at the end of an invocation. */
  flush(): void;
};

/** Creates the telemetry of one function. */
export function createTelemetry(
  service: string,
  { level, namespace }: { readonly level: 'DEBUG' | 'INFO' | 'WARN' | 'ERROR'; readonly namespace: string },
): Telemetry {
  const logger = new Logger({ serviceName: service, logLevel: level });
  const metrics = new Metrics({ namespace, serviceName: service });
  return {
    log: (fields) => ({
      debug: (message, more) => logger.debug(message, { ...fields, ...more }),
      info: (message, more) => logger.info(message, { ...fields, ...more }),
      warn: (message, more) => logger.warn(message, { ...fields, ...more }),
      error: (message, more) => logger.error(message, { ...fields, ...more }),
    }),
    meter: {
      count: (name, value = 1) => void metrics.addMetric(name, MetricUnit.Count, value),
      milliseconds: (name, value) => void metrics.addMetric(name, MetricUnit.Milliseconds, value),
    },
    flush: () => {
      if (metrics.hasStoredMetrics()) metrics.publishStoredMetrics();
    },
  };
}
