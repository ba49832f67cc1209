// One stage as a test of moves needs it: a clusters table, queues, timers and a function, on the clock of the test. Its
// watcher lists the cluster. A function has two environments in turn: one reads the table, and one has read it once and
// cannot any more, so it goes on with what it read first.
import { setImmediate } from 'node:timers/promises';
import type { ControllerDefinition } from '../../../../src/api/definition.ts';
import { createClusters } from '../../../../src/clusters/connect.ts';
import { createClusterRegistry } from '../../../../src/clusters/registry/registry.ts';
import { silentLog } from '../../../../src/core/log.ts';
import { silentMetrics } from '../../../../src/core/metrics.ts';
import { controllerDeadLetterQueue, controllerQueue, timersQueue } from '../../../../src/core/names.ts';
import { sleep } from '../../../../src/core/time.ts';
import type { KubeClient } from '../../../../src/kube/client/client.ts';
import { createBatch } from '../../../../src/reconciling/batch.ts';
import { createBreaker } from '../../../../src/reconciling/breaker.ts';
import { createReconcile } from '../../../../src/reconciling/reconcile.ts';
import { createFunctionIds } from '../../../../src/sqs/deduplication.ts';
import { createChangeFinder } from '../../../../src/testing/system/changes.ts';
import { createSystemQueues } from '../../../../src/testing/system/queues.ts';
import { createTimers } from '../../../../src/timers/run.ts';

/** A stage. */
export type Stage = {
  readonly table: Map<string, unknown>;
  readonly queues: ReturnType<typeof createSystemQueues>;
  /** Forwards changes, hands out messages, and starts a batch if none runs. */
  pump(): Promise<void>;
  /** Whether a batch runs. */
  isBusy(): boolean;
  deadLetters(): number;
};

const never = new AbortController().signal;
/** In real time, which the clock of the test does not know. */
const limits = { reconcileMs: 3_600_000, graceMs: 500 };
const refreshSeconds = 15;

/** Creates a stage. `watcher`: a client for its watcher; undefined while it watches nothing. */
export function createStage(
  controller: ControllerDefinition,
  {
    nowMs,
    random,
    version,
    watcher,
    hasStale,
  }: {
    readonly nowMs: () => number;
    readonly random: () => number;
    readonly version: () => number;
    readonly watcher: () => KubeClient | undefined;
    readonly hasStale: boolean;
  },
): Stage {
  const { name, declaration } = controller;
  const now = () => new Date(nowMs());
  const table = new Map<string, unknown>();
  const queues = createSystemQueues(nowMs);
  const queue = controllerQueue(name);
  const { send } = queues;
  const ids = async () => createFunctionIds('test');
  const returnTo = (from: string) => async (records: readonly { readonly receiptHandle: string }[]) =>
    queues.hide(
      from,
      records.map(({ receiptHandle }) => receiptHandle),
      1,
    );

  function environment(isStale: boolean) {
    let isRead = false;
    const read = async () => {
      if (isStale && isRead) throw new Error('S3 cannot be reached');
      isRead = true;
      return { type: 'table', entries: new Map(table) } as const;
    };
    const clusters = createClusters(createClusterRegistry({ refreshSeconds, read }, { now, random }), {
      now,
      client: { userAgent: 'outrigger/test' },
    });
    const wait = async (_: number, signal: AbortSignal) => {
      await setImmediate();
      signal.throwIfAborted();
    };
    return createBatch({
      controller: name,
      retry: declaration.options.retry,
      reconcile: createReconcile({ name, declaration, instance: controller.start({}), now, wait }),
      findCluster: async (cluster) => await clusters.find(cluster),
      breaker: createBreaker(nowMs),
      send,
      ids: async () => createFunctionIds(),
      deleteMessages: async (handles) => queues.delete(queue, handles),
      returnMessages: returnTo(queue),
      log: () => silentLog,
      metrics: silentMetrics,
      monotonicMs: () => performance.now(),
      sqsNow: nowMs,
      // In real time: it bounds a reconcile that never ends.
      wait: async (milliseconds, signal) => await sleep(milliseconds / 1000, signal).catch(() => undefined),
      exitProcess: (reason) => {
        throw new Error(reason);
      },
    });
  }

  const timers = createTimers({
    ids,
    send,
    log: silentLog,
    metrics: silentMetrics,
    sqsNow: nowMs,
    controllers: new Set([name]),
    returnMessages: returnTo(timersQueue),
  });
  const environments = hasStale ? [environment(false), environment(true)] : [environment(false)];
  let turn = 0;
  let running: Promise<void> | undefined;
  let watching: { readonly client: KubeClient; readonly find: ReturnType<typeof createChangeFinder> } | undefined;

  async function give(
    from: string,
    handle: (records: ReturnType<typeof queues.receive>) => Promise<readonly string[]>,
  ) {
    const records = queues.receive(from);
    if (records.length === 0) return;
    // In flight: no other batch receives them.
    queues.hide(
      from,
      records.map(({ receiptHandle }) => receiptHandle),
      3_600,
    );
    const kept = new Set(await handle(records));
    const finished = records.filter(({ messageId }) => !kept.has(messageId));
    queues.delete(
      from,
      finished.map(({ receiptHandle }) => receiptHandle),
    );
  }

  return {
    table,
    queues,
    pump: async () => {
      const client = watcher();
      if (client === undefined) watching = undefined;
      else if (watching?.client !== client)
        watching = { client, find: createChangeFinder([controller], { client, version }, { send, nowMs }) };
      await watching?.find(never);
      await give(timersQueue, async (records) => await timers(records, { signal: never }));
      if (running !== undefined) return;
      turn += 1;
      const batch = environments[turn % environments.length];
      if (batch === undefined) return;
      running = give(queue, async (records) => await batch(records, limits)).finally(() => {
        running = undefined;
      });
    },
    isBusy: () => running !== undefined,
    deadLetters: () => queues.depth(controllerDeadLetterQueue(name)).visible,
  };
}
