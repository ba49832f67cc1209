// How many messages a queue has.
import type { SQSClient } from '@aws-sdk/client-sqs';
import { createDepth } from '../../src/sqs/depth.ts';

/** Returns a function that counts the messages of a queue: those that are ready, in flight and delayed. */
export function messagesOn(client: SQSClient, urlPrefix: string): (queue: string) => Promise<number> {
  const depth = createDepth(client, urlPrefix);
  return async (queue) => {
    const { visible, inFlight, delayed } = await depth(queue, { signal: AbortSignal.timeout(30_000) });
    return visible + inFlight + delayed;
  };
}
