// The Lambda handler of the timers queue. Everything that decides is in runtime/timers.ts.
import type { SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { timersQueue } from '../core/names.ts';
import { createSend } from '../queue/send.ts';
import { createSqsClient } from '../queue/sqs-client.ts';
import { createTimers } from '../runtime/timers.ts';
import { readTimersSettings, readTraceHeader } from '../settings.ts';
import { createSqsClock, deadlineOf } from './clock.ts';
import { createTelemetry, telemetryOptions } from './telemetry.ts';
import { toBatchResponse, toQueueRecord } from './records.ts';
import { type Handler, startOnce } from './start-once.ts';

/** Creates the handler of the timers queue. Throws at its first call, by name, for settings that are missing. */
export function createTimersHandler(): Handler<SQSEvent, SQSBatchResponse> {
  return startOnce(start);
}

function start(): Handler<SQSEvent, SQSBatchResponse> {
  const settings = readTimersSettings();
  const telemetry = createTelemetry(timersQueue, telemetryOptions(settings));
  const clock = createSqsClock();
  const timers = createTimers({
    send: createSend(createSqsClient(), settings.QUEUE_URL_PREFIX, { traceHeader: readTraceHeader }),
    log: telemetry.log({}),
    meter: telemetry.meter,
    sqsNow: clock.now,
  });
  return async ({ Records }, context) => {
    clock.received();
    try {
      return toBatchResponse(await timers(Records.map(toQueueRecord), { signal: deadlineOf(context) }));
    } finally {
      telemetry.flush();
    }
  };
}
