// What a mapping asks a queue for with each batch, by plain HTTP: the SDK takes four times as much processor for the same two calls, on a
// machine that has API server, queue and functions beside it. Only for servers of this machine, which look at no signature. Only what
// succeeds goes this way; the SDK makes the call again when anything else happened, and knows what that means.
import http from 'node:http';
import {
  DeleteMessageBatchCommand,
  type DeleteMessageBatchCommandInput,
  type Message,
  ReceiveMessageCommand,
  type ReceiveMessageCommandInput,
  type SQSClient,
} from '@aws-sdk/client-sqs';
import * as z from 'zod';
import { unsigned } from '../sqs-server.ts';

/** The calls of a mapping. Both throw what the SDK throws. */
export type QueueCalls = {
  receive(input: ReceiveMessageCommandInput, signal: AbortSignal): Promise<readonly Message[]>;
  delete(input: DeleteMessageBatchCommandInput): Promise<void>;
};

/** Where a server is. */
type Place = () => Promise<{
  readonly protocol: string;
  readonly hostname: string;
  readonly port?: number;
  readonly path: string;
}>;

/** An answer is awaited this long after a poll should have ended. */
const answerSeconds = 10;
/** What SQS answers, as far as a record of a function has it. As lenient as the SDK: what an answer is refused for has been taken from the queue. */
const received = z.object({
  Messages: z
    .array(
      z.object({
        MessageId: z.string().optional(),
        ReceiptHandle: z.string().optional(),
        Body: z.string().optional(),
        MD5OfBody: z.string().optional(),
        Attributes: z.record(z.string(), z.string()).optional(),
        MessageAttributes: z
          .record(
            z.string(),
            z.object({
              DataType: z.string(),
              StringValue: z.string().optional(),
              BinaryValue: z
                .base64()
                .transform((text) => Buffer.from(text, 'base64'))
                .optional(),
            }),
          )
          .optional(),
      }),
    )
    .optional(),
});

const deleted = z.object({ Successful: z.array(z.unknown()) });

/** The calls by the SDK alone. */
export function callsBySdk(client: SQSClient): QueueCalls {
  return {
    receive: async (input, abortSignal) => {
      const { Messages = [] } = await client.send(new ReceiveMessageCommand(input), { abortSignal });
      return Messages;
    },
    delete: async (input) => void (await client.send(new DeleteMessageBatchCommand(input))),
  };
}

/** The calls to the server of a client, which is one of this machine, and by the SDK where they do not succeed. */
export function directCalls(client: SQSClient, place: Place | undefined = client.config.endpoint): QueueCalls {
  const bySdk = callsBySdk(client);
  const agent = new http.Agent({ keepAlive: true });

  async function call(action: string, input: object, seconds: number, signal?: AbortSignal): Promise<unknown> {
    const body = JSON.stringify(input);
    const headers = {
      'content-type': 'application/x-amz-json-1.0',
      'content-length': Buffer.byteLength(body),
      'x-amz-target': `AmazonSQS.${action}`,
      authorization: unsigned,
    };
    const { protocol, hostname, port, path } = (await place?.()) ?? { protocol: 'none' };
    if (protocol !== 'http:') throw new Error(`${action}: no server of this machine`);
    const options = {
      ...{ agent, hostname, port, path },
      method: 'POST',
      headers,
      timeout: seconds * 1000,
      ...(signal === undefined ? {} : { signal }),
    };
    const answer = await new Promise<string>((resolve, reject) => {
      const request = http.request(options, (response) => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (chunk: string) => {
          text += chunk;
        });
        response.once('error', reject);
        response.once('end', () => {
          if (response.statusCode === 200) resolve(text);
          else reject(new Error(`${action}: ${response.statusCode}`));
        });
      });
      request.once('timeout', () => request.destroy(new Error(`${action}: no answer`)));
      request.once('error', reject);
      request.end(body);
    });
    return answer === '' ? {} : JSON.parse(answer);
  }
  return {
    receive: async (input, signal) => {
      try {
        const answer = await call('ReceiveMessage', input, (input.WaitTimeSeconds ?? 0) + answerSeconds, signal);
        return received.parse(answer).Messages ?? [];
      } catch {
        signal.throwIfAborted();
        return await bySdk.receive(input, signal);
      }
    },
    delete: async (input) => {
      try {
        deleted.parse(await call('DeleteMessageBatch', input, answerSeconds));
      } catch {
        await bySdk.delete(input);
      }
    },
  };
}
