// The only reader of process.env: one parser for each process. Settings of controllers are declared by their authors and
// parsed by defineController from the same environment.
import * as z from 'zod';
import type { Environment } from './core/controller.ts';
import { SettingsError } from './core/errors.ts';
import { formatProblems } from './core/zod-problems.ts';

/** Everything is reached over verified TLS. Node would turn that off for the AWS clients and for fetch by one variable. */
const tls = {
  NODE_TLS_REJECT_UNAUTHORIZED: z
    .string()
    .refine((value) => value !== '0', 'certificates are always verified; take it away')
    .optional(),
};

const queues = {
  ...tls,
  /** What a queue's name is put behind to give its URL. */
  QUEUE_URL_PREFIX: z.url(),
};

const level = { LOG_LEVEL: z.enum(['DEBUG', 'INFO', 'WARN', 'ERROR']).default('INFO') };

const telemetry = {
  ...level,
  METRICS_NAMESPACE: z.string().default('Outrigger'),
  /** Whether metrics are also kept for each cluster; a metric that is paid for, for each controller and cluster. */
  METRICS_PER_CLUSTER: z.stringbool().default(false),
};

const reconcileSettings = z.object({
  ...queues,
  ...telemetry,
  /** Where the clusters table is: `ssm:/outrigger/dev/clusters/` or a file's path. */
  CLUSTERS: z.string().min(1),
});

const timersSettings = z.object({ ...queues, ...telemetry });

const resyncSettings = z.object({
  ...queues,
  ...telemetry,
  CLUSTERS: z.string().min(1),
  /** How far apart the schedule's ticks are. */
  RESYNC_TICK_SECONDS: z.coerce.number().int().min(1).default(600),
  /** Overrides every controller's own period; for one machine, where nobody waits ten hours. */
  RESYNC_PERIOD_SECONDS: z.preprocess(
    (given) => (given === '' ? undefined : given),
    z.coerce.number().int().min(1).optional(),
  ),
  /** How old an unobserved change must be before it is said to be missed; at least the visibility time-out. */
  RESYNC_GRACE_SECONDS: z.coerce.number().int().min(1).default(240),
  /** At most this many keys a second for each controller and cluster. */
  RESYNC_PER_SECOND: z.coerce.number().int().min(1).default(100),
});

const watcherSettings = z.object({
  ...queues,
  ...level,
  /** The name of this cluster in the clusters table. */
  CLUSTER: z.string().min(1),
  /** A kubeconfig file; absent inside a cluster, where the pod's service account is used. */
  KUBECONFIG: z.string().optional(),
  KUBECONFIG_CONTEXT: z.string().optional(),
  /** The kubelet tells every container where its API server is. */
  KUBERNETES_SERVICE_HOST: z.string().optional(),
  KUBERNETES_SERVICE_PORT: z.coerce.number().int().min(1).max(65_535).default(443),
  /** The port of /healthz, /readyz and /metrics; 0 takes a free one. */
  PORT: z.coerce.number().int().min(0).max(65_535).default(8080),
  /** Absent: every address, IPv6 included, where a cluster's pods have nothing else. */
  HOST: z.string().optional(),
  /** Only this namespace; absent: all. */
  WATCH_NAMESPACE: z.string().optional(),
  RESYNC_PER_SECOND: z.coerce.number().int().min(1).default(100),
  /**
   * Changed keys that go to each controller's queue each second, after a burst of FORWARD_BURST; what is beyond it waits here. All
   * clusters share that queue, and the function behind it works off batch size x concurrency / seconds of a key: at 10, 10 and
   * 0.2 s, 500 a second. So with 200 no single cluster fills it for long, not even when both replicas send a key that changed again
   * while it waited; and 2,000 are done in 4 s, which is the most that a flood keeps another cluster waiting. Slower controllers
   * that several clusters share want less.
   */
  FORWARD_PER_SECOND: z.coerce.number().gt(0).default(200),
  FORWARD_BURST: z.coerce.number().int().min(1).default(2000),
  /** How often the cursor is written while messages are accepted; half as often otherwise. */
  CURSOR_SECONDS: z.coerce.number().min(0.1).default(30),
  /** Tells queues that have begun empty from those that were at the same URL before: a cursor speaks for one of them. */
  QUEUES_ID: z.string().default(''),
});

/** An operator's commands have options for all of it; empty counts as not set. */
const notEmpty = z.preprocess((given) => (given === '' ? undefined : given), z.string().optional());
const operatorSettings = z.object({ ...tls, QUEUE_URL_PREFIX: notEmpty, CLUSTERS: notEmpty });

const credentials = z.object({
  AWS_ACCESS_KEY_ID: z.string().min(1),
  AWS_SECRET_ACCESS_KEY: z.string().min(1),
  AWS_SESSION_TOKEN: z.string().optional(),
});

export type ReconcileSettings = z.infer<typeof reconcileSettings>;
export type TimersSettings = z.infer<typeof timersSettings>;
export type ResyncSettings = z.infer<typeof resyncSettings>;
export type WatcherSettings = z.infer<typeof watcherSettings>;

/** The process's environment, for controllers' own settings and for child processes. */
export function environment(): Environment {
  return process.env;
}

/** Reads what a reconcile function needs. Throws SettingsError, naming the variables. */
export function readReconcileSettings(from: Environment = process.env): ReconcileSettings {
  return parse(reconcileSettings, from);
}

/** Reads what the timers function needs. Throws SettingsError. */
export function readTimersSettings(from: Environment = process.env): TimersSettings {
  return parse(timersSettings, from);
}

/** Reads what the resync function needs. Throws SettingsError. */
export function readResyncSettings(from: Environment = process.env): ResyncSettings {
  return parse(resyncSettings, from);
}

/** Reads what the watcher needs. Throws SettingsError. */
export function readWatcherSettings(from: Environment = process.env): WatcherSettings {
  return parse(watcherSettings, from);
}

/** Reads where an operator's commands look when no option says it. */
export function readOperatorSettings(from: Environment = process.env): z.infer<typeof operatorSettings> {
  return parse(operatorSettings, from);
}

/** Reads the trace of the invocation under way, which Lambda changes with each; undefined elsewhere. */
export function readTraceHeader(from: Environment = process.env): string | undefined {
  return from._X_AMZN_TRACE_ID;
}

/** Reads the credentials that Lambda gives a function. Throws SettingsError. */
export function readCredentials(from: Environment = process.env): {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
} {
  const { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN } = parse(credentials, from);
  return {
    accessKeyId: AWS_ACCESS_KEY_ID,
    secretAccessKey: AWS_SECRET_ACCESS_KEY,
    ...(AWS_SESSION_TOKEN === undefined ? {} : { sessionToken: AWS_SESSION_TOKEN }),
  };
}

function parse<S extends z.ZodObject>(schema: S, from: Environment): z.infer<S> {
  const parsed = schema.safeParse(from);
  if (!parsed.success)
    throw new SettingsError(`the environment lacks what this process needs: ${formatProblems(parsed.error)}`);
  return parsed.data;
}
