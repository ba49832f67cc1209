// The one composition of a controller's function. A Lambda function gives it SQS, the clusters table and its settings;
// `outrigger/testing` gives it queues in memory. No port is optional, so that none is forgotten in one of the two.
import type { ControllerDefinition, ControllerInstance } from '../api/definition.ts';
import type { FindCluster } from '../clusters/connect.ts';
import type { RetryPolicy } from '../core/controller-options.ts';
import type { Log } from '../core/log.ts';
import type { Metrics } from '../core/metrics.ts';
import type { Wait } from '../core/time.ts';
import type { FunctionIds } from '../sqs/deduplication.ts';
import type { QueueRecord } from '../sqs/record.ts';
import type { RenewMessages } from '../sqs/renew.ts';
import type { ReturnMessages } from '../sqs/return.ts';
import type { Send } from '../sqs/sender.ts';
import { type BatchDeps, type BatchLimits, createBatch } from './batch.ts';
import { createBreaker } from './breaker.ts';
import { holdLateBatch } from './late-batch.ts';
import { createMapKeys, declaresKind, isMapped } from './map-keys.ts';
import { createReconcile } from './reconcile.ts';
import type { ReconcileInput, ReconcileReport } from './report.ts';

/** What the function of a controller runs on. */
export type FunctionPorts = {
  readonly project: string | undefined;
  readonly instance: ControllerInstance;
  /** What a deployment sets of the controller's retries. */
  readonly retry: Partial<RetryPolicy>;
  readonly now: () => Date;
  /** A wait of the runtime between two calls, in seconds. */
  readonly wait: Wait;
  readonly findCluster: FindCluster;
  readonly isKnownCluster: (cluster: string) => boolean;
  readonly ids: () => Promise<FunctionIds>;
  readonly queue: {
    readonly send: Send;
    readonly deleteMessages: BatchDeps['deleteMessages'];
    readonly returnMessages: ReturnMessages;
    readonly renewMessages: RenewMessages;
    /** The visibility timeout of the controller's queue. */
    readonly visibilitySeconds: () => number;
  };
  /** Undefined: senders are not checked. */
  readonly senders: BatchDeps['senders'];
  /** Undefined: traces are off. */
  readonly startTrace: BatchDeps['startTrace'];
  readonly log: (fields: object) => Log;
  readonly metrics: Metrics;
  readonly clock: {
    /** A clock in milliseconds, of any origin. */
    readonly monotonicMs: () => number;
    /** By the clock of SQS, from a record, in milliseconds since 1970. */
    readonly sqsNow: (record: QueueRecord) => number;
    /** Milliseconds since 1970. */
    readonly nowMs: () => number;
  };
  /** Resolves after this many milliseconds, or when the signal aborts. */
  readonly waitMs: BatchDeps['wait'];
  /** Runs one key, so that what it logs is found by its key. */
  readonly runKey: (input: ReconcileInput, run: Run) => Promise<ReconcileReport>;
  readonly exitProcess: (reason: string) => never;
};

type Run = (input: ReconcileInput) => Promise<ReconcileReport>;

/**
 * Creates the function of a controller. It processes batches of the controller's queue, and returns the ids of the
 * messages that must stay on it.
 */
export function createFunction(
  controller: ControllerDefinition,
  ports: FunctionPorts,
): (records: readonly QueueRecord[], limits: BatchLimits) => Promise<readonly string[]> {
  const { project, instance, now, wait, ids, queue, clock } = ports;
  const { name } = controller;
  const options = { ...controller.declaration.options };
  const retry = { ...options.retry, ...ports.retry };
  const declaration = { ...controller.declaration, options: { ...options, retry } };
  const deps = { name, project, declaration, instance, now, wait };
  const reconcile = createReconcile(deps);
  const mapKeys = createMapKeys(deps, queue.send, ids);
  return createBatch({
    controller: name,
    retry,
    declares: (message) => declaresKind(declaration, message),
    reconcile: async (input) => await ports.runKey(input, isMapped(declaration, input.message) ? mapKeys : reconcile),
    findCluster: ports.findCluster,
    isKnownCluster: ports.isKnownCluster,
    senders: ports.senders,
    startTrace: ports.startTrace,
    breaker: createBreaker(clock.monotonicMs),
    ids,
    send: queue.send,
    deleteMessages: queue.deleteMessages,
    returnMessages: queue.returnMessages,
    hold: async (records, { signal }) =>
      await holdLateBatch(
        records,
        { renew: queue.renewMessages, returnMessages: queue.returnMessages, nowMs: clock.nowMs },
        { visibilitySeconds: queue.visibilitySeconds(), signal },
      ),
    log: ports.log,
    metrics: ports.metrics,
    monotonicMs: clock.monotonicMs,
    sqsNow: clock.sqsNow,
    wait: ports.waitMs,
    exitProcess: ports.exitProcess,
  });
}
