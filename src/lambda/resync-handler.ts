// The Lambda handler of the resync. The schedule invokes it to start a resync run, and the resync queue invokes it to
// list a kind. The code is in src/resync.

import type { ControllerDefinition } from '../api/definition.ts';
import { openClusters } from '../clusters/open-clusters.ts';
import { functionUserAgent, resyncQueue } from '../core/names.ts';
import { resyncLists } from '../core/shared-functions.ts';
import { createResync } from '../resync/run.ts';
import { readResyncSettings, readRoleIds, readTraceHeader } from '../settings.ts';
import { createDepth } from '../sqs/depth.ts';
import { createSend } from '../sqs/send.ts';
import { createCopyLimit } from '../sqs/senders.ts';
import { createSqsClient } from '../sqs/sqs-client.ts';
import { createSqsClock, deadlineOf } from './clock.ts';
import type { SqsBatchResponse, SqsEvent } from './events.ts';
import { besidesProbes } from './probes.ts';
import { toBatchResponse, toQueueRecord } from './records.ts';
import { type Handler, type Started, startOnce } from './start-once.ts';
import { tableOptions } from './table-options.ts';
import { createTelemetry, telemetryOptions } from './telemetry.ts';

/** The events of the resync function: its queue's records, or the input of its schedule. */
export type ResyncEvent =
  | SqsEvent
  | {
      /** The scheduled time, in RFC 3339. */
      readonly time?: string;
    };

/**
 * Creates the handler of the resync. Its first call throws SettingsError if settings are missing, and names them.
 * @param options `namespaces`: the only namespaces that are listed; absent: all
 */
export function createResyncHandler(
  registry: readonly ControllerDefinition[],
  options: { readonly namespaces?: readonly string[] } = {},
): Handler<ResyncEvent, SqsBatchResponse> {
  return startOnce(() => start(registry, options));
}

function start(
  registry: readonly ControllerDefinition[],
  { namespaces }: { readonly namespaces?: readonly string[] },
): Started<ResyncEvent, SqsBatchResponse> {
  const settings = readResyncSettings();
  const telemetry = createTelemetry(resyncQueue, telemetryOptions(settings));
  const sqs = createSqsClient();
  const opened = openClusters(
    settings.CLUSTERS,
    functionUserAgent('resync', settings.PROJECT),
    tableOptions(telemetry),
  );
  const { table, clusters } = opened;
  const send = createSend(sqs, settings.QUEUE_URL_PREFIX, { traceHeader: readTraceHeader });
  const { RESYNC_PERIOD_SECONDS: periodSeconds } = settings;
  const clock = createSqsClock();
  const self = readRoleIds(settings, [resyncQueue])?.get(resyncQueue);
  const resync = createResync({
    ...(self === undefined
      ? {}
      : { senders: { self, mayCopy: createCopyLimit(() => performance.now(), { concurrency: resyncLists }) } }),
    registry,
    ...(namespaces === undefined ? {} : { namespaces }),
    project: settings.PROJECT,
    countsDeadLetters: settings.MONITORING === 'lean',
    findCluster: async (name) => await clusters.find(name),
    listClusters: async () => await table.list(),
    send,
    depth: createDepth(sqs, settings.QUEUE_URL_PREFIX),
    sqsNow: clock.now,
    log: telemetry.log,
    metrics: telemetry.metrics,
    rate: {
      runIntervalSeconds: settings.RESYNC_SCHEDULE_SECONDS,
      missedAfterSeconds: settings.RESYNC_MISSED_AFTER_SECONDS,
      perSecond: settings.RESYNC_PER_SECOND,
    },
    ...(periodSeconds === undefined ? {} : { periodSeconds }),
  });
  const kinds = registry.map(({ declaration }) => declaration.resource);
  const probes = { log: telemetry.log({}), send, opened, kinds };
  const handle: Handler<ResyncEvent, SqsBatchResponse> = async (event, context) => {
    const signal = deadlineOf(context);
    if (!('Records' in event)) {
      const time = scheduledTime(event, { periodSeconds: settings.RESYNC_SCHEDULE_SECONDS, nowMs: Date.now() });
      await resync.startRun(time, { signal });
      return toBatchResponse([]);
    }
    const remainingMs = () => context.getRemainingTimeInMillis();
    const records = event.Records.map(toQueueRecord);
    clock.received(records, context);
    const run = async (lists: Parameters<typeof resync.run>[0]) => await resync.run(lists, { signal, remainingMs });
    return toBatchResponse(await besidesProbes(probes, records, signal, run));
  };
  return { handle, telemetry };
}

/**
 * Returns the time of a run (ISO 8601): the scheduled time of the event. For an event without a valid one, for example
 * of an invocation by hand, the start of the current period, so that two such events start one run.
 */
function scheduledTime(
  { time }: { readonly time?: string },
  { periodSeconds, nowMs }: { readonly periodSeconds: number; readonly nowMs: number },
): string {
  if (typeof time === 'string' && !Number.isNaN(Date.parse(time))) return new Date(time).toISOString();
  const periodMs = periodSeconds * 1000;
  return new Date(Math.floor(nowMs / periodMs) * periodMs).toISOString();
}
