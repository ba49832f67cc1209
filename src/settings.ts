// The settings of each process, parsed from its environment: one schema and one reader for each process. No other file
// reads process.env. A schema is made when it is read: all of them would be a seventh of the time in which a function
// loads. The settings of a controller are declared by its author, and parsed where the controller is defined.
import * as z from 'zod';
import type { Environment } from './api/definition.ts';
import { isClusterName, nameRule } from './core/cluster-name.ts';
import { resyncDefaults } from './core/controller-options.ts';
import { SettingsError } from './core/errors.ts';
import { formatZodIssues, uncompiled } from './core/json.ts';
import { rememberCredentials } from './core/known-secrets.ts';
import { defaultProject } from './core/names.ts';
import { namespacesSchema } from './core/namespaces.ts';

/** TLS is always verified. This one variable of Node would turn verification off for the AWS clients and for fetch. */
const tls = () => ({
  NODE_TLS_REJECT_UNAUTHORIZED: z
    .string()
    .refine((value) => value !== '0', 'certificates are always verified; unset it')
    .optional(),
});

const queues = () => ({
  ...tls(),
  /** The URL of a queue without its name. */
  QUEUE_URL_PREFIX: z.url(),
});

const deduplication = () => ({
  /**
   * The secret in the deduplication ids that only functions make: name or ARN in Secrets Manager, or `file:` and a
   * path. Absent: those ids can be calculated from public facts.
   */
  DEDUPLICATION_SECRET: emptyAsUnset(z.string().optional()),
});

const senders = () => ({
  /** Whether the senders of messages are checked. Off where a queue gives every sender the same id. */
  SENDER_CHECK: z.enum(['on', 'off']).default('off'),
  /** The ids of the stack's roles, by the name of the function: `timers=AROA...,resync=AROA...`. */
  SENDER_IDS: z
    .string()
    .default('')
    .transform((text) => new Map(text.split(',').flatMap(readRoleId))),
  /** The ids of further roles that may request reconciles, separated by commas. */
  SENDERS: z
    .string()
    .default('')
    .transform((text) => text.split(',').filter((id) => id !== '')),
});

function readRoleId(pair: string): readonly (readonly [name: string, id: string])[] {
  const [name = '', id = ''] = pair.split('=', 2);
  return name === '' || id === '' ? [] : [[name, id]];
}

const logLevel = () => ({ LOG_LEVEL: z.enum(['DEBUG', 'INFO', 'WARN', 'ERROR']).default('INFO') });

/** The project, whose name is part of the names in a cluster (src/core/names.ts). */
const project = () => ({ PROJECT: z.string().min(1).default(defaultProject) });

const telemetry = () => ({
  ...logLevel(),
  METRICS_NAMESPACE: z.string().default('Outrigger'),
  /** Whether metrics also have the dimension cluster. CloudWatch bills one metric for each controller and cluster. */
  METRICS_PER_CLUSTER: z.stringbool().default(false),
  /** Which metrics are written: all, those of lean monitoring, or none. CloudWatch bills each one. */
  MONITORING: z.enum(['full', 'lean', 'off']).default('full'),
});

const traces = () => ({
  /** The URL of an OTLP/HTTP collector, without `/v1/traces`. Absent: no traces, and their code is not loaded. */
  OTEL_EXPORTER_OTLP_ENDPOINT: emptyAsUnset(z.url({ protocol: /^https?$/ }).optional()),
  /** Headers for the collector: `name=value,name=value`, with the values percent-encoded. */
  OTEL_EXPORTER_OTLP_HEADERS: z.string().default('').transform(readHeaders),
  /** How long the export of an invocation may delay its response, and one of a watcher may take; in milliseconds. */
  OTEL_EXPORTER_OTLP_TIMEOUT: emptyAsUnset(z.coerce.number().min(1).optional()),
  /** The part of the changes that is traced, besides one a second; and of the other reconciles. */
  OTEL_TRACES_SAMPLER_ARG: emptyAsUnset(z.coerce.number().min(0).max(1).default(0.01)),
});

/** Reads headers as in OTEL_EXPORTER_OTLP_HEADERS. */
export function readHeaders(text: string): ReadonlyMap<string, string> {
  return new Map(text.split(',').flatMap(readHeader));
}

function readHeader(pair: string): readonly (readonly [name: string, value: string])[] {
  const [, name = '', value = ''] = /^\s*([^=\s]+)\s*=(.*)$/.exec(pair) ?? [];
  return name === '' ? [] : [[name, decodeURIComponent(value.trim())]];
}

const clusters = () => ({
  /** The location of the clusters table: `s3://bucket/clusters.json`, `ssm:/path/` or the path of a file. */
  CLUSTERS: z.string().min(1),
});

const resyncRate = () => ({
  /** Keys a second for each controller and cluster that a resync, or a watcher that lists a whole kind, sends. */
  RESYNC_PER_SECOND: z.coerce.number().int().min(1).default(100),
});

const reconcileSettings = () =>
  z.object({
    ...project(),
    ...queues(),
    ...deduplication(),
    ...senders(),
    ...telemetry(),
    ...traces(),
    /** A secret with more headers for the collector: a name in Secrets Manager, or `file:` and a path. */
    OTEL_EXPORTER_OTLP_HEADERS_SECRET: emptyAsUnset(z.string().optional()),
    ...clusters(),
    /** Overrides the attempts of every controller. For development: ten attempts take about 20 minutes. */
    RETRY_ATTEMPTS: emptyAsUnset(z.coerce.number().int().min(1).optional()),
    /** Overrides the delay of every retry, which is up to half as long again. For development. */
    RETRY_SECONDS: emptyAsUnset(z.coerce.number().int().min(1).optional()),
  });

const timersSettings = () => z.object({ ...queues(), ...deduplication(), ...senders(), ...telemetry() });
const wakeSettings = () => z.object({ ...project(), ...queues(), ...telemetry(), ...clusters() });
const enqueueSettings = () => z.object(queues());

const resyncSettings = () =>
  z.object({
    ...project(),
    ...queues(),
    ...senders(),
    ...telemetry(),
    ...clusters(),
    /** The period of the resync's schedule. */
    RESYNC_SCHEDULE_SECONDS: z.coerce.number().int().min(1).default(resyncDefaults.runIntervalSeconds),
    /** Overrides the resync period of every controller. For development, where the default of ten hours is too long. */
    RESYNC_PERIOD_SECONDS: emptyAsUnset(z.coerce.number().int().min(1).optional()),
    /** The age at which a change that was not reconciled counts as missed; at least the queues' visibility timeout. */
    RESYNC_MISSED_AFTER_SECONDS: emptyAsUnset(
      z.coerce.number().int().min(1).default(resyncDefaults.missedAfterSeconds),
    ),
    ...resyncRate(),
  });

const shard = () =>
  z
    .string()
    .regex(/^\d{1,3}\/\d{1,3}$/, 'give index/count, such as 0/3')
    .transform((text) => {
      const [index = 0, count = 0] = text.split('/').map(Number);
      return { index, count };
    })
    .refine(({ index, count }) => index < count, 'the index counts from 0 and is below the count');

const watcherVariables = () =>
  z.object({
    ...queues(),
    ...logLevel(),
    ...traces(),
    /** A watcher of one cluster: the name of this cluster in the clusters table. */
    CLUSTER: emptyAsUnset(z.string().refine(isClusterName, nameRule).optional()),
    /** A fleet watcher: the location of the clusters table. It watches every cluster of the table. */
    CLUSTERS: emptyAsUnset(z.string().min(1).optional()),
    /** The share of the clusters that this fleet watcher watches, as index/count: `0/3`, `1/3` or `2/3`. */
    SHARD: emptyAsUnset(shard().optional()),
    /** The path of a kubeconfig; absent in a pod, which uses its service account. */
    KUBECONFIG: z.string().optional(),
    KUBECONFIG_CONTEXT: z.string().optional(),
    /** Set by the kubelet in every container: the address of the API server. */
    KUBERNETES_SERVICE_HOST: z.string().optional(),
    KUBERNETES_SERVICE_PORT: z.coerce.number().int().min(1).max(65_535).default(443),
    /** The port of /healthz, /readyz and /metrics; 0 takes a free one. */
    PORT: z.coerce.number().int().min(0).max(65_535).default(8080),
    /** The address to listen on; absent: all addresses, including IPv6, which is the only one in IPv6 clusters. */
    HOST: z.string().optional(),
    /** The only namespaces to watch, for kinds without their own, by commas; absent: the watch list's, or all. */
    WATCH_NAMESPACES: emptyAsUnset(
      z
        .string()
        .transform((text) => text.split(','))
        .pipe(namespacesSchema)
        .optional(),
    ),
    ...resyncRate(),
    /**
     * The rate limit of changes to each controller's queue, in keys a second, after a burst of RATE_LIMIT_BURST. The
     * excess waits in the watcher. All clusters share the queue. Its function reconciles batch size x concurrency /
     * seconds per key: with 10, 10 and 0.2 s these are 500 keys a second. At 200 a single cluster therefore does not
     * fill the queue for long, even if both replicas send a key that changed again while it was queued. A burst of
     * 2,000 is reconciled in 4 s, which is the longest time that a burst delays another cluster. Slower controllers
     * that several clusters share need a lower limit.
     */
    RATE_LIMIT_PER_SECOND: z.coerce.number().gt(0).default(200),
    RATE_LIMIT_BURST: z.coerce.number().int().min(1).default(2000),
    /** How often the watch checkpoint is written while SQS accepts messages. Otherwise it is written half as often. */
    CHECKPOINT_SECONDS: z.coerce.number().min(0.1).max(3600).default(30),
    /**
     * Change it after the queues were deleted and created again at the same URL: the watch checkpoint is valid for one
     * set of queues.
     */
    QUEUE_GENERATION: z.string().default(''),
  });

const watcherSettings = () =>
  watcherVariables()
    .refine(({ CLUSTER, CLUSTERS }) => (CLUSTER === undefined) !== (CLUSTERS === undefined), {
      path: ['CLUSTER'],
      error: 'set CLUSTER (one cluster) or CLUSTERS (every cluster of a table), and not both',
    })
    .refine(({ CLUSTERS, SHARD }) => SHARD === undefined || CLUSTERS !== undefined, {
      path: ['SHARD'],
      error: 'only with CLUSTERS',
    });

/** The defaults of the CLI's options. */
const unlessEmpty = () => emptyAsUnset(z.string().optional());
const operatorSettings = () =>
  z.object({
    ...tls(),
    QUEUE_URL_PREFIX: emptyAsUnset(z.url().optional()),
    CLUSTERS: unlessEmpty(),
  });
/** The variables of the AWS SDKs that say where AWS is. */
const awsSettings = () =>
  z.object({
    AWS_REGION: unlessEmpty(),
    AWS_DEFAULT_REGION: unlessEmpty(),
    AWS_ENDPOINT_URL: unlessEmpty(),
    AWS_ENDPOINT_URL_S3: unlessEmpty(),
    AWS_ENDPOINT_URL_SQS: unlessEmpty(),
    AWS_ENDPOINT_URL_STS: unlessEmpty(),
    AWS_ENDPOINT_URL_IAM: unlessEmpty(),
    AWS_ENDPOINT_URL_EKS: unlessEmpty(),
  });

const credentials = () =>
  z.object({
    AWS_ACCESS_KEY_ID: z.string().min(1),
    AWS_SECRET_ACCESS_KEY: z.string().min(1),
    AWS_SESSION_TOKEN: z.string().optional(),
  });

/** Returns the variables of the functions. A controller's setting of one of these names would change the runtime. */
export function functionVariables(): ReadonlySet<string> {
  const schemas = [reconcileSettings(), timersSettings(), wakeSettings(), resyncSettings()];
  return new Set(schemas.flatMap(({ shape }) => Object.keys(shape)));
}

/** Returns the variables of a watcher. */
export function watcherNames(): ReadonlySet<string> {
  return new Set(Object.keys(watcherVariables().shape));
}

export type ReconcileSettings = z.infer<ReturnType<typeof reconcileSettings>>;
export type TraceSettings = z.infer<z.ZodObject<ReturnType<typeof traces>>>;
export type TimersSettings = z.infer<ReturnType<typeof timersSettings>>;
export type ResyncSettings = z.infer<ReturnType<typeof resyncSettings>>;
export type WatcherSettings = z.infer<ReturnType<typeof watcherSettings>>;

/** Returns the environment of the process, for the settings of controllers and for child processes. */
export function environment(): Environment {
  return process.env;
}

/**
 * Makes a reader of settings. It throws a SettingsError that names the variables. A function has only its own.
 * @__NO_SIDE_EFFECTS__
 */
const reader =
  <S extends z.ZodObject>(schema: () => S) =>
  (from: Environment = process.env): z.infer<S> =>
    parse(schema(), from);

/** Reads the settings of a reconcile function. */
export const readReconcileSettings = reader(reconcileSettings);
/** Reads the settings of the timers function. */
export const readTimersSettings = reader(timersSettings);
/** Reads the settings of the wake function. */
export const readWakeSettings = reader(wakeSettings);
/** Reads the settings of a program that requests reconciles. */
export const readEnqueueSettings = reader(enqueueSettings);
/** Reads the settings of the resync function. */
export const readResyncSettings = reader(resyncSettings);
/** Reads the settings of the watcher. */
export const readWatcherSettings = reader(watcherSettings);
/** Reads the defaults of the CLI's options. */
export const readOperatorSettings = reader(operatorSettings);

/** Reads the trace header of the current invocation, which Lambda sets for each; undefined outside of Lambda. */
export function readTraceHeader(from: Environment = process.env): string | undefined {
  return from._X_AMZN_TRACE_ID;
}

/** Where AWS is, for the requests that are not sent with an SDK's client. Undefined: AWS's own address. */
export type AwsSettings = {
  readonly region: string | undefined;
  readonly s3Endpoint: string | undefined;
  readonly stsEndpoint: string | undefined;
  readonly iamEndpoint: string | undefined;
  readonly eksEndpoint: string | undefined;
  /** Another server that implements every service without an address of its own. */
  readonly endpoint: string | undefined;
  /** Only SQS has an address of its own, as with an emulated queue: the identity on AWS says nothing there. */
  readonly isQueueElsewhere: boolean;
};

/** Reads where AWS is: the region, and other servers that implement its services. Lambda and EKS set the region. */
export function readAwsSettings(from: Environment = process.env): AwsSettings {
  const given = parse(awsSettings(), from);
  const { AWS_ENDPOINT_URL: all } = given;
  const stsEndpoint = given.AWS_ENDPOINT_URL_STS ?? all;
  return {
    region: given.AWS_REGION ?? given.AWS_DEFAULT_REGION,
    s3Endpoint: given.AWS_ENDPOINT_URL_S3 ?? all,
    stsEndpoint,
    endpoint: all,
    iamEndpoint: given.AWS_ENDPOINT_URL_IAM ?? all,
    eksEndpoint: given.AWS_ENDPOINT_URL_EKS ?? all,
    isQueueElsewhere: given.AWS_ENDPOINT_URL_SQS !== undefined && stsEndpoint === undefined,
  };
}

/** Reads the credentials that Lambda provides to a function. Throws a SettingsError. */
export function readCredentials(from: Environment = process.env): {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
} {
  const { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN } = parse(credentials(), from);
  return rememberCredentials({
    accessKeyId: AWS_ACCESS_KEY_ID,
    secretAccessKey: AWS_SECRET_ACCESS_KEY,
    ...(AWS_SESSION_TOKEN === undefined ? {} : { sessionToken: AWS_SESSION_TOKEN }),
  });
}

/**
 * Returns the ids of the stack's roles, or undefined if the sender check is off. Throws a SettingsError that names
 * missing ones: a check without them would refuse every message.
 */
export function readRoleIds(
  { SENDER_CHECK, SENDER_IDS }: Pick<TimersSettings, 'SENDER_CHECK' | 'SENDER_IDS'>,
  names: readonly string[],
): ReadonlyMap<string, string> | undefined {
  if (SENDER_CHECK === 'off') return undefined;
  const missing = names.filter((name) => !SENDER_IDS.has(name));
  if (missing.length > 0) {
    throw new SettingsError(`invalid environment variables: SENDER_IDS: no id of ${missing.join(', ')}; deploy again`);
  }
  return SENDER_IDS;
}

/** An empty variable counts as not set. */
function emptyAsUnset<S extends z.ZodType>(schema: S) {
  return z.preprocess((given) => (given === '' ? undefined : given), schema);
}

function parse<S extends z.ZodObject>(schema: S, from: Environment): z.infer<S> {
  const parsed = schema.safeParse(from, uncompiled);
  if (!parsed.success) throw new SettingsError(`invalid environment variables: ${formatZodIssues(parsed.error)}`);
  return parsed.data;
}
