// The arguments of a function: an event of SQS records, and a context with the remaining time.
import { onTestFinished } from 'vitest';
import type { InvocationContext, SqsEvent, SqsRecord } from '../../src/lambda/events.ts';
import { groupOf } from '../sqs/messages.ts';

/** Makes an SQS record in the group of its key, if the body is a message. */
export function aRecord(messageId: string, body: string): SqsRecord {
  return {
    messageId,
    receiptHandle: `r-${messageId}`,
    body,
    attributes: {
      ApproximateReceiveCount: '1',
      SenderId: 'x',
      ApproximateFirstReceiveTimestamp: `${Date.now()}`,
      MessageGroupId: groupOf(body),
    },
    messageAttributes: {},
  };
}

/** Makes an event. */
export function anEvent(...Records: readonly SqsRecord[]): SqsEvent {
  return { Records };
}

/** Makes the context of an invocation with this time remaining. */
export function aContext(remainingMs = 30_000): InvocationContext {
  return { awsRequestId: 'request', getRemainingTimeInMillis: () => remainingMs };
}

/** Resolves with the lines so far when code that nothing waits for ends with the error `lost`. Vitest does not see it. */
export function linesWhenLost(
  event: 'unhandledRejection' | 'uncaughtException',
  lines: readonly string[],
): Promise<readonly string[]> {
  const name = event as 'uncaughtException';
  const listeners = process.listeners(name);
  process.removeAllListeners(name);
  onTestFinished(() => {
    process.removeAllListeners(name);
    for (const listener of listeners) process.on(name, listener);
  });
  return new Promise((resolve) =>
    process.on(name, (error) => (error.message === 'lost' ? resolve([...lines]) : undefined)),
  );
}
