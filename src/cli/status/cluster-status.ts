// The status of one cluster for `outrigger status`: whether it is reachable, whether its watchers are down, and for
// each controller the number of Ready objects and the age of the oldest change that is not observed yet. It is the
// current state; history is in the metrics.
import type { ControllerDefinition } from '../../api/definition.ts';
import { readWatcherStatus } from '../../checkpoint/watcher-status.ts';
import { isRecord } from '../../core/json.ts';
import { pausedAnnotation } from '../../core/names.ts';
import { objectReadiness } from '../../dev/readiness.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import type { KubeObject } from '../../kube/client/object.ts';
import { listPages } from '../../kube/client/read.ts';
import { unobservedSinceMs } from '../../resync/plan.ts';
import { formatError } from '../command.ts';

/** The status of a controller's objects in one cluster. */
export type ControllerStatus = {
  readonly controller: string;
  readonly objects: number;
  /** Whether there are more objects, which were not read. */
  readonly more: boolean;
  readonly ready: number;
  readonly stalled: number;
  readonly paused: number;
  /** Changes that the controller has not observed yet. */
  readonly unobserved: number;
  /** The age of the oldest of them; absent if there is none. */
  readonly oldestSeconds?: number;
  /** The reason why the status is incomplete. */
  readonly problem?: string;
};

/** The status of a cluster. */
export type ClusterStatus = {
  readonly version?: string;
  /** The time since its watchers received an event of every kind. */
  readonly lastSeenSeconds?: number;
  /** The reason why its watchers count as down. */
  readonly watcherDown?: string;
  readonly controllers: readonly ControllerStatus[];
};

/** Objects are read in full, because managedFields are needed. This many are enough for an overview. */
const mostObjects = 10_000;
const pageSeconds = 20;

/** Reads the status of a cluster. Throws the client's error if the cluster is unreachable. */
export async function readClusterStatus(
  client: KubeClient,
  controllers: readonly ControllerDefinition[],
  options: { readonly project: string; readonly nowMs: number; readonly signal: AbortSignal },
): Promise<ClusterStatus> {
  const { project, nowMs, signal } = options;
  const version = await readVersion(client, signal);
  const [{ lastSeenSeconds, down }, controllerStatuses] = await Promise.all([
    readWatcherStatus(client, nowMs, { project, signal }),
    Promise.all(controllers.map((one) => readController(client, one, options))),
  ]);
  return {
    version,
    ...(lastSeenSeconds === undefined ? {} : { lastSeenSeconds }),
    ...(down === undefined ? {} : { watcherDown: down.reason }),
    controllers: controllerStatuses,
  };
}

/** Reads the version of an API server, `v1.36.3`. */
export async function readVersion(client: KubeClient, signal: AbortSignal): Promise<string> {
  const { body } = await client.request({ method: 'GET', path: '/version', signal });
  return isRecord(body) && typeof body.gitVersion === 'string' ? body.gitVersion : 'unknown';
}

async function readController(
  client: KubeClient,
  { name, declaration: { resource, statusSlice } }: ControllerDefinition,
  { project, nowMs, signal }: { readonly project: string; readonly nowMs: number; readonly signal: AbortSignal },
): Promise<ControllerStatus> {
  const counted = { objects: 0, ready: 0, stalled: 0, paused: 0, unobserved: 0 };
  let oldestMs = Number.POSITIVE_INFINITY;
  let more = false;
  const currentStatus = () => ({
    controller: name,
    ...counted,
    more,
    ...(counted.unobserved === 0 ? {} : { oldestSeconds: Math.max(0, Math.round((nowMs - oldestMs) / 1000)) }),
  });
  try {
    for await (const page of listPages(client, resource, { signal, timeoutSeconds: pageSeconds })) {
      for (const object of page.items) {
        counted.objects += 1;
        if (objectReadiness(object, statusSlice?.conditions).ready) counted.ready += 1;
        if (isStalled(object)) counted.stalled += 1;
        if (object.metadata.annotations?.[pausedAnnotation] === 'true') counted.paused += 1;
        const sinceMs = unobservedSinceMs(object, { controller: name, project, statusSlice });
        if (sinceMs === undefined) continue;
        counted.unobserved += 1;
        oldestMs = Math.min(oldestMs, sinceMs);
      }
      more = page.continue !== undefined && counted.objects >= mostObjects;
      if (more) break;
    }
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    return { ...currentStatus(), problem: formatError(error) };
  }
  return currentStatus();
}

function isStalled({ status }: KubeObject): boolean {
  const conditions = isRecord(status) && Array.isArray(status.conditions) ? status.conditions : [];
  return conditions.filter(isRecord).some(({ type, status }) => type === 'Stalled' && status === 'True');
}
