// The packaged template with this machine's parameters, and what a watcher is told: the same code as on AWS, other addresses
// and shorter times.
import { timersQueue } from '../core/names.ts';
import { type ClusterAccess, localCluster } from './cluster-access.ts';
import { localRegion } from '../local/lambda/account.ts';
import type { LocalQueue } from './lambda/queues.ts';
import { readStack, type Stack } from './lambda/stack.ts';
import { parseTemplate } from './lambda/template.ts';
import { type SampleWorlds, worldParameters } from '../local/worlds/sample-worlds.ts';

/** How often the resync ticks, in what time it visits every object, and how old a change is before it counts as missed. */
export type ResyncSeconds = { readonly tick: number; readonly period: number; readonly grace: number };

/** Ticks are short here, so that nobody waits ten minutes to see one. */
export const shortResync: ResyncSeconds = { tick: 10, period: 60, grace: 20 };

/** Resolves the packaged template for this machine. Throws TemplateError. */
export function readLocalStack(
  templateText: string,
  cluster: Pick<ClusterAccess, 'clustersTableFile'>,
  worlds: SampleWorlds,
  { tick, period, grace }: ResyncSeconds,
): Stack {
  const template = parseTemplate(templateText);
  // A service without the sample controllers has no parameter for their worlds.
  const addresses = Object.entries({
    [worldParameters.plant]: worlds.plant.url,
    [worldParameters.pantry]: worlds.pantry.url,
  }).filter(([name]) => template.Parameters[name] !== undefined);
  return readStack(template, {
    region: localRegion,
    parameters: {
      ClustersTable: cluster.clustersTableFile,
      ResyncTickSeconds: String(tick),
      ResyncPeriodSeconds: String(period),
      ResyncGraceSeconds: String(grace),
      ...Object.fromEntries(addresses),
    },
  });
}

/** What the deployment puts before the names that core gives its queues. */
export function namePrefix({ queues }: Stack): string {
  const timers = queues.find(({ name }) => name.endsWith(timersQueue));
  return timers === undefined ? '' : timers.name.slice(0, -timersQueue.length);
}

/** The cursor is written as often, so that a watcher that is killed goes on close to where it was. */
const cursorSeconds = 5;

/**
 * The whole environment of a watcher (settings.ts says what each is).
 * @param queuesId of queues that began empty: what others accepted, they never saw
 */
export function watcherEnvironment(
  cluster: Pick<ClusterAccess, 'watcherKubeconfigFile'>,
  queueEndpoint: string,
  queues: readonly LocalQueue[],
  prefix: string,
  queuesId: string,
): Readonly<Record<string, string>> {
  const timers = queues.find(({ name }) => name === `${prefix}${timersQueue}`);
  return {
    CLUSTER: localCluster,
    KUBECONFIG: cluster.watcherKubeconfigFile,
    QUEUE_URL_PREFIX: timers === undefined ? '' : timers.url.slice(0, -timersQueue.length),
    QUEUES_ID: queuesId,
    CURSOR_SECONDS: String(cursorSeconds),
    HOST: '127.0.0.1',
    PORT: '0',
    AWS_REGION: localRegion,
    AWS_ACCESS_KEY_ID: 'watcher',
    AWS_SECRET_ACCESS_KEY: 'local',
    AWS_ENDPOINT_URL: queueEndpoint,
    PATH: '/usr/local/bin:/usr/bin:/bin',
  };
}
