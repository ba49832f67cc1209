// Requests the reconcile of an object from a program: another Lambda function, a job, a web server.
import { randomUUID } from 'node:crypto';
import type { ControllerDefinition } from '../api/definition.ts';
import type { Key } from '../core/key.ts';
import { controllerQueue } from '../core/names.ts';
import { readEnqueueSettings } from '../settings.ts';
import { MessageError } from '../sqs/body.ts';
import { groupIdOf, wakeId } from '../sqs/deduplication.ts';
import { formatMessage } from '../sqs/message.ts';
import { createSend } from '../sqs/send.ts';
import { createSqsClient } from '../sqs/sqs-client.ts';

/** The object to reconcile, and the cluster that has it. */
export type EnqueueKey = Key & {
  /** The name of the cluster in the clusters table. */
  readonly cluster: string;
};

/** Options of {@link enqueue}. */
export type EnqueueOptions = {
  /** What happened, for logs; at most 128 characters. Default: `enqueue`. */
  readonly source?: string;
  /** The id of the event: SQS drops a second one of the same id for five minutes. Default: a new one. */
  readonly id?: string;
  /** The URL of a queue without its name. Default: the environment variable QUEUE_URL_PREFIX. */
  readonly queueUrlPrefix?: string;
  /** Ends the call. Default: one that aborts after 20 seconds. */
  readonly signal?: AbortSignal;
};

/**
 * Requests the reconcile of an object. The caller's role needs `sqs:SendMessage` on the controller's queue, and its id
 * in the deployment's option SENDERS. Resolves when SQS has accepted the key, and rejects if it has not.
 * @throws MessageError for an invalid key
 * @throws SettingsError without a QUEUE_URL_PREFIX
 * @example await enqueue(waterTank, { cluster: 'prod-1', namespace: 'default', name: 'north' });
 */
export async function enqueue(
  { name: controller, declaration: { resource } }: Pick<ControllerDefinition, 'name' | 'declaration'>,
  { cluster, namespace, name }: EnqueueKey,
  options: EnqueueOptions = {},
): Promise<void> {
  const { source = 'enqueue', id = randomUUID(), signal = AbortSignal.timeout(timeoutMs) } = options;
  const { queueUrlPrefix = readEnqueueSettings().QUEUE_URL_PREFIX } = options;
  if (resource.namespaced !== (namespace !== undefined))
    throw new MessageError(
      `namespace: ${resource.plural} have ${resource.namespaced ? 'one; name it' : 'none; drop it'}`,
    );
  const place = namespace === undefined ? {} : { namespace };
  const key = { controller, cluster, group: resource.group, resource: resource.plural, ...place, name };
  const body = formatMessage({ ...key, cause: { type: 'wake', observedAt: Date.now(), source, id } });
  const entry = { body, groupId: groupIdOf(key), deduplicationId: wakeId(key, { event: id }) };
  const sqs = createSqsClient();
  try {
    const [sent] = await createSend(sqs, queueUrlPrefix)(controllerQueue(controller), [entry], { signal });
    if (sent?.accepted !== true) throw new Error(sent?.reason ?? 'no response');
  } finally {
    sqs.destroy();
  }
}

const timeoutMs = 20_000;
