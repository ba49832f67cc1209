// Looking into a queue by hand. SQS has no peek: whoever wants to see a message must receive it, and for as long as it is held
// nobody else can. So an operator's commands hold messages for a short while and give back what they do not take.
//
// Guarantees: nothing is lost by holding; a process that dies gives everything back by the visibility time-out. Assumptions:
// the queue has no redrive policy of its own (a dead-letter queue has none), so being received often harms no message.
import {
  ChangeMessageVisibilityCommand,
  DeleteMessageCommand,
  type Message as Received,
  ReceiveMessageCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs';
import { callWithin } from './call-within.ts';
import { isMissingQueue, reasonOf } from './failed-call.ts';
import { queueUrl } from './names.ts';

/** A call to SQS that an operator waits for, and that failed: one line, with the queue's name. */
export class QueueCallError extends Error {
  override readonly name = 'QueueCallError';
}

/** A message in hand. */
export type HeldMessage = {
  /** The queue's own id. A letter that SQS moved itself has that of the message it was. */
  readonly messageId: string;
  readonly receiptHandle: string;
  readonly body: string;
  /** Message attributes that are texts. */
  readonly attributes: Readonly<Record<string, string>>;
  /** When it was sent, in milliseconds since 1970; undefined where the server does not say. */
  readonly sentAt: number | undefined;
};

/** Takes messages of one queue into the hand, and lets go of them. */
export type Hold = {
  readonly queue: string;
  /** Receives up to ten; none when there is nothing more that is not held. Throws QueueCallError, and the signal's reason. */
  receive(options: { readonly signal: AbortSignal }): Promise<readonly HeldMessage[]>;
  /** Deletes one. Throws QueueCallError; then it comes back by itself. */
  remove(message: HeldMessage): Promise<void>;
  /** Makes all that is still in hand visible at once. What that fails for comes back a little later, by itself. */
  giveBack(): Promise<void>;
};

/** How long to hold, and to wait. */
export type HoldOptions = {
  /** How long a message is out of everybody else's sight, should this process die. */
  readonly holdSeconds?: number;
  /** A long poll, because a short one asks only some of SQS's servers and may find nothing where there is something. */
  readonly waitSeconds?: number;
  readonly callSeconds?: number;
};

/** Creates a Hold. */
export function createHold(
  sqs: SQSClient,
  urlPrefix: string,
  queue: string,
  { holdSeconds = 60, waitSeconds = 1, callSeconds = 5 }: HoldOptions = {},
): Hold {
  const QueueUrl = queueUrl(urlPrefix, queue);
  const inHand = new Set<HeldMessage>();
  const ask = async <T>(
    signal: AbortSignal | undefined,
    call: (abortSignal: AbortSignal) => Promise<T>,
  ): Promise<T> => {
    try {
      return await callWithin(callSeconds, signal, call);
    } catch (error) {
      if (signal?.aborted === true) throw signal.reason;
      const message = isMissingQueue(error) ? `there is no queue ${queue}` : `${queue}: ${reasonOf(error)}`;
      throw new QueueCallError(message, { cause: error });
    }
  };
  return {
    queue,
    receive: async ({ signal }) => {
      const request = new ReceiveMessageCommand({
        QueueUrl,
        MaxNumberOfMessages: 10,
        VisibilityTimeout: holdSeconds,
        WaitTimeSeconds: waitSeconds,
        MessageSystemAttributeNames: ['SentTimestamp'],
        MessageAttributeNames: ['All'],
      });
      const { Messages = [] } = await ask(signal, (abortSignal) => sqs.send(request, { abortSignal }));
      const held = Messages.map(toHeld);
      for (const one of held) inHand.add(one);
      return held;
    },
    remove: async (message) => {
      const request = new DeleteMessageCommand({ QueueUrl, ReceiptHandle: message.receiptHandle });
      await ask(undefined, (abortSignal) => sqs.send(request, { abortSignal }));
      inHand.delete(message);
    },
    giveBack: async () => {
      // The last one first: some servers put each in front of its group.
      for (const message of [...inHand].reverse()) {
        inHand.delete(message);
        const back = { QueueUrl, ReceiptHandle: message.receiptHandle, VisibilityTimeout: 0 };
        const request = new ChangeMessageVisibilityCommand(back);
        await ask(undefined, (abortSignal) => sqs.send(request, { abortSignal })).catch(() => undefined);
      }
    },
  };
}

function toHeld({
  MessageId = '',
  ReceiptHandle = '',
  Body = '',
  Attributes,
  MessageAttributes = {},
}: Received): HeldMessage {
  const texts = Object.entries(MessageAttributes).flatMap(([name, { StringValue }]) =>
    StringValue === undefined ? [] : [[name, StringValue] as const],
  );
  const sentAt = Number(Attributes?.SentTimestamp ?? Number.NaN);
  return {
    messageId: MessageId,
    receiptHandle: ReceiptHandle,
    body: Body,
    attributes: Object.fromEntries(texts),
    sentAt: Number.isFinite(sentAt) ? sentAt : undefined,
  };
}
