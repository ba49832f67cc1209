// The packaged template with this machine's parameters, and the environment of a watcher: the same code as on AWS, with
// other addresses and shorter times.
import { timersQueue } from 'outrigger/internal/core/names';
import { type Simulators, simulatorParameters } from '../simulators/registry.ts';
import { type ClusterAccess, localCluster } from './cluster-access.ts';
import { localRegion } from './lambda/account.ts';
import type { LocalQueue } from './lambda/queues.ts';
import { readStack, type Stack } from './lambda/stack.ts';
import { parseTemplate } from './lambda/template.ts';

/**
 * The interval of resync runs, the period in which every object is reconciled, and the age at which a change counts as
 * missed.
 */
export type ResyncSeconds = { readonly tick: number; readonly period: number; readonly grace: number };

/** The attempts and the delay of retries, instead of those of the controllers. */
export type LocalRetry = { readonly attempts?: number | undefined; readonly seconds?: number | undefined };

/** The parameters that have the address of a simulator unless they are given. */
export const simulatedParameters: readonly string[] = Object.values(simulatorParameters);

/** Short intervals, so that a developer sees a resync run within seconds instead of ten minutes. */
export const shortResync: ResyncSeconds = { tick: 10, period: 60, grace: 20 };

/**
 * Resolves the packaged template for this machine. Throws TemplateError.
 * @param parameters replace the addresses of the simulators
 * @param retry replaces the retries of the controllers
 */
export function readLocalStack(
  templateText: string,
  cluster: Pick<ClusterAccess, 'clustersTableFile'>,
  simulators: Simulators,
  { tick, period, grace }: ResyncSeconds,
  parameters: Readonly<Record<string, string>> = {},
  retry: LocalRetry = {},
): Stack {
  const template = parseTemplate(templateText);
  // A service without the sample controllers has no parameter for their simulators.
  const addresses = Object.entries({
    [simulatorParameters.plant]: simulators.plant.url,
    [simulatorParameters.pantry]: simulators.pantry.url,
  }).filter(([name]) => template.Parameters[name] !== undefined);
  const stack = readStack(template, {
    region: localRegion,
    parameters: { ...Object.fromEntries(addresses), ...parameters },
  });
  // Any content that a watcher cannot know will do. The file with the credentials of the functions is one.
  const secret = `file:${cluster.clustersTableFile}`;
  const local = (environment: Readonly<Record<string, string>>) => ({
    ...environment,
    ...(environment.DEDUPLICATION_SECRET === undefined ? {} : { DEDUPLICATION_SECRET: secret }),
    // The local queue gives every sender the same id.
    SENDER_CHECK: 'off',
    // Commands and the console know of runs by the log alone.
    LOG_LEVEL: environment.LOG_LEVEL === 'DEBUG' ? 'DEBUG' : 'INFO',
    RESYNC_SCHEDULE_SECONDS: String(tick),
    RESYNC_PERIOD_SECONDS: String(period),
    RESYNC_MISSED_AFTER_SECONDS: String(grace),
    ...(retry.attempts === undefined ? {} : { RETRY_ATTEMPTS: String(retry.attempts) }),
    ...(retry.seconds === undefined ? {} : { RETRY_SECONDS: String(retry.seconds) }),
  });
  const functions = stack.functions.map((one) => ({ ...one, environment: local(one.environment) }));
  return withClustersTable({ ...stack, functions }, cluster.clustersTableFile);
}

/** Gives the functions another clusters table: a file instead of the object in S3. */
export function withClustersTable(stack: Stack, location: string): Stack {
  const functions = stack.functions.map((one) =>
    'CLUSTERS' in one.environment ? { ...one, environment: { ...one.environment, CLUSTERS: location } } : one,
  );
  return { ...stack, functions };
}

const collectorName = 'OTEL_EXPORTER_OTLP_ENDPOINT';

/** The variables of a program that sends the traces of all reconciles to a collector. */
export function tracedTo(collector: string): Readonly<Record<string, string>> {
  return { [collectorName]: collector, OTEL_EXPORTER_OTLP_TIMEOUT: '5000', OTEL_TRACES_SAMPLER_ARG: '1' };
}

/** Gives these variables to the functions that have traces, and no collector of the developer's own. */
export function withTraces(stack: Stack, tracing: Readonly<Record<string, string>>): Stack {
  const functions = stack.functions.map((one) =>
    one.environment[collectorName] === '' ? { ...one, environment: { ...one.environment, ...tracing } } : one,
  );
  return { ...stack, functions };
}

/** The prefix of the deployment's queue names. */
export function stackNamePrefix({ queues }: Stack): string {
  const timers = queues.find(({ name }) => name.endsWith(timersQueue));
  return timers === undefined ? '' : timers.name.slice(0, -timersQueue.length);
}

/** The interval of the watch checkpoint: short, so that a killed watcher resumes close to its last event. */
const checkpointSeconds = 5;

/**
 * The complete environment of a watcher (settings.ts describes each variable).
 * @param queueGeneration identifies queues that started empty: a watch checkpoint of other queues is not valid for them
 */
export function watcherEnvironment(
  cluster: Pick<ClusterAccess, 'watcherKubeconfigFile'>,
  queueEndpoint: string,
  queues: readonly LocalQueue[],
  prefix: string,
  queueGeneration: string,
): Readonly<Record<string, string>> {
  const timers = queues.find(({ name }) => name === `${prefix}${timersQueue}`);
  return {
    CLUSTER: localCluster,
    KUBECONFIG: cluster.watcherKubeconfigFile,
    QUEUE_URL_PREFIX: timers === undefined ? '' : timers.url.slice(0, -timersQueue.length),
    QUEUE_GENERATION: queueGeneration,
    CHECKPOINT_SECONDS: String(checkpointSeconds),
    HOST: '127.0.0.1',
    PORT: '0',
    AWS_REGION: localRegion,
    AWS_ACCESS_KEY_ID: 'watcher',
    AWS_SECRET_ACCESS_KEY: 'local',
    AWS_ENDPOINT_URL: queueEndpoint,
    PATH: '/usr/local/bin:/usr/bin:/bin',
  };
}
