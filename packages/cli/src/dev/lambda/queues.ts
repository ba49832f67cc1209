// Creates a template's queues on an SQS endpoint, as CloudFormation does on AWS. It works with every SQS server. Queues
// of an earlier run are kept, and their attributes are updated.
import {
  CreateQueueCommand,
  GetQueueAttributesCommand,
  GetQueueUrlCommand,
  QueueDoesNotExist,
  SetQueueAttributesCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs';
import type { QueueDefinition } from './stack.ts';

/** A queue that exists. */
export type LocalQueue = {
  readonly name: string;
  /** On the client's endpoint: a server's own URL may have another host. */
  readonly url: string;
  /** From the template. The server's own ARN may have another account. */
  readonly arn: string;
};

/**
 * Creates the queues with their attributes and redrive policies. `endpoint` is the client's; it replaces the host of
 * queue URLs, because emulators return hosts that do not resolve (`sqs.us-east-1.localhost`). Throws the SDK's errors.
 */
export async function createQueues(
  client: SQSClient,
  queues: readonly QueueDefinition[],
  { endpoint, signal }: { readonly endpoint: string; readonly signal: AbortSignal },
): Promise<readonly LocalQueue[]> {
  const options = { abortSignal: signal };
  const created = await Promise.all(
    queues.map(async (queue) => {
      const url = onEndpoint(await ensure(client, queue, options), endpoint);
      const request = new GetQueueAttributesCommand({ QueueUrl: url, AttributeNames: ['QueueArn'] });
      const { Attributes } = await client.send(request, options);
      return { name: queue.name, url, arn: queue.arn, serverArn: Attributes?.QueueArn ?? queue.arn };
    }),
  );
  const serverArns = new Map(created.map(({ arn, serverArn }) => [arn, serverArn]));
  await Promise.all(
    queues.map(async ({ deadLetters, arn }) => {
      const url = created.find((queue) => queue.arn === arn)?.url;
      if (deadLetters === undefined || url === undefined) return;
      const RedrivePolicy = JSON.stringify({
        deadLetterTargetArn: serverArns.get(deadLetters.arn) ?? deadLetters.arn,
        maxReceiveCount: deadLetters.maxReceiveCount,
      });
      await client.send(new SetQueueAttributesCommand({ QueueUrl: url, Attributes: { RedrivePolicy } }), options);
    }),
  );
  return created.map(({ name, url, arn }) => ({ name, url, arn }));
}

async function ensure(
  client: SQSClient,
  { name, attributes }: QueueDefinition,
  options: { readonly abortSignal: AbortSignal },
): Promise<string> {
  const existing = await client
    .send(new GetQueueUrlCommand({ QueueName: name }), options)
    .then(({ QueueUrl }) => QueueUrl)
    .catch((error: unknown) => {
      if (error instanceof QueueDoesNotExist) return undefined;
      throw error;
    });
  if (existing === undefined) {
    const { QueueUrl } = await client.send(
      new CreateQueueCommand({ QueueName: name, Attributes: attributes }),
      options,
    );
    return QueueUrl ?? name;
  }
  // FifoQueue cannot be set on an existing queue, not even to the same value. Some servers reject the other two.
  const { FifoQueue: _, DeduplicationScope: __, FifoThroughputLimit: ___, ...changeable } = attributes;
  await client.send(new SetQueueAttributesCommand({ QueueUrl: existing, Attributes: changeable }), options);
  return existing;
}

function onEndpoint(queueUrl: string, endpoint: string): string {
  const url = new URL(queueUrl);
  const base = new URL(endpoint);
  return `${base.origin}${base.pathname.replace(/\/+$/, '')}${url.pathname}`;
}
