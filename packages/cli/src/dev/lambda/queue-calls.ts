// The two SQS calls of a mapping's batch, by plain HTTP: the SDK needs four times the CPU for them, on a machine that
// also runs API server, queue and functions. Only for servers of this machine, which check no signature. If a call does
// not succeed, the SDK repeats it, and handles the error.
import { once } from 'node:events';
import http from 'node:http';
import { text } from 'node:stream/consumers';
import {
  DeleteMessageBatchCommand,
  type DeleteMessageBatchCommandInput,
  type Message,
  ReceiveMessageCommand,
  type ReceiveMessageCommandInput,
  type SQSClient,
} from '@aws-sdk/client-sqs';
import * as z from 'zod';
import { fakeAuthorization } from '../sqs-server.ts';

/** The calls of a mapping. Both throw the SDK's errors. */
export type QueueCalls = {
  receive(input: ReceiveMessageCommandInput, signal: AbortSignal): Promise<readonly Message[]>;
  delete(input: DeleteMessageBatchCommandInput): Promise<void>;
};

/** Returns the endpoint of a server. */
type EndpointProvider = () => Promise<{
  readonly protocol: string;
  readonly hostname: string;
  readonly port?: number;
  readonly path: string;
}>;

/** The timeout of a response, after the wait time of a receive. */
const responseSeconds = 10;
/**
 * The fields of a response that a function's record has. It is as lenient as the SDK: the messages of a rejected
 * response would stay in flight.
 */
const receiveResponse = z.object({
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

const deleteResponse = z.object({ Successful: z.array(z.unknown()) });

/** Makes the calls with the SDK. */
export function sdkQueueCalls(client: SQSClient): QueueCalls {
  return {
    receive: async (input, abortSignal) => {
      const { Messages = [] } = await client.send(new ReceiveMessageCommand(input), { abortSignal });
      return Messages;
    },
    delete: async (input) => void (await client.send(new DeleteMessageBatchCommand(input))),
  };
}

/** Makes the calls by HTTP to the client's server on this machine, and with the SDK if they do not succeed. */
export function httpQueueCalls(
  client: SQSClient,
  endpoint: EndpointProvider | undefined = client.config.endpoint,
): QueueCalls {
  const sdkCalls = sdkQueueCalls(client);
  const agent = new http.Agent({ keepAlive: true });

  async function call(action: string, input: object, seconds: number, signal?: AbortSignal): Promise<unknown> {
    const body = JSON.stringify(input);
    const headers = {
      'content-type': 'application/x-amz-json-1.0',
      'content-length': Buffer.byteLength(body),
      'x-amz-target': `AmazonSQS.${action}`,
      authorization: fakeAuthorization,
    };
    const { protocol, hostname, port, path } = (await endpoint?.()) ?? { protocol: 'none' };
    if (protocol !== 'http:') throw new Error(`${action}: no server of this machine`);
    const options = { agent, hostname, port, path, method: 'POST', headers, timeout: seconds * 1000, signal };
    const request = http.request(options).end(body);
    // Also after the response has begun, when the reader of its body gets the error.
    request.on('error', () => undefined);
    request.once('timeout', () => request.destroy(new Error(`${action}: no response`)));
    const response: http.IncomingMessage = (await once(request, 'response'))[0];
    const received = await text(response);
    if (response.statusCode !== 200) throw new Error(`${action}: ${response.statusCode}`);
    return received === '' ? {} : JSON.parse(received);
  }
  return {
    receive: async (input, signal) => {
      try {
        const response = await call('ReceiveMessage', input, (input.WaitTimeSeconds ?? 0) + responseSeconds, signal);
        return receiveResponse.parse(response).Messages ?? [];
      } catch {
        signal.throwIfAborted();
        return await sdkCalls.receive(input, signal);
      }
    },
    delete: async (input) => {
      try {
        deleteResponse.parse(await call('DeleteMessageBatch', input, responseSeconds));
      } catch {
        await sdkCalls.delete(input);
      }
    },
  };
}
