// The one composition of a controller's function. A Lambda function gives it SQS, the clusters table and its settings;
// `outrigger/testing` gives it queues in memory. No port is optional, so that none is forgotten in one of the two.
import type { ControllerDefinition, ControllerInstance } from '../api/definition.ts';
import type { RetryPolicy } from '../core/controller-options.ts';
import type { Wait } from '../core/time.ts';
import { type BatchDeps, createBatch, type RunBatch } from './batch.ts';
import { createBreaker } from './breaker.ts';
import { holdLateBatch, type LateBatchDeps } from './late-batch.ts';
import { createMapKeys, declaresKind, isMapped } from './map-keys.ts';
import { createReconcile, type Reconcile } from './reconcile.ts';
import type { ReconcileInput } from './report.ts';

/** What a batch needs and its controller does not decide. */
type BatchPorts = Omit<BatchDeps, 'controller' | 'retry' | 'declares' | 'reconcile' | 'breaker' | 'claim'>;

/** What the function of a controller runs on. */
export type FunctionPorts = Required<BatchPorts> &
  LateBatchDeps & {
    readonly project: string | undefined;
    readonly instance: ControllerInstance;
    /** What a deployment sets of the controller's retries. */
    readonly retry: Partial<RetryPolicy>;
    readonly now: () => Date;
    /** A wait of the runtime between two calls, in seconds. */
    readonly waitSeconds: Wait;
    /** Runs one key, so that what it logs is found by its key. */
    readonly runKey: (input: ReconcileInput, run: Reconcile) => ReturnType<Reconcile>;
  };

/** Creates the function of a controller, which processes the batches of its queue. */
export function createFunction(controller: ControllerDefinition, ports: FunctionPorts): RunBatch {
  const { project, instance, now, waitSeconds: wait, send, ids } = ports;
  const { name, declaration: declared } = controller;
  const retry = { ...declared.options.retry, ...ports.retry };
  const declaration = { ...declared, options: { ...declared.options, retry } };
  const deps = { name, project, declaration, instance, now, wait };
  const reconcile = createReconcile(deps);
  const mapKeys = createMapKeys(deps, send, ids);
  return createBatch({
    ...ports,
    controller: name,
    retry,
    declares: (message) => declaresKind(declaration, message),
    reconcile: async (input) => await ports.runKey(input, isMapped(declaration, input.message) ? mapKeys : reconcile),
    breaker: createBreaker(ports.monotonicMs),
    claim: async (records, { signal }) => await holdLateBatch(records, ports, signal),
  });
}
