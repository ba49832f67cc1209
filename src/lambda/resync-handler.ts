// The Lambda handler of the resync: the schedule's tick asks for polls, the resync queue brings them. Everything that decides
// is in runtime/resync.ts.
import type { EventBridgeEvent, SQSBatchResponse, SQSEvent } from 'aws-lambda';
import type { Registered } from '../core/controller.ts';
import { resyncQueue } from '../core/names.ts';
import { createDepth } from '../sqs/depth.ts';
import { createSend } from '../queue/send.ts';
import { createSqsClient } from '../queue/sqs-client.ts';
import { createResync } from '../runtime/resync.ts';
import { readResyncSettings, readTraceHeader } from '../settings.ts';
import { deadlineOf } from './clock.ts';
import { openClusters } from './open-clusters.ts';
import { createTelemetry, telemetryOptions } from './telemetry.ts';
import { toBatchResponse, toQueueRecord } from './records.ts';
import { type Handler, startOnce } from './start-once.ts';

/** What the resync function is called with. */
export type ResyncEvent = SQSEvent | Pick<EventBridgeEvent<string, unknown>, 'time'>;

/** Creates the handler of the resync. Throws at its first call, by name, for settings that are missing. */
export function createResyncHandler(registry: readonly Registered[]): Handler<ResyncEvent, SQSBatchResponse> {
  return startOnce(() => start(registry));
}

function start(registry: readonly Registered[]): Handler<ResyncEvent, SQSBatchResponse> {
  const settings = readResyncSettings();
  const telemetry = createTelemetry(resyncQueue, telemetryOptions(settings));
  const sqs = createSqsClient();
  const { table, clusters } = openClusters(settings.CLUSTERS, 'outrigger/resync');
  const { RESYNC_PERIOD_SECONDS: periodSeconds } = settings;
  const resync = createResync({
    registry,
    findCluster: async (name) => await clusters.find(name),
    listClusters: async () => await table.list(),
    send: createSend(sqs, settings.QUEUE_URL_PREFIX, { traceHeader: readTraceHeader }),
    depth: createDepth(sqs, settings.QUEUE_URL_PREFIX),
    now: () => Date.now(),
    log: telemetry.log,
    meter: telemetry.meter,
    pace: {
      tickSeconds: settings.RESYNC_TICK_SECONDS,
      graceSeconds: settings.RESYNC_GRACE_SECONDS,
      perSecond: settings.RESYNC_PER_SECOND,
    },
    ...(periodSeconds === undefined ? {} : { periodSeconds }),
  });
  return async (event, context) => {
    const signal = deadlineOf(context);
    try {
      if (!('Records' in event)) {
        await resync.tick(event.time, { signal });
        return toBatchResponse([]);
      }
      const leftMs = () => context.getRemainingTimeInMillis();
      return toBatchResponse(await resync.run(event.Records.map(toQueueRecord), { signal, leftMs }));
    } finally {
      telemetry.flush();
    }
  };
}
