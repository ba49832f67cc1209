// The arguments of a function: an event of SQS records, and a context with the remaining time.
import type { Context, SQSEvent, SQSRecord } from 'aws-lambda';
import { onTestFinished } from 'vitest';
import { groupOf } from '../sqs/messages.ts';

/** Makes an SQS record in the group of its key, if the body is a message. */
export function aRecord(messageId: string, body: string): SQSRecord {
  return {
    messageId,
    receiptHandle: `r-${messageId}`,
    body,
    attributes: {
      ApproximateReceiveCount: '1',
      SentTimestamp: `${Date.now()}`,
      SenderId: 'x',
      ApproximateFirstReceiveTimestamp: `${Date.now()}`,
      MessageGroupId: groupOf(body),
    },
    messageAttributes: {},
    md5OfBody: '',
    eventSource: 'aws:sqs',
    eventSourceARN: 'arn:aws:sqs:us-east-1:000000000000:gadget.fifo',
    awsRegion: 'us-east-1',
  };
}

/** Makes an event. */
export function anEvent(...Records: readonly SQSRecord[]): SQSEvent {
  return { Records: [...Records] };
}

/** Makes the context of an invocation with this time remaining. */
export function aContext(remainingMs = 30_000): Context {
  return {
    callbackWaitsForEmptyEventLoop: false,
    functionName: 'gadget',
    functionVersion: '1',
    invokedFunctionArn: 'arn:aws:lambda:us-east-1:000000000000:function:gadget',
    memoryLimitInMB: '256',
    awsRequestId: 'request',
    logGroupName: 'group',
    logStreamName: 'stream',
    getRemainingTimeInMillis: () => remainingMs,
    done: () => {},
    fail: () => {},
    succeed: () => {},
  };
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
