// Logs and metrics of the functions, with Powertools: one JSON line for each log entry, and metrics in the embedded
// metric format. The controller is the only dimension of a metric, because every value of a dimension is a metric that
// is billed. A deployment can choose a second set of metrics, by controller and cluster.
import { LogFormatter, Logger, LogItem } from '@aws-lambda-powertools/logger';
import type { LogAttributes, UnformattedAttributes } from '@aws-lambda-powertools/logger/types';
import { MetricUnit, Metrics as PowertoolsMetrics } from '@aws-lambda-powertools/metrics';
import type { Context as LambdaContext } from 'aws-lambda';
import { errorFields, type Log, loggedField } from '../core/log.ts';
import {
  causeDimension,
  clusterDimension,
  type MetricLabels,
  type MetricName,
  type Metrics,
  metricNames,
  troubleDimension,
} from '../core/metrics.ts';
import { printableField } from '../core/printable.ts';
import { readTraceHeader, type TimersSettings } from '../settings.ts';

type MetricUnitOf = (typeof MetricUnit)[keyof typeof MetricUnit];

/** The logs and metrics of a function. */
export type Telemetry = {
  /** Creates a log with these fields in every line. */
  log(fields: object): Log;
  readonly metrics: Metrics;
  /** Names the invocation in the lines of warnings and errors. Called once, at its start. */
  begin(context: LambdaContext): void;
  /** Writes the metrics. Called once, at the end of an invocation. */
  flush(): void;
};

/** The options of a function's telemetry. */
export type TelemetryOptions = {
  readonly level: 'DEBUG' | 'INFO' | 'WARN' | 'ERROR';
  readonly namespace: string;
  /** Whether the metrics of a cluster are also written with the cluster as a second dimension. */
  readonly perCluster?: boolean;
  /** Which metrics are written. Default full: all. */
  readonly monitoring?: 'full' | 'lean' | 'off';
};

/**
 * The metrics of lean monitoring: that of the resync's runs, and those that a healthy deployment never writes. Every
 * other metric is billed each month for each controller.
 */
const leanMetrics: readonly MetricName[] = [
  metricNames.resyncRuns,
  metricNames.clusterTrouble,
  metricNames.clustersTableStale,
  metricNames.deadLetters,
  metricNames.deadLetterQueueDepth,
  metricNames.sendersRefused,
  // The sign that the entry of a cluster can be removed.
  metricNames.decommissioningClusterMessages,
];

/** Reads the options of a function's telemetry from its settings. */
export function telemetryOptions({
  LOG_LEVEL: level,
  METRICS_NAMESPACE: namespace,
  METRICS_PER_CLUSTER: perCluster,
  MONITORING: monitoring,
}: Pick<TimersSettings, 'LOG_LEVEL' | 'METRICS_NAMESPACE' | 'METRICS_PER_CLUSTER' | 'MONITORING'>): TelemetryOptions {
  return { level, namespace, perCluster, monitoring };
}

/**
 * Creates the telemetry of one function. Its metrics have the dimension `service`, unless they are labelled with a
 * controller.
 */
export function createTelemetry(
  service: string,
  { level, namespace, perCluster = false, monitoring = 'full' }: TelemetryOptions,
): Telemetry {
  const logger = new Logger({
    serviceName: service,
    logLevel: level,
    logFormatter: new LineFormatter(),
    // Texts of objects and peers are read on terminals, too.
    jsonReplacerFn: (name, value) => printableField(name, loggedField(name, value)),
  });
  const byDimensions = new Map<string, PowertoolsMetrics>();
  /** Metrics with the same dimensions are written in one line. */
  const metricsOf = (serviceName: string, defaultDimensions: Record<string, string> = {}): PowertoolsMetrics => {
    const id = JSON.stringify([serviceName, defaultDimensions]);
    const before = byDimensions.get(id);
    if (before !== undefined) return before;
    const metrics = new PowertoolsMetrics({ namespace, serviceName, defaultDimensions });
    byDimensions.set(id, metrics);
    return metrics;
  };
  const isWritten = (name: MetricName) =>
    monitoring === 'full' || (monitoring === 'lean' && leanMetrics.includes(name));
  const add = (
    name: MetricName,
    unit: MetricUnitOf,
    value: number,
    { controller = service, cluster, cause }: MetricLabels = {},
  ) => {
    if (!isWritten(name)) return;
    metricsOf(controller, cause === undefined ? {} : { [causeDimension]: cause }).addMetric(name, unit, value);
    if (perCluster && cluster !== undefined)
      metricsOf(controller, { [clusterDimension]: cluster }).addMetric(name, unit, value);
  };
  return {
    log: (fields) => {
      const entry = (more?: object) => ({ ...fields, ...besides(fields, readable(more)) });
      return {
        debug: (message, more) => logger.debug(message, entry(more)),
        info: (message, more) => logger.info(message, entry(more)),
        warn: (message, more) => logger.warn(message, entry(more)),
        error: (message, more) => logger.error(message, entry(more)),
      };
    },
    metrics: {
      count: (name, value = 1, labels) => add(name, MetricUnit.Count, value, labels),
      // Whatever the monitoring is: the author asks for it.
      author: (name, value) => metricsOf(service).addMetric(name, MetricUnit.Count, value),
      milliseconds: (name, value, labels) => add(name, MetricUnit.Milliseconds, value, labels),
      trouble: (cluster, what) => {
        if (!isWritten(metricNames.clusterTrouble)) return;
        const dimensions = { [clusterDimension]: cluster, [troubleDimension]: what };
        metricsOf(service, dimensions).addMetric(metricNames.clusterTrouble, MetricUnit.Count, 1);
      },
    },
    begin: (context) => logger.addContext(context),
    flush: () => {
      for (const metrics of byDimensions.values()) if (metrics.hasStoredMetrics()) metrics.publishStoredMetrics();
    },
  };
}

/**
 * Returns the fields of an entry beside those of its line. One of the same name, such as `service`, is written under
 * another: Powertools would drop it, or it would hide whose line it is.
 */
function besides(fields: object, more: object): object {
  const own = new Map<string, unknown>(Object.entries(fields));
  const isTaken = (name: string) => own.has(name) || lineFields.some((one) => one === name);
  return Object.fromEntries(
    Object.entries(more).flatMap(([name, value]) => {
      if (!isTaken(name)) return [[name, value]];
      return own.get(name) === value ? [] : [[`${takenPrefix}${name}`, value]];
    }),
  );
}

/** Before the name of a field that every line has. */
const takenPrefix = 'author_';
/** The fields of every line, and what Powertools refuses besides (its `ReservedKeys`). */
const lineFields = [
  ...['level', 'message', 'timestamp', 'service', 'function_request_id', 'xray_trace_id'],
  'sampling_rate',
];

/** Returns fields with each Error as text. Powertools would write all its properties, which may quote a request. */
function readable(fields: object = {}): object {
  if (fields instanceof Error) return errorFields(fields);
  return Object.assign({}, ...Object.entries(fields).map(readableField));
}

function readableField([name, value]: readonly [string, unknown]): object {
  if (!(value instanceof Error)) return { [name]: value };
  const { error, ...stack } = errorFields(value);
  return { [name]: error, ...(name === 'error' ? stack : {}) };
}

/** The levels of lines that name their invocation: of the others, the id would be a tenth of the bytes. */
const withRequestId: readonly unknown[] = ['WARN', 'ERROR'];

/**
 * Removes fields from the log lines of Powertools: the sampling rate, those of the Lambda context but for the id of the
 * invocation in warnings and errors, and the id of a trace that is not sampled (Lambda gives every invocation an id).
 * Every byte of a log is billed. It is a class because Powertools requires one.
 */
class LineFormatter extends LogFormatter {
  override formatAttributes(
    { logLevel, message, timestamp, serviceName, xRayTraceId, lambdaContext }: UnformattedAttributes,
    more: LogAttributes,
  ): LogItem {
    const traced = readTraceHeader()?.includes('Sampled=1') === true ? { xray_trace_id: xRayTraceId } : {};
    const attributes = {
      level: logLevel,
      message,
      timestamp: this.formatTimestamp(timestamp),
      service: serviceName,
      ...(withRequestId.includes(logLevel) ? { function_request_id: lambdaContext?.awsRequestId } : {}),
      ...traced,
    };
    return new LogItem({ attributes }).addAttributes(more);
  }
}
