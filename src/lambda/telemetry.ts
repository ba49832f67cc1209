// Logs and metrics of the functions: one JSON line for each log entry, and metrics in the embedded metric format. The
// controller is the only dimension of a metric, because every value of a dimension is a metric that is billed. A
// deployment can choose a second set of metrics, by controller and cluster.
import { Console } from 'node:console';
import { inspect } from 'node:util';
import { errorFields, type Log, loggedField } from '../core/log.ts';
import {
  causeDimension,
  clusterDimension,
  type MetricLabels,
  type MetricName,
  type Metrics,
  metricNames,
  serviceDimension,
  troubleDimension,
} from '../core/metrics.ts';
import { printableField } from '../core/printable.ts';
import { readTraceHeader, type TimersSettings } from '../settings.ts';
import { EmbeddedMetrics, type MetricUnit } from './embedded-metrics.ts';
import type { InvocationContext } from './events.ts';

/** The logs and metrics of a function. */
export type Telemetry = {
  /** Creates a log with these fields in every line. */
  log(fields: object): Log;
  readonly metrics: Metrics;
  /** Names the invocation in the lines of warnings and errors. Called once, at its start. */
  begin(context: InvocationContext): void;
  /** Writes the metrics. Called once, at the end of an invocation. */
  flush(): void;
};

const levels = ['DEBUG', 'INFO', 'WARN', 'ERROR'] as const;
type Level = (typeof levels)[number];

/** The options of a function's telemetry. */
export type TelemetryOptions = {
  readonly level: Level;
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
  metricNames.selfTriggered,
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
  // Not the global console, whose lines get a prefix from Lambda.
  const { log: write } = new Console(process.stdout);
  let requestId: string | undefined;
  const writeLine = (of: Level, message: string, fields: object) => {
    if (levels.indexOf(of) < levels.indexOf(level)) return;
    const timestamp = new Date().toISOString();
    write(formatLine({ level: of, message, timestamp, service, ...invocationFields(of, requestId), ...fields }));
  };
  const byDimensions = new Map<string, EmbeddedMetrics>();
  const metricsOf = (of: string, more: Readonly<Record<string, string>> = {}): EmbeddedMetrics => {
    const dimensions = { [serviceDimension]: of, ...more };
    const id = JSON.stringify(dimensions);
    const metrics = byDimensions.get(id) ?? new EmbeddedMetrics(write, namespace, dimensions);
    byDimensions.set(id, metrics);
    return metrics;
  };
  const isWritten = (name: MetricName) =>
    monitoring === 'full' || (monitoring === 'lean' && leanMetrics.includes(name));
  const add = (
    name: MetricName,
    unit: MetricUnit,
    value: number,
    { controller = service, cluster, cause }: MetricLabels = {},
  ) => {
    if (!isWritten(name)) return;
    metricsOf(controller, cause === undefined ? {} : { [causeDimension]: cause }).add(name, unit, value);
    if (perCluster && cluster !== undefined)
      metricsOf(controller, { [clusterDimension]: cluster }).add(name, unit, value);
  };
  return {
    log: (fields) => {
      const entry = (more?: object) => ({ ...fields, ...besides(fields, readable(more)) });
      return {
        debug: (message, more) => writeLine('DEBUG', message, entry(more)),
        info: (message, more) => writeLine('INFO', message, entry(more)),
        warn: (message, more) => writeLine('WARN', message, entry(more)),
        error: (message, more) => writeLine('ERROR', message, entry(more)),
      };
    },
    metrics: {
      count: (name, value = 1, labels) => add(name, 'Count', value, labels),
      // Whatever the monitoring is: the author asks for it.
      author: (name, value) => metricsOf(service).add(name, 'Count', value),
      milliseconds: (name, value, labels) => add(name, 'Milliseconds', value, labels),
      trouble: (cluster, what) => {
        if (!isWritten(metricNames.clusterTrouble)) return;
        const dimensions = { [clusterDimension]: cluster, [troubleDimension]: what };
        metricsOf(service, dimensions).add(metricNames.clusterTrouble, 'Count', 1);
      },
    },
    begin: ({ awsRequestId }) => {
      requestId = awsRequestId;
    },
    flush: () => {
      for (const metrics of byDimensions.values()) metrics.flush();
    },
  };
}

/**
 * Returns the fields of an entry beside those of its line. One of the same name, such as `service`, is written under
 * another name, because it would hide whose line it is.
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
/** The fields of a line. */
const lineFields = ['level', 'message', 'timestamp', 'service', 'function_request_id', 'xray_trace_id'];

/** Returns fields with each Error as text. Its other properties may quote a request. */
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
const withRequestId: readonly Level[] = ['WARN', 'ERROR'];

/**
 * The fields that tell which invocation wrote a line. Every byte of a log is billed, so the id is only in warnings and
 * errors, and the trace only if it is sampled (Lambda gives every invocation one).
 */
function invocationFields(level: Level, requestId: string | undefined): object {
  const [, root] = /^(?=.*Sampled=1)(?:.*;)?Root=([^;]+)/.exec(readTraceHeader() ?? '') ?? [];
  return {
    ...(withRequestId.includes(level) ? { function_request_id: requestId } : {}),
    ...(root === undefined ? {} : { xray_trace_id: root }),
  };
}

/** Formats a line. What JSON cannot have, such as a cycle in a field of the author, is text. */
function formatLine(line: object): string {
  try {
    return JSON.stringify(line, lineField);
  } catch {
    const texts = Object.entries(line).map(([name, value]) => [
      name,
      typeof value === 'string' ? value : inspect(value),
    ]);
    return JSON.stringify(Object.fromEntries(texts), lineField);
  }
}

/** Texts of objects and peers are read on terminals, too. */
function lineField(name: string, value: unknown): unknown {
  return printableField(name, loggedField(name, typeof value === 'bigint' ? String(value) : value));
}
