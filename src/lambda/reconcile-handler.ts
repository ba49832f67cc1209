// The Lambda handler of a controller: settings, clients and telemetry are made once, at the first invocation, and a batch
// is handled each time. Everything that decides is in runtime/.
import type { SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { settingSecrets } from '../clusters/setting-secrets.ts';
import type { Registered } from '../core/controller.ts';
import { redact } from '../core/redact.ts';
import { controllerQueue } from '../core/names.ts';
import { createDelete } from '../sqs/delete.ts';
import { createSend } from '../queue/send.ts';
import { createSqsClient } from '../queue/sqs-client.ts';
import { createBatch } from '../runtime/batch.ts';
import { createBreaker } from '../runtime/breaker.ts';
import { createMapKeys, isMapped } from '../runtime/map-keys.ts';
import { createReconcile } from '../runtime/reconcile.ts';
import { environment, readReconcileSettings, readTraceHeader } from '../settings.ts';
import { createSqsClock, usableMs, wait } from './clock.ts';
import { openClusters } from './open-clusters.ts';
import { createTelemetry, telemetryOptions } from './telemetry.ts';
import { toBatchResponse, toQueueRecord } from './records.ts';
import { type Handler, startOnce } from './start-once.ts';

/** How long a reconcile may go on after its signal. */
const graceMs = 1_000;

/** Creates the handler of a controller's queue. Throws at its first call, by name, for settings that are missing. */
export function createReconcileHandler(controller: Registered): Handler<SQSEvent, SQSBatchResponse> {
  return startOnce(() => start(controller));
}

function start(controller: Registered): Handler<SQSEvent, SQSBatchResponse> {
  const settings = readReconcileSettings();
  const telemetry = createTelemetry(controller.name, telemetryOptions(settings));
  const sqs = createSqsClient();
  const monotonicMs = () => performance.now();
  const { clusters, secrets } = openClusters(settings.CLUSTERS, `outrigger/${controller.name}`);
  const running = controller.start(environment(), settingSecrets(secrets));
  const clock = createSqsClock();
  const { name, declares } = controller;
  const send = createSend(sqs, settings.QUEUE_URL_PREFIX, { traceHeader: readTraceHeader });
  const parts = { name, declares, running, now: () => new Date() };
  const reconcile = createReconcile(parts);
  const mapKeys = createMapKeys(parts, send);

  const batch = createBatch({
    controller: name,
    reconcile: async (job) => await (isMapped(declares, job.message) ? mapKeys(job) : reconcile(job)),
    findCluster: async (cluster) => await clusters.find(cluster),
    breaker: createBreaker(monotonicMs),
    send,
    deleteMessages: createDelete(sqs, settings.QUEUE_URL_PREFIX, controllerQueue(name), {
      onFailure: (reason) => telemetry.log({}).warn('message not deleted', { reason: redact(reason) }),
    }),
    log: telemetry.log,
    meter: telemetry.meter,
    monotonicMs,
    sqsNow: clock.now,
    wait,
    die: (reason) => {
      telemetry.log({}).error('ending the process', { reason });
      telemetry.flush();
      process.exit(1);
    },
  });

  return async ({ Records }, context) => {
    clock.received();
    const reconcileMs = Math.max(1, usableMs(context) - graceMs);
    try {
      return toBatchResponse(await batch(Records.map(toQueueRecord), { reconcileMs, graceMs }));
    } finally {
      telemetry.flush();
    }
  };
}
