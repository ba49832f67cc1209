// How one cluster stands, as `outrigger status` shows it: whether it answers, whether anybody watches it, and for each controller how
// many of its objects are Ready, and how long the oldest change has waited to be observed. All of it is read from the cluster
// as it is now; what has been is in the metrics.
import type { Registered } from '../../core/controller.ts';
import { pausedAnnotation } from '../../core/names.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import type { KubeObject } from '../../kube/client/object.ts';
import { listPages } from '../../kube/client/read.ts';
import { isRecord } from '../../kube/record.ts';
import { readinessOf } from '../../dev/readiness.ts';
import { waitingSinceMs } from '../../runtime/resync-plan.ts';
import { askWatchers } from '../../runtime/watchers-silent.ts';
import { lineOf } from '../operate.ts';

/** How a controller's objects in one cluster stand. */
export type ControllerStanding = {
  readonly controller: string;
  readonly objects: number;
  /** There are more objects, which were not read. */
  readonly more: boolean;
  readonly ready: number;
  readonly stalled: number;
  readonly paused: number;
  /** Changes that the controller has not observed yet. */
  readonly unobserved: number;
  /** How long the oldest of them has waited; absent where there is none. */
  readonly lagSeconds?: number;
  /** Why nobody can tell. */
  readonly problem?: string;
};

/** How a cluster stands. */
export type ClusterStanding = {
  readonly version?: string;
  /** How long ago its watchers heard of every kind. */
  readonly heardSeconds?: number;
  /** Why its watchers count as silent. */
  readonly silent?: string;
  readonly controllers: readonly ControllerStanding[];
};

/** Objects are read in full, for who owns their fields; so many are enough to see whether all is well. */
const mostObjects = 10_000;
const pageSeconds = 20;

/** Reads how a cluster stands. Throws what the client throws where the cluster does not answer at all. */
export async function readCluster(
  client: KubeClient,
  controllers: readonly Registered[],
  { nowMs, signal }: { readonly nowMs: number; readonly signal: AbortSignal },
): Promise<ClusterStanding> {
  const version = await readVersion(client, signal);
  const [{ heardSeconds, silent }, standings] = await Promise.all([
    askWatchers(client, nowMs, { signal }),
    Promise.all(controllers.map((one) => readController(client, one, nowMs, signal))),
  ]);
  return {
    version,
    ...(heardSeconds === undefined ? {} : { heardSeconds }),
    ...(silent === undefined ? {} : { silent: silent.why }),
    controllers: standings,
  };
}

/** Asks an API server for its version, `v1.36.3`. */
export async function readVersion(client: KubeClient, signal: AbortSignal): Promise<string> {
  const { body } = await client.request({ method: 'GET', path: '/version', signal });
  return isRecord(body) && typeof body.gitVersion === 'string' ? body.gitVersion : 'unknown';
}

async function readController(
  client: KubeClient,
  { name, declares: { resource, part } }: Registered,
  nowMs: number,
  signal: AbortSignal,
): Promise<ControllerStanding> {
  const counted = { objects: 0, ready: 0, stalled: 0, paused: 0, unobserved: 0 };
  let oldestMs = Number.POSITIVE_INFINITY;
  let more = false;
  const standing = () => ({
    controller: name,
    ...counted,
    more,
    ...(counted.unobserved === 0 ? {} : { lagSeconds: Math.max(0, Math.round((nowMs - oldestMs) / 1000)) }),
  });
  try {
    for await (const page of listPages(client, resource, { signal, timeoutSeconds: pageSeconds })) {
      for (const object of page.items) {
        counted.objects += 1;
        if (readinessOf(object, part?.conditions).ready) counted.ready += 1;
        if (isStalled(object)) counted.stalled += 1;
        if (object.metadata.annotations?.[pausedAnnotation] === 'true') counted.paused += 1;
        const sinceMs = waitingSinceMs(object, { controller: name, part });
        if (sinceMs === undefined) continue;
        counted.unobserved += 1;
        oldestMs = Math.min(oldestMs, sinceMs);
      }
      more = page.continue !== undefined && counted.objects >= mostObjects;
      if (more) break;
    }
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    return { ...standing(), problem: lineOf(error) };
  }
  return standing();
}

function isStalled({ status }: KubeObject): boolean {
  const conditions = isRecord(status) && Array.isArray(status.conditions) ? status.conditions : [];
  return conditions.filter(isRecord).some(({ type, status }) => type === 'Stalled' && status === 'True');
}
