// Lists a controller's kind in one cluster for the resync, page by page so that memory stays bounded, and sends the
// keys of the objects with unobserved changes and of those that are due. Nothing is concluded from an object's absence:
// a list that fails has sent the keys of its pages so far.

import { type ControllerDefinition, hasEvidence } from '../api/definition.ts';
import { recordWatcherDown } from '../checkpoint/watcher-status.ts';
import { missedAfterSecondsOf, overdueAfterSecondsOf } from '../core/controller-options.ts';
import { toError } from '../core/errors.ts';
import { formatReconcileKey, keyOf, type ReconcileKey } from '../core/key.ts';
import type { Log } from '../core/log.ts';
import { type Metrics, metricNames } from '../core/metrics.ts';
import { controllerQueue, heldLabelOf, resyncQueue, timersQueue } from '../core/names.ts';
import { fieldSelectorOf, isSelected, labelSelectorOf } from '../core/selector.ts';
import { observationOf } from '../kube/apply/observation.ts';
import type { KubeClient } from '../kube/client/client.ts';
import { continueTokenOf, isGone } from '../kube/client/errors.ts';
import { parseObject } from '../kube/client/object.ts';
import { type ListPage, listPages, listPagesAs } from '../kube/client/read.ts';
import { withServerTime } from '../kube/client/server-time.ts';
import { MessageError } from '../sqs/body.ts';
import type { Depth } from '../sqs/depth.ts';
import type { Message } from '../sqs/message.ts';
import type { QueueEntry, Send } from '../sqs/sender.ts';
import { timerEntry } from '../timers/timer-message.ts';
import { formatResyncMessage, type ResyncMessage } from './message.ts';
import {
  createResyncRateLimiter,
  planObject,
  type ResyncDecision,
  type ResyncRate,
  type ResyncRateLimiter,
  resyncDueAt,
} from './plan.ts';

/** The dependencies of listing a kind. */
export type ListKindDeps = {
  readonly send: Send;
  readonly depth: Depth;
  /** Returns the milliseconds since 1970 by the clock of SQS, which decides when the timers are due. */
  readonly now: () => number;
  readonly log: (fields: object) => Log;
  readonly metrics: Metrics;
  readonly rate: ResyncRate;
  /** Absent: the default project. */
  readonly project?: string | undefined;
  /** Overrides every controller's own period. */
  readonly periodSeconds?: number;
};

/** The time limits of a list. */
export type ListKindTime = {
  readonly signal: AbortSignal;
  /** Returns the time until the function's deadline. */
  readonly remainingMs: () => number;
};

/** The input of one list. */
export type ListKindInput = {
  readonly message: ResyncMessage;
  readonly controller: ControllerDefinition;
  readonly client: KubeClient;
  /** Whether the status of the cluster's watchers is checked as well. */
  readonly checksWatchers?: boolean;
  /** Whether the list has failed before in this run. */
  readonly isRetry?: boolean;
  /** Whether the list is resumed after its continue token expired. */
  readonly resumed?: boolean;
};

/**
 * Lists the kind of one message. Rejects, after sending the keys of the pages so far, if the list failed or the queue
 * rejected a key: the message is then retried. Resolves without a list if the next run has started meanwhile, because
 * that run starts its own list.
 */
export async function listKind(deps: ListKindDeps, input: ListKindInput, time: ListKindTime): Promise<void> {
  const { message, controller, client, checksWatchers = false, isRetry = false, resumed = false } = input;
  const { cluster, run, namespace } = message;
  const log = deps.log({ controller: controller.name, cluster, run, namespace });
  const { runIntervalSeconds } = deps.rate;
  const runSeconds = Date.parse(message.run) / 1000;
  const nowSeconds = deps.now() / 1000;
  if (message.continue === undefined && nowSeconds >= runSeconds + runIntervalSeconds) {
    log.warn('list abandoned: the next resync run has started');
    deps.metrics.count(metricNames.resyncRetriesExhausted, 1, { cluster: message.cluster });
    deps.metrics.trouble(message.cluster, 'list-abandoned');
    return;
  }
  if (isRetry) await requireResponse(input, time.signal);
  if (checksWatchers && message.continue === undefined)
    await recordWatcherDown(message.cluster, client, { ...deps, log }, time);
  // The depth at the start of the run applies to every change that is old enough to count as missed: it was made before
  // the start.
  const isRecent =
    nowSeconds - runSeconds <= missedAfterSecondsOf(controller.declaration.options, deps.rate.missedAfterSeconds);
  const known = message.continue !== undefined || isRecent ? message.queueIdle : undefined;
  const queueIdle = known ?? (await isQueueIdle(deps, controller.name, time.signal));
  const { scheduledUntil = 0, scheduledPerSecond = 0 } = message;
  const rateLimiter = createResyncRateLimiter(
    Math.max(1, deps.rate.perSecond - scheduledPerSecond),
    Math.max(Math.floor(nowSeconds), scheduledUntil),
  );
  const continued = () => {
    const scheduled = rateLimiter.scheduled(deps.now() / 1000);
    const idle = queueIdle === undefined ? {} : { queueIdle };
    return { ...scheduled, scheduledPerSecond: scheduledPerSecond + scheduled.scheduledPerSecond, ...idle };
  };
  const sendTimers = async (messages: readonly Message[]) => {
    const entries = toEntries(messages, deps.now(), log);
    await sendAll(deps, timersQueue, entries, time.signal);
    return entries.length;
  };
  const totals = { objects: 0, pages: 0, unobserved: 0, sent: 0, failed: true };
  let isOverdue = false;
  try {
    await sendTimers(await leftSelection(deps, input, time.signal));
    const listed = { message, controller, client, isBusy: queueIdle === false };
    for await (const page of listObjects(deps, listed, time.signal)) {
      totals.pages += 1;
      totals.objects += page.items.length;
      const { messages, unobserved } = selectDue(deps, { message, controller, client }, page.items, rateLimiter);
      totals.unobserved += unobserved;
      isOverdue ||= page.items.some(({ decision }) => decision === 'overdue');
      totals.sent += await sendTimers(messages);
      if (page.continue === undefined || time.remainingMs() > reserveMs) continue;
      const next = { ...message, continue: page.continue, ...continued() };
      await sendAll(deps, resyncQueue, [{ body: formatResyncMessage(next) }], time.signal);
      break;
    }
    totals.failed = false;
  } catch (error) {
    if (!isGone(error) || (resumed && totals.pages === 0)) throw error;
    // The continue token has expired. The error contains another token, which continues the list with the current
    // state. That is enough for a resync. Without another token the list is restarted.
    const newToken = continueTokenOf(error);
    if (newToken === undefined && (message.continue === undefined || totals.pages > 0)) throw error;
    totals.failed = false;
    const { continue: _, ...restarted } = message;
    log.warn('continue token expired', { resumedFrom: newToken === undefined ? 'start' : 'new token' });
    const next = newToken === undefined ? restarted : { ...restarted, continue: newToken, ...continued() };
    return await listKind(deps, { message: next, controller, client, resumed: true }, time);
  } finally {
    log.info('kind listed', { ...totals, queueIdle });
    deps.metrics.count(metricNames.resyncPages, totals.pages);
    deps.metrics.count(metricNames.resyncObjects, totals.objects);
    // With the labels of the controller, because its watchers missed the changes, and its alarm must fire.
    // Nothing is written while nothing was missed.
    if (queueIdle === true && totals.unobserved > 0) {
      const labels = { controller: controller.name, cluster: message.cluster };
      deps.metrics.count(metricNames.missedChanges, totals.unobserved, labels);
      // The alarm compares both metrics, so the second one has data whenever the first has.
      deps.metrics.count(metricNames.clusterPostponements, 0, labels);
      // That alarm does not fire while keys are postponed. This one does: the cluster may refuse the functions alone.
      if (isOverdue) deps.metrics.trouble(message.cluster, 'not-reconciled');
    }
  }
}

/** The time limit of one page. */
const pageSeconds = 30;
/**
 * The time for the first response of a list that has failed in this run: with that of a page, a cluster that never
 * responds would hold a function for half of the time.
 */
const responseSeconds = 5;
/** With less time than for another page and its keys, the rest of the list is left to the next message. */
const reserveMs = (pageSeconds + 10) * 1000;
/**
 * A controller's queue with at most this many messages is idle, unless they wait and none of them is in flight: the
 * controller is paused then. Changes that are unobserved while it is idle count as missed.
 */
const maxIdleMessages = 10;

/** Lists one object in a short time. Rejects as the list would. */
async function requireResponse({ client, controller, message }: ListKindInput, signal: AbortSignal): Promise<void> {
  const limits = { namespace: message.namespace, limit: 1, timeoutSeconds: responseSeconds, signal };
  await listPages(client, controller.declaration.resource, limits).next();
}

/** The part of an object that is kept while its page is processed. The object's fields are many times as large. */
type ListedObject = Pick<ReconcileKey, 'namespace' | 'name'> & { readonly decision: ResyncDecision };

/** Lists page by page, from the message's continue token on. */
function listObjects(
  { now, project, rate }: ListKindDeps,
  {
    message,
    controller: { name: controller, declaration },
    client,
    isBusy,
  }: ListKindInput & { readonly isBusy: boolean },
  signal: AbortSignal,
): AsyncGenerator<ListPage<ListedObject>> {
  const { resource, statusSlice } = declaration;
  const observation = observationOf({ name: controller, declaration }, project);
  const missedAfterSeconds = missedAfterSecondsOf(declaration.options, rate.missedAfterSeconds);
  const runMs = Date.parse(message.run);
  let serverNowMs = now();
  // The times of objects are the API server's, so their age is measured by its clock.
  const dated = withServerTime(client, (ms) => {
    serverNowMs = ms ?? now();
  });
  const toListedObject = (item: unknown): ListedObject => {
    const object = parseObject(item);
    const startedMs = runMs + serverNowMs - now();
    // The API server has applied the selectors of labels and fields. The namespaces are checked here.
    const isListed = isSelected(declaration.selector, { ...object, kind: resource.kind });
    const decision = !isListed
      ? 'skip'
      : planObject(object, {
          controller,
          project,
          statusSlice,
          hasEvidence: hasEvidence(declaration),
          isObserved: observation?.isObserved,
          missedAfterSeconds,
          overdueAfterSeconds: overdueAfterSecondsOf(declaration.options, rate),
          nowMs: serverNowMs,
          busyRun: isBusy ? { startedMs, intervalSeconds: rate.runIntervalSeconds } : undefined,
        });
    return { ...keyOf(object.metadata), decision };
  };
  return listPagesAs(dated, resource, toListedObject, {
    signal,
    timeoutSeconds: pageSeconds,
    continue: message.continue,
    namespace: message.namespace,
    labelSelector: labelSelectorOf(declaration.selector),
    fieldSelector: fieldSelectorOf(declaration.selector),
  });
}

/**
 * Makes the messages of objects that the controller holds although they have left its selection. Neither its watch nor
 * its list finds them: they may have left while no watcher ran.
 */
async function leftSelection(
  { now, project }: ListKindDeps,
  { message, controller: { name: controller, declaration }, client }: ListKindInput,
  signal: AbortSignal,
): Promise<readonly Message[]> {
  const { resource, selector } = declaration;
  if (selector === undefined || message.continue !== undefined) return [];
  const cause = { type: 'resync', run: message.run, dueAt: Math.floor(now() / 1000) } as const;
  const messages: Message[] = [];
  const { namespace: listed } = message;
  const labelSelector = heldLabelOf(controller, project);
  const held = { namespace: listed, labelSelector, timeoutSeconds: pageSeconds, signal };
  for await (const { items } of listPagesAs(client, resource, parseObject, held)) {
    for (const object of items) {
      if (isSelected(selector, { ...object, kind: resource.kind })) continue;
      const { name, namespace } = object.metadata;
      const place = namespace === undefined ? {} : { namespace };
      const key = { controller, cluster: message.cluster, group: resource.group, resource: resource.plural };
      messages.push({ ...key, ...place, name, cause });
    }
  }
  return messages;
}

/** Selects the objects of a page whose keys are sent, and assigns their due times. */
function selectDue(
  { rate, periodSeconds, now }: ListKindDeps,
  { message, controller }: ListKindInput,
  objects: readonly ListedObject[],
  rateLimiter: ResyncRateLimiter,
): { readonly messages: readonly Message[]; readonly unobserved: number } {
  const nowMs = now();
  const { resource, options } = controller.declaration;
  const run = {
    runSeconds: Date.parse(message.run) / 1000,
    runIntervalSeconds: rate.runIntervalSeconds,
    periodSeconds: periodSeconds ?? options.resyncPeriodSeconds,
    nowSeconds: nowMs / 1000,
  };
  const messages: Message[] = [];
  let unobserved = 0;
  for (const object of objects) {
    const { decision } = object;
    if (decision === 'skip') continue;
    const { group, plural } = resource;
    const key = { controller: controller.name, cluster: message.cluster, group, resource: plural, ...keyOf(object) };
    if (decision !== 'periodic') unobserved += 1;
    // More unobserved objects than the rate allows in one run interval: the next run finds the rest, and does not find
    // them queued twice.
    const unobservedDueAt =
      decision === 'unobserved' || decision === 'overdue'
        ? rateLimiter.take(nowMs / 1000, nowMs / 1000 + rate.runIntervalSeconds)
        : undefined;
    const periodicDueAt = unobservedDueAt === undefined ? resyncDueAt(formatReconcileKey(key), run) : undefined;
    const dueAt = unobservedDueAt ?? (periodicDueAt === undefined ? undefined : rateLimiter.take(periodicDueAt));
    if (dueAt === undefined) continue;
    const observed = unobservedDueAt === undefined ? {} : { observedAt: Math.floor(nowMs) };
    const cause = { type: 'resync', run: message.run, dueAt, ...observed } as const;
    messages.push({ ...key, cause });
  }
  return { messages, unobserved };
}

/**
 * Makes the timer entries of messages. A key that no message can have, such as the name of a Role, which has no limit,
 * is logged: it must not hold up the others.
 */
function toEntries(messages: readonly Message[], nowMs: number, log: Log): readonly QueueEntry[] {
  return messages.flatMap((message) => {
    try {
      return [timerEntry(message, { nowMs })];
    } catch (error) {
      if (!(error instanceof MessageError)) throw error;
      log.error('key cannot be sent', { key: formatReconcileKey(message), error: error.message });
      return [];
    }
  });
}

async function sendAll(deps: ListKindDeps, queue: string, entries: readonly QueueEntry[], signal: AbortSignal) {
  const sent = await deps.send(queue, entries, { signal });
  for (const result of sent) if (!result.accepted) throw new Error(`not sent: ${result.reason}`);
}

/** Returns whether a controller's queue is idle; undefined if its depth is unknown. */
export async function isQueueIdle(
  { depth, log }: Pick<ListKindDeps, 'depth' | 'log'>,
  controller: string,
  signal: AbortSignal,
): Promise<boolean | undefined> {
  try {
    const { visible, inFlight, delayed } = await depth(controllerQueue(controller), { signal });
    const isPaused = visible > 0 && inFlight === 0;
    return !isPaused && visible + inFlight + delayed <= maxIdleMessages;
  } catch (error) {
    // With an unknown depth no change counts as missed, and each unobserved one is sent.
    log({ controller }).warn('queue depth unknown', { error: toError(error).message });
    return undefined;
  }
}
