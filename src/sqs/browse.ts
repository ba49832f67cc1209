// Reads a queue for an operator's command. SQS has no peek: a message must be received to be read, and it is hidden
// from all other receivers for that time. The browser therefore receives messages for a short time and returns those
// that it does not remove.
//
// Guarantees: no message is lost. If the process is killed, its messages become visible again after the visibility
// timeout. Assumptions: the queue has no redrive policy of its own (a dead-letter queue has none), so a high receive
// count does no harm.
import {
  ChangeMessageVisibilityCommand,
  DeleteMessageCommand,
  ReceiveMessageCommand,
  type SQSClient,
  type Message as SqsMessage,
} from '@aws-sdk/client-sqs';
import { callTimeoutSeconds, callWithin, isMissingQueue, sqsErrorReason } from './call.ts';
import { queueUrl } from './sqs-client.ts';

/** A failed call to SQS in an operator's command: one line with the name of the queue. */
export class QueueCallError extends Error {
  override readonly name = 'QueueCallError';
}

/** A received message. */
export type ReceivedMessage = {
  /** The queue's own id. A dead letter that SQS moved itself keeps the id of the original message. */
  readonly messageId: string;
  readonly receiptHandle: string;
  readonly body: string;
  /** The message attributes of type String. */
  readonly attributes: Readonly<Record<string, string>>;
  /** When it was sent, in milliseconds since 1970; undefined if the server does not report it. */
  readonly sentAt: number | undefined;
};

/** Receives, removes and returns the messages of one queue. */
export type QueueBrowser = {
  readonly queue: string;
  /**
   * Receives up to ten messages; none if all that remain are in flight. Throws QueueCallError, and the signal's reason.
   */
  receive(options: { readonly signal: AbortSignal }): Promise<readonly ReceivedMessage[]>;
  /** Deletes a message. Throws QueueCallError; the message then becomes visible again after its timeout. */
  remove(message: ReceivedMessage): Promise<void>;
  /**
   * Makes all messages visible that were received and not removed. If a call fails, its message becomes visible after
   * its timeout.
   */
  release(): Promise<void>;
};

/** Options of a QueueBrowser. */
export type QueueBrowserOptions = {
  /**
   * How long a message is hidden from other receivers if this process is killed, and the time in which a queue must be
   * read: messages that appear again end the reading. Default: ten minutes, for some 60,000 dead letters.
   */
  readonly visibilitySeconds?: number;
  /** The time of a long poll. A short poll reads only some of the servers of SQS and can miss messages. */
  readonly waitSeconds?: number;
};

/** Creates a QueueBrowser. */
export function createQueueBrowser(
  sqs: SQSClient,
  urlPrefix: string,
  queue: string,
  { visibilitySeconds = 600, waitSeconds = 1 }: QueueBrowserOptions = {},
): QueueBrowser {
  const QueueUrl = queueUrl(urlPrefix, queue);
  const inFlight = new Set<ReceivedMessage>();
  const callSqs = async <T>(
    signal: AbortSignal | undefined,
    call: (abortSignal: AbortSignal) => Promise<T>,
  ): Promise<T> => {
    try {
      return await callWithin(callTimeoutSeconds, signal, call);
    } catch (error) {
      if (signal?.aborted === true) throw signal.reason;
      const message = isMissingQueue(error) ? `queue ${queue} does not exist` : `${queue}: ${sqsErrorReason(error)}`;
      throw new QueueCallError(message, { cause: error });
    }
  };
  return {
    queue,
    receive: async ({ signal }) => {
      const request = new ReceiveMessageCommand({
        QueueUrl,
        MaxNumberOfMessages: 10,
        VisibilityTimeout: visibilitySeconds,
        WaitTimeSeconds: waitSeconds,
        MessageSystemAttributeNames: ['SentTimestamp'],
        MessageAttributeNames: ['All'],
      });
      const { Messages = [] } = await callSqs(signal, (abortSignal) => sqs.send(request, { abortSignal }));
      const received = Messages.map(toReceivedMessage);
      for (const message of received) inFlight.add(message);
      return received;
    },
    remove: async (message) => {
      const request = new DeleteMessageCommand({ QueueUrl, ReceiptHandle: message.receiptHandle });
      await callSqs(undefined, (abortSignal) => sqs.send(request, { abortSignal }));
      inFlight.delete(message);
    },
    release: async () => {
      // In reverse order: some servers put each returned message at the front of its group.
      for (const message of [...inFlight].reverse()) {
        inFlight.delete(message);
        const visible = { QueueUrl, ReceiptHandle: message.receiptHandle, VisibilityTimeout: 0 };
        const request = new ChangeMessageVisibilityCommand(visible);
        await callSqs(undefined, (abortSignal) => sqs.send(request, { abortSignal })).catch(() => undefined);
      }
    },
  };
}

function toReceivedMessage({
  MessageId = '',
  ReceiptHandle = '',
  Body = '',
  Attributes,
  MessageAttributes = {},
}: SqsMessage): ReceivedMessage {
  const strings = Object.entries(MessageAttributes).flatMap(([name, { StringValue }]) =>
    StringValue === undefined ? [] : [[name, StringValue] as const],
  );
  const sentAt = Number(Attributes?.SentTimestamp ?? Number.NaN);
  return {
    messageId: MessageId,
    receiptHandle: ReceiptHandle,
    body: Body,
    attributes: Object.fromEntries(strings),
    sentAt: Number.isFinite(sentAt) ? sentAt : undefined,
  };
}
