// The status of one cluster for `outrigger status`: whether it is reachable, whether its watchers are down, and for
// each controller the number of Ready objects and the age of the oldest change that is not observed yet. It is the
// current state; history is in the metrics.

import { reasons } from 'outrigger/internal/api/conditions';
import { type ControllerDefinition, hasEvidence } from 'outrigger/internal/api/definition';
import { readWatcherStatus } from 'outrigger/internal/checkpoint/watcher-status';
import { overdueAfterSecondsOf } from 'outrigger/internal/core/controller-options';
import { few } from 'outrigger/internal/core/few';
import { isRecord } from 'outrigger/internal/core/json';
import { collectionName } from 'outrigger/internal/core/key';
import { pausedAnnotation, reconcileRequestedAnnotation } from 'outrigger/internal/core/names';
import { redact } from 'outrigger/internal/core/redact';
import { fieldSelectorOf, isSelected, labelSelectorOf } from 'outrigger/internal/core/selector';
import { observationOf } from 'outrigger/internal/kube/apply/observation';
import type { KubeClient } from 'outrigger/internal/kube/client/client';
import { isKindNotServed } from 'outrigger/internal/kube/client/errors';
import type { KubeObject } from 'outrigger/internal/kube/client/object';
import { unobservedSinceMs } from 'outrigger/internal/resync/plan';
import { conditionsOf, failureOf, type WatcherFacts, watcherFacts } from '../../console/health.ts';
import { objectReadiness } from '../../dev/readiness.ts';
import { formatError } from '../command.ts';
import { listPagesIn } from '../object-keys.ts';
import { ageText } from '../terminal.ts';

/** The status of a controller's objects in one cluster. */
export type ControllerStatus = {
  readonly controller: string;
  readonly objects: number;
  /** Whether there are more objects, which were not read. */
  readonly more: boolean;
  /** Absent for a foreign kind: its readiness is another controller's. */
  readonly ready?: number;
  readonly stalled: number;
  /** Objects whose last reconcile failed: those that are retried, and the stalled ones. */
  readonly failing: number;
  /** The failure that began last. */
  readonly lastFailure?: ObjectFailure;
  readonly paused: number;
  /** Objects that an admission policy made Stalled, and the command that reconciles them. Absent if there are none. */
  readonly policyDenied?: { readonly objects: readonly string[]; readonly command: string };
  /** Changes that the controller has not observed yet. Absent for a foreign kind, whose status does not show it. */
  readonly unobserved?: number;
  /** The age of the oldest of them; absent if there is none. */
  readonly oldestSeconds?: number;
  /** It is so old that the resync of default settings calls it overdue. */
  readonly overdue?: true;
  /** The reason why the status is incomplete. */
  readonly problem?: string;
  /** The reason is that the cluster does not serve the kind. */
  readonly notServed?: true;
};

/** An object whose last reconcile failed. */
export type ObjectFailure = {
  /** `namespace/name`, or the name of a cluster-scoped object. */
  readonly object: string;
  readonly reason: string;
  readonly message: string;
  /** How long the object has been failing. */
  readonly ageSeconds: number;
};

/** The status of a cluster. */
export type ClusterStatus = WatcherFacts & {
  readonly version?: string;
  readonly controllers: readonly ControllerStatus[];
};

/** Objects are read in full, because managedFields are needed. This many are enough for an overview. */
const mostObjects = 10_000;
const pageSeconds = 20;

type ReadOptions = {
  readonly project: string;
  /** The only namespaces of the project. Absent: all. */
  readonly namespaces?: readonly string[] | undefined;
  readonly nowMs: number;
  readonly signal: AbortSignal;
};

/** Reads the status of a cluster. Throws the client's error if the cluster is unreachable. */
export async function readClusterStatus(
  client: KubeClient,
  controllers: readonly ControllerDefinition[],
  options: ReadOptions,
): Promise<ClusterStatus> {
  const { project, nowMs, signal } = options;
  const version = await readVersion(client, signal);
  const [watchers, controllerStatuses] = await Promise.all([
    readWatcherStatus(client, nowMs, { project, signal }),
    readControllers(client, controllers, options),
  ]);
  return {
    version,
    ...watcherFacts(watchers),
    controllers: controllerStatuses,
  };
}

/** Reads the version of an API server, `v1.36.3`. */
export async function readVersion(client: KubeClient, signal: AbortSignal): Promise<string> {
  const { body } = await client.request({ method: 'GET', path: '/version', signal });
  return isRecord(body) && typeof body.gitVersion === 'string' ? body.gitVersion : 'unknown';
}

/** Reads the objects of each controller. An error of one controller is its problem. */
export async function readControllers(
  client: KubeClient,
  controllers: readonly ControllerDefinition[],
  options: ReadOptions,
): Promise<readonly ControllerStatus[]> {
  return await Promise.all(controllers.map((one) => readController(client, one, options)));
}

async function readController(
  client: KubeClient,
  { name, declaration }: ControllerDefinition,
  { project, namespaces, nowMs, signal }: ReadOptions,
): Promise<ControllerStatus> {
  const { resource, statusSlice, selector } = declaration;
  const counted = { objects: 0, ready: 0, failing: 0, stalled: 0, paused: 0, unobserved: 0 };
  const denied: string[] = [];
  let lastFailure: ObjectFailure | undefined;
  let oldestMs = Number.POSITIVE_INFINITY;
  let more = false;
  const isOurs = resource.definition !== undefined;
  const isEvident = hasEvidence(declaration);
  const isObserved = observationOf({ name, declaration }, project)?.isObserved;
  const currentStatus = () => ({
    controller: name,
    ...shown(counted, { isOurs, isEvident }),
    ...(lastFailure === undefined ? {} : { lastFailure }),
    more,
    ...(denied.length === 0 ? {} : { policyDenied: { objects: denied, command: reconcileAll(resource) } }),
    ...(counted.unobserved === 0 ? {} : { oldestSeconds: Math.max(0, Math.round((nowMs - oldestMs) / 1000)) }),
    // As for the resync: the annotation of a foreign object may be missing after a failure.
    ...(isObserved === undefined && (nowMs - oldestMs) / 1000 > overdueAfterSecondsOf(declaration.options)
      ? { overdue: true as const }
      : {}),
  });
  try {
    const selected = { labelSelector: labelSelectorOf(selector), fieldSelector: fieldSelectorOf(selector) };
    const query = { ...selected, signal, timeoutSeconds: pageSeconds };
    for await (const { items } of listPagesIn(namespaces, client, resource, query)) {
      more = counted.objects >= mostObjects && items.length > 0;
      if (more) break;
      for (const object of items) {
        if (!isSelected(selector, { ...object, kind: resource.kind })) continue;
        counted.objects += 1;
        if (object.metadata.annotations?.[pausedAnnotation] === 'true') counted.paused += 1;
        const sinceMs = isEvident
          ? unobservedSinceMs(object, { controller: name, project, statusSlice, isObserved })
          : undefined;
        if (sinceMs !== undefined) {
          counted.unobserved += 1;
          oldestMs = Math.min(oldestMs, sinceMs);
        }
        // Without conditions of its own, the conditions are another controller's.
        if (!isOurs && statusSlice === undefined) continue;
        if (objectReadiness(object, statusSlice?.conditions).ready) counted.ready += 1;
        const failure = objectFailure(object, statusSlice?.conditions, nowMs);
        if (failure !== undefined) {
          counted.failing += 1;
          if (failure.isStalled) counted.stalled += 1;
          if (failure.reason === reasons.policyDenied) denied.push(failure.object);
          const { isStalled: _, ...about } = failure;
          if (lastFailure === undefined || about.ageSeconds < lastFailure.ageSeconds) lastFailure = about;
        }
      }
    }
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    const notServed = isKindNotServed(error) ? { notServed: true as const } : {};
    return { ...currentStatus(), problem: formatError(error), ...notServed };
  }
  return currentStatus();
}

/** Leaves out the counts that the status of a foreign kind does not show. */
function shown<C extends { readonly ready: number; readonly unobserved: number }>(
  { ready, unobserved, ...rest }: C,
  { isOurs, isEvident }: { readonly isOurs: boolean; readonly isEvident: boolean },
): Omit<C, 'ready' | 'unobserved'> & Partial<Pick<C, 'ready' | 'unobserved'>> {
  return { ...rest, ...(isOurs ? { ready } : {}), ...(isEvident ? { unobserved } : {}) };
}

/** Returns the failure of an object's last reconcile by this controller. */
function objectFailure(
  object: KubeObject,
  slices: readonly string[] | undefined,
  nowMs: number,
): (ObjectFailure & { readonly isStalled: boolean }) | undefined {
  const found = failureOf(conditionsOf(object), { own: slices === undefined, slices: slices ?? [] });
  if (found === undefined) return undefined;
  const { name, namespace } = object.metadata;
  const sinceMs = Date.parse(String(found.lastTransitionTime));
  return {
    object: namespace === undefined ? name : `${namespace}/${name}`,
    reason: found.reason,
    message: found.message,
    isStalled: found.state === 'Stalled',
    ageSeconds: Number.isNaN(sinceMs) ? 0 : Math.max(0, Math.round((nowMs - sinceMs) / 1000)),
  };
}

/**
 * Formats the failing objects of a controller: `2 objects fail; the last is default/a (Retrying, since 12 s): text`.
 */
export function formatFailure(failing: number, { object, reason, message, ageSeconds }: ObjectFailure): string {
  const count = failing === 1 ? '1 object fails: ' : `${failing} objects fail; the last is `;
  return redact(`${count}${object} (${reason}, since ${ageText(ageSeconds)}): ${message}`);
}

/** How many objects a line names. */
const mostNamed = 5;

/** Formats what names the objects that an admission policy made Stalled, and what to do about them. */
export function formatPolicyDenied({ objects, command }: NonNullable<ControllerStatus['policyDenied']>): {
  readonly what: string;
  readonly fix: string;
} {
  return {
    what: `Stalled by PolicyDenied: ${redact(few(objects, mostNamed))}`,
    fix: `after the policy is fixed: ${command}`,
  };
}

/** The command that has all objects of a kind reconciled, before the resync period ends. */
function reconcileAll(kind: { readonly group: string; readonly plural: string; readonly namespaced: boolean }): string {
  const all = kind.namespaced ? '--all --all-namespaces' : '--all';
  return `kubectl annotate ${collectionName(kind)} ${all} --overwrite ${reconcileRequestedAnnotation}="$(date)"`;
}
