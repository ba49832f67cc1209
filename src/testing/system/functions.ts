// The functions of a system in one process, on queues in memory and a clock that a test moves: each controller's, the
// timers function and the resync, without AWS.
import type { ControllerDefinition, Environment } from '../../api/definition.ts';
import type { SecretReader } from '../../api/secret.ts';
import type { Log } from '../../core/log.ts';
import { silentMetrics } from '../../core/metrics.ts';
import { controllerQueue, resyncQueue, timersQueue } from '../../core/names.ts';
import { sleep, type Wait } from '../../core/time.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import { createFunction } from '../../reconciling/function.ts';
import { createResync, type ResyncDeps } from '../../resync/run.ts';
import { createFunctionIds } from '../../sqs/deduplication.ts';
import type { QueueRecord } from '../../sqs/record.ts';
import type { ReturnMessages } from '../../sqs/return.ts';
import type { Send } from '../../sqs/sender.ts';
import { createTimers } from '../../timers/run.ts';
import { testCluster } from './changes.ts';
import { type SystemQueues, visibilitySeconds } from './queues.ts';

/** The dependencies of the functions. */
export type SystemFunctionsDeps = {
  readonly controllers: readonly ControllerDefinition[];
  readonly environment: Environment;
  readonly secrets?: SecretReader;
  /** The client of the resync. */
  readonly client: KubeClient;
  /** The client of a controller. */
  readonly clientOf: (controller: string) => KubeClient;
  readonly queues: SystemQueues;
  readonly send: Send;
  readonly nowMs: () => number;
  /** The log of a function, which is a controller's, `timers` or `resync`. */
  readonly log: (name: string, fields: object) => Log;
  /** A wait of the runtime between the passes of a reconcile. */
  readonly wait: Wait;
  /** The time limit of a batch, in real milliseconds: it bounds a reconcile that never ends. */
  readonly reconcileMs?: number;
  readonly resync: Pick<ResyncDeps, 'rate' | 'periodSeconds'>;
};

/** Processes records. Returns the ids of those that must stay on the queue. */
type Handle = (records: readonly QueueRecord[]) => Promise<readonly string[]>;

/** The functions. Each `deliver` receives from a queue once, and returns the number of messages. */
export type SystemFunctions = {
  /** Makes another instance of a controller's function, as Lambda does for concurrent batches. */
  create(controller: ControllerDefinition): Handle;
  deliver(controller: ControllerDefinition): Promise<number>;
  deliverTimers(): Promise<number>;
  deliverResync(): Promise<number>;
  /** Starts a resync run, as the schedule does. */
  startResync(): Promise<void>;
};

const graceMs = 500;
const resyncMs = 60_000;
const returnSeconds = 1;

/** Creates the functions. Throws SettingsError for missing settings of a controller. */
export function createSystemFunctions({
  controllers,
  environment,
  secrets,
  client,
  clientOf,
  queues,
  send,
  nowMs,
  log,
  wait,
  reconcileMs = 20_000,
  resync,
}: SystemFunctionsDeps): SystemFunctions {
  const ids = async () => createFunctionIds('test');
  const now = () => new Date(nowMs());
  const shared = { send, metrics: silentMetrics, sqsNow: nowMs };
  const returnTo =
    (queue: string): ReturnMessages =>
    async (records) => {
      const handles = records.map(({ receiptHandle }) => receiptHandle);
      queues.hide(queue, handles, returnSeconds);
    };

  function create(controller: ControllerDefinition): Handle {
    const { name } = controller;
    const queue = controllerQueue(name);
    const batch = createFunction(controller, {
      project: undefined,
      instance: controller.start(environment, secrets),
      retry: {},
      now,
      waitSeconds: wait,
      findCluster: async () => ({ type: 'client', client: clientOf(name) }),
      isKnownCluster: (cluster) => cluster === testCluster,
      ids,
      send,
      deleteMessages: async (receiptHandles) => queues.delete(queue, receiptHandles),
      returnMessages: returnTo(queue),
      // A batch is given to its function when it is received, so none is late.
      renewMessages: async (records) => records,
      visibilitySeconds: () => visibilitySeconds,
      // The queues in memory name no senders.
      senders: undefined,
      startTrace: undefined,
      log: (fields) => log(name, fields),
      metrics: silentMetrics,
      monotonicMs: () => performance.now(),
      sqsNow: nowMs,
      nowMs,
      wait: async (milliseconds, signal) => await sleep(milliseconds / 1000, signal).catch(() => undefined),
      runKey: async (input, run) => await run(input),
      exitProcess: (reason) => {
        throw new Error(`controller ${name}: ${reason}`);
      },
    });
    return async (records) => await batch(records, { reconcileMs, graceMs });
  }

  async function give(queue: string, handle: Handle): Promise<number> {
    const records = queues.receive(queue);
    if (records.length === 0) return 0;
    const kept = new Set(await handle(records));
    const finished = records.filter(({ messageId }) => !kept.has(messageId));
    queues.delete(
      queue,
      finished.map(({ receiptHandle }) => receiptHandle),
    );
    return records.length;
  }

  const functions = new Map(controllers.map((controller) => [controller, create(controller)]));
  const timers = createTimers({
    ...shared,
    ids,
    log: log('timers', {}),
    controllers: new Set(controllers.map(({ name }) => name)),
    returnMessages: returnTo(timersQueue),
  });
  const lists = createResync({
    ...shared,
    ...resync,
    registry: controllers,
    log: (fields) => log('resync', fields),
    findCluster: async () => ({ type: 'client', client }),
    listClusters: async () => [testCluster],
    depth: async (queue) => queues.depth(queue),
  });
  const { signal } = new AbortController();
  return {
    create,
    deliver: async (controller) => {
      return await give(controllerQueue(controller.name), functions.get(controller) ?? create(controller));
    },
    deliverTimers: async () => await give(timersQueue, async (records) => await timers(records, { signal })),
    deliverResync: async () => {
      return await give(resyncQueue, async (records) => {
        return await lists.run(records, { signal, remainingMs: () => resyncMs });
      });
    },
    startResync: async () => void (await lists.startRun(now().toISOString(), { signal })),
  };
}
