// The arithmetic of f9: what reconciles and idle months cost, from prices and from what was measured. Pure, so that a document can be
// held to it. What is assumed is here, each with its reason; nothing else is.
import * as z from 'zod';

const price = z.strictObject({ what: z.string(), dollars: z.number().positive(), sources: z.array(z.string()) });

/** One file of prices; what no source states is unverified. */
export const pricesShape = z.strictObject({
  region: z.string(),
  note: z.string(),
  prices: z.strictObject({
    fifoRequests: price,
    standardRequests: price,
    lambdaRequests: price,
    lambdaGigabyteSeconds: price,
    schedules: price,
    logsGigabyte: price,
    logsKeptGigabyte: price,
    metric: price,
    alarmMetric: price,
    dashboard: price,
    fargateVcpuHour: price,
    fargateGigabyteHour: price,
  }),
});
export type Prices = z.infer<typeof pricesShape>['prices'];

const invocation = z.strictObject({
  cpuMilliseconds: z.number(),
  requests: z.number(),
  logBytes: z.number(),
  logLines: z.number(),
});
type Invocation = z.infer<typeof invocation>;

/** What f9-measure wrote. Names end in how many messages an invocation had. */
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

/** What is deployed. */
export type Deployment = { readonly controllers: number; readonly alarmMetrics: number };

/** What nobody has measured on AWS. */
export const assumed = {
  /** A request to an API server or a queue of the same region, there and back. */
  roundTripMs: 5,
  /** "At 1,769 MB, a function has the equivalent of one vCPU" (Lambda, "Configure Lambda function memory"); taken for a core of the machine that measured. */
  megabytesPerCore: 1_769,
  /** What Lambda itself logs of each invocation, as its documentation shows it ("Log and monitor Node.js Lambda functions"). */
  platformLines: [
    'START RequestId: c793869b-ee49-115b-a5b6-4fd21e8dedac Version: $LATEST\n',
    'END RequestId: c793869b-ee49-115b-a5b6-4fd21e8dedac\n',
    'REPORT RequestId: c793869b-ee49-115b-a5b6-4fd21e8dedac\tDuration: 128.83 ms\tBilled Duration: 129 ms\tMemory Size: 256 MB\tMax Memory Used: 128 MB\t\n',
  ],
  /** CloudWatch Logs, PutLogEvents: a log event counts 26 bytes more than its text. */
  lineOverheadBytes: 26,
  /** Pollers of an event source mapping with a maximum concurrency; each asks for 20 s. */
  pollers: 5,
  pollSeconds: 20,
  /** Both watchers send each change. */
  watchers: 2,
  /** Objects of each controller in each cluster. */
  objects: 10,
  /** Each object is visited once in so many. */
  periodHours: 10,
} as const;

/** As serverless.yml gives a reconcile function. */
export const functionMegabytes = 256;
const resyncMegabytes = 512;
const secondsAMonth = 30 * 86_400;
const hoursAMonth = 730;
const ticks = secondsAMonth / 600;
const visitsPerObject = secondsAMonth / (assumed.periodHours * 3_600);
/** The smallest that Fargate has for a pod, and what EKS adds to it (256 MB) fits in. */
const pod = { vcpus: 0.25, gigabytes: 0.5 };

/** Dollars by what they are for. */
export type Cost = {
  readonly queues: number;
  readonly functions: number;
  readonly logs: number;
  readonly console: number;
};

/** Adds up. */
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

/** Requests to the queues. */
function asked(
  prices: Prices,
  { fifo = 0, standard = 0 }: { readonly fifo?: number; readonly standard?: number },
): Cost {
  const queues = (fifo * prices.fifoRequests.dollars + standard * prices.standardRequests.dollars) / 1e6;
  return { ...nothing, queues };
}

/** How long an invocation lasts: its own work on its share of a core, and its requests one after the other. */
export function invocationMs({ cpuMilliseconds, requests }: Invocation, size: number, megabytes: number): number {
  const share = Math.min(1, megabytes / assumed.megabytesPerCore);
  return cpuMilliseconds / share + (requests / size) * assumed.roundTripMs;
}

/** So many invocations of a function, with their logs. */
function invoked(prices: Prices, one: Invocation, size: number, count: number, megabytes = functionMegabytes): Cost {
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

/** A million reconciles that follow a change; `size` of them in each batch. */
export function millionChanges(prices: Prices, measured: Measured, size: 1 | 10): Cost {
  const batches = 1e6 / size;
  // Sent by each watcher, received, deleted.
  return sum(
    asked(prices, { fifo: (assumed.watchers + 2) * batches }),
    invoked(prices, measured[`changed-${size}`], size, batches),
  );
}

/** The same, with a request to a queue that was not counted: what was measured sent nothing, or counted the API server's only. */
function sending(one: Invocation, size: number): Invocation {
  return { ...one, requests: one.requests + size };
}

/** A million reconciles of what was as it should be, that came by way of the timers; `size` of them in each batch. */
export function millionRequeues(prices: Prices, measured: Measured, size: 1 | 10): Cost {
  const batches = 1e6 / size;
  return sum(
    // Each reconcile sends its own timer; then as batches: received and deleted there, sent on, received and deleted here.
    asked(prices, { standard: 1e6 + 2 * batches, fifo: 3 * batches }),
    invoked(prices, sending(measured[`timers-${size}`], size), size, batches),
    invoked(prices, sending(measured[`converged-${size}`], size), size, batches),
  );
}

/** A month in which nothing happens, for so many clusters. */
export function idleMonth(
  prices: Prices,
  measured: Measured,
  { controllers, alarmMetrics }: Deployment,
  clusters: number,
): Cost {
  const polls = assumed.pollers * (secondsAMonth / assumed.pollSeconds);
  const asks = clusters * controllers * ticks;
  const visits = (clusters * controllers * assumed.objects * visitsPerObject) / 1e6;
  const requeue = millionRequeues(prices, measured, 1);
  // Of each controller: unobserved changes, reconciles done; of all: ticks, silence, pages, objects.
  const metrics = 2 * controllers + 4;
  return sum(
    asked(prices, { fifo: controllers * polls, standard: 2 * polls }),
    // Polls are asked for in tens, come in twos, and ask how full a queue is.
    asked(prices, { standard: asks / 10 + asks, fifo: asks }),
    invoked(prices, measured['poll-2'], 2, asks / 2 + ticks, resyncMegabytes),
    {
      queues: visits * requeue.queues,
      functions: visits * requeue.functions + (ticks * prices.schedules.dollars) / 1e6,
      logs: visits * requeue.logs,
      console: metrics * prices.metric.dollars + alarmMetrics * prices.alarmMetric.dollars + prices.dashboard.dollars,
    },
  );
}

/** A pod of the smallest size for a month. */
export function podMonth(prices: Prices): number {
  const { fargateVcpuHour, fargateGigabyteHour } = prices;
  return hoursAMonth * (pod.vcpus * fargateVcpuHour.dollars + pod.gigabytes * fargateGigabyteHour.dollars);
}

/** A metric by cluster, for each controller and cluster, for a month: what METRICS_PER_CLUSTER adds for each name. */
export function perClusterMonth(prices: Prices, { controllers }: Deployment, clusters: number): number {
  return controllers * clusters * prices.metric.dollars;
}
