// The Lambda handler of a controller. Settings, clients and telemetry are created once, at the first invocation. Every
// invocation processes one batch of the controller's queue, with the code of src/reconciling.
import { AsyncLocalStorage } from 'node:async_hooks';
import type { ControllerDefinition } from '../api/definition.ts';
import { withFileSecrets } from '../clusters/auth/file-secrets.ts';
import { openClusters } from '../clusters/open-clusters.ts';
import type { RetryPolicy } from '../core/controller-options.ts';
import type { Log } from '../core/log.ts';
import { controllerQueue, functionUserAgent, resyncQueue, timersQueue, wakeFunction } from '../core/names.ts';
import { sleep } from '../core/time.ts';
import { createFunction } from '../reconciling/function.ts';
import { followUpSeconds, graceSeconds, reportSeconds } from '../reconciling/pass/author-call.ts';
import { createSenderCheck, type SenderCheck } from '../reconciling/sender-check.ts';
import {
  environment,
  type ReconcileSettings,
  readReconcileSettings,
  readRoleIds,
  readTraceHeader,
} from '../settings.ts';
import { createDelete } from '../sqs/delete.ts';
import { createRenew } from '../sqs/renew.ts';
import { createReturn } from '../sqs/return.ts';
import { createSend } from '../sqs/send.ts';
import { createSqsClient } from '../sqs/sqs-client.ts';
import { createSqsClock, deadlineOf, remainingMs, sleepMs } from './clock.ts';
import type { SqsBatchResponse, SqsEvent } from './events.ts';
import { logFatalErrors } from './fatal-errors.ts';
import { createIdSource } from './function-ids.ts';
import { besidesProbes, type ProbeDeps } from './probes.ts';
import { toBatchResponse, toQueueRecord } from './records.ts';
import { type Handler, type Started, startOnce } from './start-once.ts';
import { tableOptions } from './table-options.ts';
import { createTelemetry, type Telemetry, telemetryOptions } from './telemetry.ts';
import { openTraces } from './traces.ts';

/** The time after which the process exits if a reconcile ignores its signal, which is reported before. */
const graceMs = (graceSeconds + reportSeconds + followUpSeconds) * 1000;

/**
 * Creates the handler of a controller's queue. Its first call throws SettingsError if settings are missing, and names
 * them.
 */
export function createReconcileHandler(controller: ControllerDefinition): Handler<SqsEvent, SqsBatchResponse> {
  return startOnce(() => start(controller));
}

function start(controller: ControllerDefinition): Started<SqsEvent, SqsBatchResponse> {
  const settings = readReconcileSettings();
  const telemetry = createTelemetry(controller.name, telemetryOptions(settings));
  // Mostly that of the code that made a promise or a timer. A promise that another key's code rejects has the other's.
  const keyLog = new AsyncLocalStorage<Log>();
  logFatalErrors(telemetry, () => keyLog.getStore());
  const monotonicMs = () => performance.now();
  const project = settings.PROJECT;
  const opened = openClusters(settings.CLUSTERS, functionUserAgent(controller.name, project), tableOptions(telemetry));
  const { clusters, table } = opened;
  const secrets = withFileSecrets(opened.secrets);
  const clock = createSqsClock();
  const { name } = controller;
  const queueCalls = openQueueCalls(name, settings, telemetry);
  const traces = openTraces(settings, name, secrets, telemetry);
  const batch = createFunction(controller, {
    project,
    instance: controller.start(environment(), secrets),
    retry: retryOf(settings),
    now: () => new Date(),
    waitSeconds: sleep,
    findCluster: async (cluster) => await clusters.find(cluster),
    isKnownCluster: table.has,
    ids: createIdSource(settings.DEDUPLICATION_SECRET, secrets, telemetry.log({})),
    send: (...entries) => queueCalls().send(...entries),
    deleteMessages: (...handles) => queueCalls().deleteMessages(...handles),
    returnMessages: (...records) => queueCalls().returnMessages(...records),
    renewMessages: (...records) => queueCalls().renewMessages(...records),
    visibilitySeconds: clock.visibilitySeconds,
    senders: openSenderCheck(controller, settings, table),
    startTrace: traces?.start,
    log: telemetry.log,
    metrics: telemetry.metrics,
    monotonicMs,
    sqsNow: clock.now,
    nowMs: Date.now,
    wait: sleepMs,
    runKey: async (input, run) => await keyLog.run(input.log, run, input),
    exitProcess: (reason) => {
      telemetry.log({}).error('process exits: a reconcile ignored its signal', { reason });
      telemetry.flush();
      process.exit(1);
    },
  });

  const probes: ProbeDeps = {
    log: telemetry.log({}),
    send: (...entries) => queueCalls().send(...entries),
    opened,
    kinds: [controller.declaration.resource],
  };
  const handle: Handler<SqsEvent, SqsBatchResponse> = async ({ Records }, context) => {
    const records = Records.map(toQueueRecord);
    clock.received(records, context);
    const reconcileMs = Math.max(1, remainingMs(context) - graceMs);
    try {
      await traces?.loaded;
      const signal = deadlineOf(context);
      const kept = besidesProbes(probes, records, signal, async (keys) => await batch(keys, { reconcileMs, graceMs }));
      return toBatchResponse(await kept);
    } finally {
      // An environment that is frozen after the response sends nothing.
      await traces?.flush(remainingMs(context));
    }
  };
  return { handle, telemetry };
}

/**
 * The calls to the queues. The SQS client is created with the first one: that takes milliseconds, and a reconcile
 * without a follow-up needs none.
 */
function openQueueCalls(controller: string, { QUEUE_URL_PREFIX: urlPrefix }: ReconcileSettings, telemetry: Telemetry) {
  const queue = controllerQueue(controller);
  const create = () => {
    const sqs = createSqsClient();
    return {
      send: createSend(sqs, urlPrefix, { traceHeader: readTraceHeader }),
      deleteMessages: createDelete(sqs, urlPrefix, queue, {
        onFailure: (reason) => telemetry.log({}).warn('message not deleted', { reason }),
      }),
      renewMessages: createRenew(sqs, urlPrefix, queue),
      returnMessages: createReturn(sqs, urlPrefix, queue, {
        onFailure: (reason) => telemetry.log({}).warn('message not returned', { reason }),
      }),
    };
  };
  let calls: ReturnType<typeof create> | undefined;
  return () => (calls ??= create());
}

/** The check of the senders; undefined where the stack names no roles. */
function openSenderCheck(
  { name, declaration }: ControllerDefinition,
  settings: ReconcileSettings,
  table: ReturnType<typeof openClusters>['table'],
): SenderCheck | undefined {
  // CloudFormation updates the environment of a function before its code: the role of the wake function may be gone.
  const roles = readRoleIds(settings, [name, timersQueue, resyncQueue]);
  if (roles === undefined) return undefined;
  const roleId = (role: string) => roles.get(role) ?? '';
  return createSenderCheck(
    {
      self: roleId(name),
      timers: roleId(timersQueue),
      resync: roleId(resyncQueue),
      wake: roles.get(wakeFunction),
      requesters: settings.SENDERS,
    },
    {
      watchersOf: async (cluster) => (await table.get(cluster))?.watchers?.map(({ id }) => id) ?? [],
      allWatchers: () => table.watchers(),
      forget: table.forget,
      monotonicMs: () => performance.now(),
      concurrency: declaration.options.concurrency,
    },
  );
}

/** What the settings say of the controller's retries. */
function retryOf({ RETRY_ATTEMPTS: attempts, RETRY_SECONDS: seconds }: ReconcileSettings): Partial<RetryPolicy> {
  const delays = seconds === undefined ? {} : { firstSeconds: seconds, maxSeconds: seconds };
  return attempts === undefined ? delays : { ...delays, attempts };
}
