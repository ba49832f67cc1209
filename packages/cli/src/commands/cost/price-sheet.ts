// The computation of the price of reconciles and of idle months, from prices and measurements, for the command `cost`
// and for the tables of docs/records/cost.md. It consists of pure functions. All assumptions are in this file, each
// with its reason.

import * as z from 'zod';
import { leanAlarms } from '../../serverless/monitoring.ts';

const price = z.strictObject({ what: z.string(), dollars: z.number().positive(), sources: z.array(z.string()) });

const priceNames = [
  ...['fifoRequests', 'standardRequests', 'lambdaRequests', 'lambdaGigabyteSeconds', 'schedules'],
  ...['logsGigabyte', 'logsKeptGigabyte', 'metric', 'alarmMetric', 'dashboard'],
  ...['fargateVcpuHour', 'fargateGigabyteHour', 'fargateArmVcpuHour', 'fargateArmGigabyteHour'],
  ...['publicAddressHour', 'natGatewayHour', 'natGigabyte', 'endpointHour', 'secret'],
] as const;

/** A file of prices; a price without a source is unverified. */
export const pricesShape = z.strictObject({
  region: z.string(),
  note: z.string(),
  prices: z.record(z.enum(priceNames), price),
});
export type Prices = z.infer<typeof pricesShape>['prices'];

const invocation = z.strictObject({
  cpuMilliseconds: z.number(),
  requests: z.number(),
  logBytes: z.number(),
  logLines: z.number(),
});
type Invocation = z.infer<typeof invocation>;

/** The result of f9-measure. Names end with the number of messages in an invocation. */
export const measuredShape = z.strictObject({
  machine: z.string(),
  batchSize: z.literal(10),
  how: z.string(),
  'changed-1': invocation,
  'changed-10': invocation,
  'converged-1': invocation,
  'converged-10': invocation,
  'timers-1': invocation,
  'timers-10': invocation,
  'poll-2': invocation,
});
export type Measured = z.infer<typeof measuredShape>;

/** The deployed controllers, and the metrics that alarms watch with MONITORING=full. */
export type Deployment = { readonly controllers: number; readonly alarmMetrics: number };

/** The parameter MONITORING of a deployment. */
export type Monitoring = 'full' | 'lean';

/** Assumptions: values that were not measured on AWS. */
export const assumed = {
  /** The round trip of a request to an API server or a queue in the same region. */
  roundTripMs: 5,
  /**
   * "At 1,769 MB, a function has the equivalent of one vCPU" (Lambda, "Configure Lambda function memory"). A vCPU is
   * assumed to be a core of the measuring machine.
   */
  megabytesPerCore: 1_769,
  /**
   * The log lines of Lambda itself for each invocation, as in its documentation ("Log and monitor Node.js Lambda
   * functions").
   */
  platformLines: [
    'START RequestId: c793869b-ee49-115b-a5b6-4fd21e8dedac Version: $LATEST\n',
    'END RequestId: c793869b-ee49-115b-a5b6-4fd21e8dedac\n',
    'REPORT RequestId: c793869b-ee49-115b-a5b6-4fd21e8dedac\tDuration: 128.83 ms\tBilled Duration: 129 ms\t' +
      'Memory Size: 256 MB\tMax Memory Used: 128 MB\t\n',
  ],
  /** CloudWatch Logs, PutLogEvents: a log event counts 26 bytes more than its text. */
  lineOverheadBytes: 26,
  /** Pollers of an event source mapping with a maximum concurrency; each long poll takes 20 s. */
  pollers: 5,
  pollSeconds: 20,
  /** Both watchers send each change. */
  watchers: 2,
  /** Objects of each controller in each cluster. */
  objects: 10,
  /** The period in which each object is reconciled once. */
  periodHours: 10,
} as const;

/** The memory of a reconcile function in serverless.yml. */
export const functionMegabytes = 256;
/** The memory of the resync function. */
export const resyncMegabytes = 512;
/** f7: 4.9 s of CPU time for 100,000 objects. */
export const listCoreSecondsPerObject = 4.9 / 100_000;
/** The same on the share of a core that 512 MB have. */
const listSecondsPerObject = (listCoreSecondsPerObject * assumed.megabytesPerCore) / resyncMegabytes;
const secondsAMonth = 30 * 86_400;
export const hoursAMonth = 730;
/** The runs of the resync in a month. */
export const resyncRuns = secondsAMonth / 600;
const reconcilesPerObject = secondsAMonth / (assumed.periodHours * 3_600);
/** The smallest pod of Fargate; the memory that EKS adds (256 MB) is included. */
const pod = { vcpus: 0.25, gigabytes: 0.5 };

/** Dollars by purpose. */
export type Cost = {
  readonly queues: number;
  readonly functions: number;
  readonly logs: number;
  readonly console: number;
};

/** Returns the sum. */
export function total({ queues, functions, logs, console }: Cost): number {
  return queues + functions + logs + console;
}

const nothing: Cost = { queues: 0, functions: 0, logs: 0, console: 0 };

function sum(...costs: readonly Cost[]): Cost {
  return costs.reduce(
    (all, one) => ({
      queues: all.queues + one.queues,
      functions: all.functions + one.functions,
      logs: all.logs + one.logs,
      console: all.console + one.console,
    }),
    nothing,
  );
}

/** The price of requests to the queues. */
function queueRequests(
  prices: Prices,
  { fifo = 0, standard = 0 }: { readonly fifo?: number; readonly standard?: number },
): Cost {
  const queues = (fifo * prices.fifoRequests.dollars + standard * prices.standardRequests.dollars) / 1e6;
  return { ...nothing, queues };
}

/** The duration of an invocation: its CPU time on its share of a core, and its requests one after the other. */
export function invocationMs({ cpuMilliseconds, requests }: Invocation, size: number, megabytes: number): number {
  const share = Math.min(1, megabytes / assumed.megabytesPerCore);
  return cpuMilliseconds / share + (requests / size) * assumed.roundTripMs;
}

/** The price of this number of invocations of a function, with their logs. */
function invocations(
  prices: Prices,
  one: Invocation,
  size: number,
  count: number,
  megabytes = functionMegabytes,
): Cost {
  const gigabyteSeconds = (count * (invocationMs(one, size, megabytes) / 1_000) * megabytes) / 1_024;
  const { platformLines, lineOverheadBytes } = assumed;
  const bytes =
    one.logBytes + platformLines.join('').length + (one.logLines + platformLines.length) * lineOverheadBytes;
  const gigabytes = (count * bytes) / 1e9;
  return {
    ...nothing,
    functions: (count * prices.lambdaRequests.dollars + gigabyteSeconds * prices.lambdaGigabyteSeconds.dollars) / 1e6,
    logs: gigabytes * (prices.logsGigabyte.dollars + prices.logsKeptGigabyte.dollars),
  };
}

/** The price of a million reconciles, each after a change, with `size` of them in each batch. */
export function millionChanges(prices: Prices, measured: Measured, size: 1 | 10): Cost {
  const batches = 1e6 / size;
  // Sent by each watcher, received, deleted.
  return sum(
    queueRequests(prices, { fifo: (assumed.watchers + 2) * batches }),
    invocations(prices, measured[`changed-${size}`], size, batches),
  );
}

/**
 * The same where each change writes a child. Its watch event is a change as well: both watchers send the key of the
 * owner, which is reconciled again, without a write.
 */
export function millionChangesWithChild(prices: Prices, measured: Measured, size: 1 | 10): Cost {
  const again = { ...measured, [`changed-${size}`]: measured[`converged-${size}`] };
  return sum(millionChanges(prices, measured, size), millionChanges(prices, again, size));
}

/** The invocation with one more request to a queue: the measurement sent nothing, or counted only API requests. */
function withQueueRequest(one: Invocation, size: number): Invocation {
  return { ...one, requests: one.requests + size };
}

/**
 * The price of a million reconciles of converged objects that were sent by the timers, with `size` of them in each
 * batch.
 */
export function millionRequeues(prices: Prices, measured: Measured, size: 1 | 10): Cost {
  const batches = 1e6 / size;
  return sum(
    // Each reconcile sends its own timer. As batches it is then received and deleted there, sent to its queue, received
    // and deleted here.
    queueRequests(prices, { standard: 1e6 + 2 * batches, fifo: 3 * batches }),
    invocations(prices, withQueueRequest(measured[`timers-${size}`], size), size, batches),
    invocations(prices, withQueueRequest(measured[`converged-${size}`], size), size, batches),
  );
}

/**
 * The price of metrics, alarms and dashboard for a month in which nothing is wrong. full: of each controller the
 * successful reconciles, in all and by the cause resync; for all: resync runs, watcher down, pages, objects. lean:
 * resync runs, and its alarms: one on a query without results is assumed to cost as much as one on a metric.
 */
function monitoringMonth(prices: Prices, { controllers, alarmMetrics }: Deployment, monitoring: Monitoring): number {
  if (monitoring === 'lean') return prices.metric.dollars + leanAlarms.length * prices.alarmMetric.dollars;
  const metrics = 2 * controllers + 4;
  return metrics * prices.metric.dollars + alarmMetrics * prices.alarmMetric.dollars + prices.dashboard.dollars;
}

/** The price of a month without changes, for this number of clusters. */
export function idleMonth(
  prices: Prices,
  measured: Measured,
  deployment: Deployment,
  clusters: number,
  monitoring: Monitoring = 'full',
): Cost {
  const { controllers } = deployment;
  const polls = assumed.pollers * (secondsAMonth / assumed.pollSeconds);
  const listMessages = clusters * controllers * resyncRuns;
  const reconcileMillions = (clusters * controllers * assumed.objects * reconcilesPerObject) / 1e6;
  const requeue = millionRequeues(prices, measured, 1);
  const deadLetterReads = monitoring === 'lean' ? 1 : 0;
  return sum(
    queueRequests(prices, { fifo: controllers * polls, standard: 2 * polls }),
    // Poll messages are sent in batches of ten and received in pairs. A run reads the depth of each queue of a
    // controller once; with lean monitoring, also of each dead-letter queue.
    queueRequests(prices, {
      standard: listMessages / 10 + listMessages + deadLetterReads * 2 * resyncRuns,
      fifo: (1 + deadLetterReads) * controllers * resyncRuns,
    }),
    invocations(prices, measured['poll-2'], 2, listMessages / 2 + resyncRuns, resyncMegabytes),
    {
      queues: reconcileMillions * requeue.queues,
      functions: reconcileMillions * requeue.functions + (resyncRuns * prices.schedules.dollars) / 1e6,
      logs: reconcileMillions * requeue.logs,
      console: monitoringMonth(prices, deployment, monitoring),
    },
  );
}

/** The memory of a fleet watcher in megabytes: the process, a cluster's streams, and an object (f1). */
const fleetMemory = { process: 106, cluster: 7, object: 0.000514 };

/** The tasks of a fleet watcher: 0.25 vCPU each, so at most 2 GB, of which a quarter is kept for the peak of a list. */
export function fleetTasks(clusters: number, objects: number): { readonly tasks: number; readonly gigabytes: number } {
  const megabytes = fleetMemory.process + clusters * (fleetMemory.cluster + objects * fleetMemory.object);
  const gigabytes = [0.5, 1].find((size) => megabytes <= 0.75 * size * 1_000) ?? 2;
  return { tasks: 2 * Math.ceil(megabytes / (0.75 * 2_000)), gigabytes };
}

/** The price of a fleet watcher for a month: two tasks on arm64 with a public address each watch each cluster. */
export function fleetWatcherMonth(prices: Prices, clusters: number, objects = 0): number {
  const { fargateArmVcpuHour, fargateArmGigabyteHour, publicAddressHour } = prices;
  const { tasks, gigabytes } = fleetTasks(clusters, objects);
  const hour = 0.25 * fargateArmVcpuHour.dollars + gigabytes * fargateArmGigabyteHour.dollars;
  return hoursAMonth * tasks * (hour + publicAddressHour.dollars);
}

/** The price of reconciling this number of objects once in each period, for a month, with `size` in each batch. */
export function periodicMonth(
  prices: Prices,
  measured: Measured,
  objects: number,
  size: 1 | 10,
  periodHours: number = assumed.periodHours,
): number {
  const millions = (objects * (secondsAMonth / (periodHours * 3_600))) / 1e6;
  return millions * total(millionRequeues(prices, measured, size));
}

/**
 * The additional price of listing more objects at each resync: pages of `listPageSize`, whose time is one core's of the
 * resync function (f7).
 */
export function listsMonth(prices: Prices, objects: number): number {
  const gigabyteSeconds = (objects * resyncRuns * listSecondsPerObject * resyncMegabytes) / 1_024;
  return (gigabyteSeconds * prices.lambdaGigabyteSeconds.dollars) / 1e6;
}

/** The price of a pod of the smallest size for a month. */
export function podMonth(prices: Prices): number {
  const { fargateVcpuHour, fargateGigabyteHour } = prices;
  return hoursAMonth * (pod.vcpus * fargateVcpuHour.dollars + pod.gigabytes * fargateGigabyteHour.dollars);
}
