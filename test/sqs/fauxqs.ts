// Starts an SQS server for one test file, with a real client: creates queues by name, and reads their messages.
import {
  DeleteMessageBatchCommand,
  DeleteQueueCommand,
  PurgeQueueCommand,
  type Message as Received,
  ReceiveMessageCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs';
import { startFauxqs } from 'fauxqs';
import { createSqsClient } from '../../src/sqs/sqs-client.ts';

/** A running server. */
export type TestQueues = {
  readonly sqs: SQSClient;
  readonly urlPrefix: string;
  readonly endpoint: string;
  /** Creates queues; names ending in `.fifo` are FIFO. */
  create(...names: readonly string[]): Promise<void>;
  /** Deletes a queue with its messages. */
  remove(name: string): Promise<void>;
  /** Takes the bodies of all messages that are not in flight, also of those that are delayed. */
  take(name: string): Promise<readonly string[]>;
  /** Returns whether a queue has messages, including those in flight. Makes no HTTP request. */
  holds(name: string): boolean;
  /** The seconds until each message in flight is visible again, rounded. Makes no HTTP request. */
  invisibleSeconds(name: string): readonly number[];
  /** Receives and deletes all messages, in order within a group. Waits up to `waitSeconds` for the first one. */
  drain(name: string, options?: { readonly waitSeconds?: number }): Promise<readonly Received[]>;
  stop(): Promise<void>;
};

/** Starts a server on a free port. */
export async function startTestQueues(): Promise<TestQueues> {
  const server = await startFauxqs({ port: 0, logger: false });
  const endpoint = `http://127.0.0.1:${server.port}`;
  // Requests must be signed, but the server does not check the credentials.
  process.env.AWS_ACCESS_KEY_ID ??= 'test';
  process.env.AWS_SECRET_ACCESS_KEY ??= 'test';
  const sqs = createSqsClient({ region: 'us-east-1', endpoint });
  const urlPrefix = `${endpoint}/000000000000/`;
  return {
    sqs,
    urlPrefix,
    endpoint,
    create: async (...names) => {
      for (const name of names)
        server.createQueue(name, { attributes: name.endsWith('.fifo') ? { FifoQueue: 'true' } : {} });
    },
    remove: async (name) => {
      await sqs.send(new DeleteQueueCommand({ QueueUrl: `${urlPrefix}${name}` }));
    },
    take: async (name) => {
      const { ready = [], delayed = [] } = server.inspectQueue(name)?.messages ?? {};
      await sqs.send(new PurgeQueueCommand({ QueueUrl: `${urlPrefix}${name}` }));
      return [...ready, ...delayed].map(({ body }) => body);
    },
    holds: (name) => {
      const { ready, inflight } = server.inspectQueue(name)?.messages ?? { ready: [], inflight: [] };
      return ready.length + inflight.length > 0;
    },
    invisibleSeconds: (name) =>
      (server.inspectQueue(name)?.messages.inflight ?? []).map(({ visibilityDeadline }) =>
        Math.round((visibilityDeadline - Date.now()) / 1000),
      ),
    drain: async (name, { waitSeconds = 0 } = {}) => {
      const QueueUrl = `${urlPrefix}${name}`;
      const all: Received[] = [];
      for (;;) {
        const { Messages = [] } = await sqs.send(
          new ReceiveMessageCommand({
            QueueUrl,
            MaxNumberOfMessages: 10,
            WaitTimeSeconds: all.length === 0 ? waitSeconds : 0,
            MessageSystemAttributeNames: ['All'],
            MessageAttributeNames: ['All'],
          }),
        );
        if (Messages.length === 0) return all;
        all.push(...Messages);
        const Entries = Messages.map(({ ReceiptHandle }, number) => ({ Id: String(number), ReceiptHandle }));
        await sqs.send(new DeleteMessageBatchCommand({ QueueUrl, Entries }));
      }
    },
    stop: async () => {
      sqs.destroy();
      await server.stop();
    },
  };
}
