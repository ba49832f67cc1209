// The Lambda handler of the timers queue. The code is in src/timers.

import { withFileSecrets } from '../clusters/auth/file-secrets.ts';
import { createSecretReader } from '../clusters/auth/secret-reader.ts';
import { resyncQueue, timersQueue } from '../core/names.ts';
import { timersBatches } from '../core/shared-functions.ts';
import { readRoleIds, readTimersSettings, readTraceHeader } from '../settings.ts';
import { createReturn } from '../sqs/return.ts';
import { createSend } from '../sqs/send.ts';
import { createCopyLimit } from '../sqs/senders.ts';
import { createSqsClient } from '../sqs/sqs-client.ts';
import { createTimers } from '../timers/run.ts';
import { createSqsClock, deadlineOf } from './clock.ts';
import type { SqsBatchResponse, SqsEvent } from './events.ts';
import { createIdSource } from './function-ids.ts';
import { besidesProbes } from './probes.ts';
import { toBatchResponse, toQueueRecord } from './records.ts';
import { type Handler, type Started, startOnce } from './start-once.ts';
import { createTelemetry, telemetryOptions } from './telemetry.ts';

/**
 * Creates the handler of the timers queue. Its first call throws SettingsError if settings are missing, and names them.
 * @param controllers the names in the registry: messages for any other controller become dead letters
 */
export function createTimersHandler(controllers: readonly string[]): Handler<SqsEvent, SqsBatchResponse> {
  return startOnce(() => start(new Set(controllers)));
}

function start(controllers: ReadonlySet<string>): Started<SqsEvent, SqsBatchResponse> {
  const settings = readTimersSettings();
  const telemetry = createTelemetry(timersQueue, telemetryOptions(settings));
  const clock = createSqsClock();
  const sqs = createSqsClient();
  const log = telemetry.log({});
  const secrets = withFileSecrets(createSecretReader({ now: () => new Date() }));
  // Those of controllers are not required: CloudFormation updates the environment of a function before its code, so the
  // former code starts without the role of a controller that the deployment removes.
  const roles = readRoleIds(settings, [timersQueue, resyncQueue]);
  const send = createSend(sqs, settings.QUEUE_URL_PREFIX, { traceHeader: readTraceHeader });
  const timers = createTimers({
    controllers,
    ...(roles === undefined
      ? {}
      : { senders: { roles, mayCopy: createCopyLimit(() => performance.now(), { concurrency: timersBatches }) } }),
    ids: createIdSource(settings.DEDUPLICATION_SECRET, secrets, log),
    send,
    returnMessages: createReturn(sqs, settings.QUEUE_URL_PREFIX, timersQueue, {
      onFailure: (reason) => log.warn('message not returned', { reason }),
    }),
    log,
    metrics: telemetry.metrics,
    sqsNow: clock.now,
  });
  const handle: Handler<SqsEvent, SqsBatchResponse> = async ({ Records }, context) => {
    const records = Records.map(toQueueRecord);
    clock.received(records, context);
    const signal = deadlineOf(context);
    const kept = besidesProbes({ log, send }, records, signal, async (messages) => await timers(messages, { signal }));
    return toBatchResponse(await kept);
  };
  return { handle, telemetry };
}
