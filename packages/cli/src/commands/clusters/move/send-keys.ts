// Sends the key of every object of a cluster to the queues of a stage.
import { randomUUID } from 'node:crypto';
import type { ControllerDefinition } from 'outrigger/internal/api/definition';
import { UserError } from 'outrigger/internal/core/errors';
import { controllerQueue } from 'outrigger/internal/core/names';
import type { KubeClient } from 'outrigger/internal/kube/client/client';
import { isKindNotServed } from 'outrigger/internal/kube/client/errors';
import type { QueueEntry, Send } from 'outrigger/internal/sqs/sender';
import { replayEntry } from '../../../operations/replay.ts';
import { keysOf } from '../../object-keys.ts';

const batchSize = 100;

/** Sends every key. Returns their number. Throws the client's errors, and a UserError if SQS refuses one. */
export async function sendEveryKey(
  {
    client,
    send,
    registry,
  }: { readonly client: KubeClient; readonly send: Send; readonly registry: readonly ControllerDefinition[] },
  {
    cluster,
    project,
    namespaces,
    nowMs,
    signal,
  }: {
    readonly cluster: string;
    readonly project: string;
    readonly namespaces: readonly string[] | undefined;
    readonly nowMs: number;
    readonly signal: AbortSignal;
  },
): Promise<number> {
  let count = 0;
  for (const controller of registry) {
    const queue = controllerQueue(controller.name);
    let batch: QueueEntry[] = [];
    const flush = async () => {
      const results = await send(queue, batch, { signal });
      const refused = results.find(({ accepted }) => !accepted);
      if (refused !== undefined && !refused.accepted)
        throw new UserError(`not every key was sent to ${queue}: ${refused.reason}; run this again`);
      count += batch.length;
      batch = [];
    };
    try {
      for await (const key of keysOf(controller, { project, namespaces }, client, cluster, signal)) {
        batch.push(replayEntry(key, { source: randomUUID(), nowMs }).entry);
        if (batch.length === batchSize) await flush();
      }
    } catch (error) {
      // The cluster has no object of a kind that it does not serve.
      if (!isKindNotServed(error)) throw error;
    }
    if (batch.length > 0) await flush();
  }
  return count;
}
