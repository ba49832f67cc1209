// Only the two calls of a mapping by plain HTTP: they have the results of the SDK, and the SDK repeats a failed one.
// Batches are in event-sources.test.ts.
import type http from 'node:http';
import {
  CreateQueueCommand,
  GetQueueAttributesCommand,
  type Message,
  SendMessageCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs';
import { httpQueueCalls, type QueueCalls, sdkQueueCalls } from '@outrigger/cli/dev/lambda/queue-calls';
import { createLocalSqsClient, type LocalSqs, startSqs } from '@outrigger/cli/dev/sqs-server';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { startHttpServer } from '../../support/listen.ts';

const never = new AbortController().signal;
let parts: AsyncDisposableStack;
let server: LocalSqs;
let client: SQSClient;
let queueUrl: string;

beforeEach(async () => {
  parts = new AsyncDisposableStack();
  server = await startSqs();
  parts.defer(() => server.close());
  client = clientOf(server.endpoint);
  const { QueueUrl = '' } = await client.send(new CreateQueueCommand({ QueueName: 'q' }));
  queueUrl = QueueUrl;
});
afterEach(async () => await parts.disposeAsync());

function clientOf(endpoint: string): SQSClient {
  const made = createLocalSqsClient(endpoint, { maxAttempts: 1 });
  parts.defer(() => made.destroy());
  return made;
}

/** Starts a server with a request listener. */
async function startServer(listener: http.RequestListener): Promise<string> {
  const { url, close } = await startHttpServer(listener);
  parts.defer(close);
  return url;
}

/** The endpoint of a server, as in a client's configuration. */
function endpointOf(url: string) {
  const { protocol, hostname, port } = new URL(url);
  return async () => ({ protocol, hostname, port: Number(port), path: '/' });
}

async function send(): Promise<void> {
  const attributes = {
    text: { DataType: 'String', StringValue: 'ü' },
    bytes: { DataType: 'Binary', BinaryValue: Uint8Array.of(0, 255, 128) },
  };
  await client.send(new SendMessageCommand({ QueueUrl: queueUrl, MessageBody: 'ü', MessageAttributes: attributes }));
}

async function receive(calls: QueueCalls, { visibility = 0, signal = never } = {}): Promise<readonly Message[]> {
  const all = { MessageSystemAttributeNames: ['All' as const], MessageAttributeNames: ['All'] };
  return await calls.receive({ QueueUrl: queueUrl, WaitTimeSeconds: 1, VisibilityTimeout: visibility, ...all }, signal);
}

/** Receives and deletes the message; returns it, and the number of messages left. */
async function receiveAndDelete(
  calls: QueueCalls,
): Promise<{ readonly received: readonly Message[]; readonly left: number }> {
  const received = await receive(calls, { visibility: 60 });
  await calls.delete({
    QueueUrl: queueUrl,
    Entries: received.map(({ ReceiptHandle }, index) => ({ Id: `${index}`, ReceiptHandle })),
  });
  const names = ['ApproximateNumberOfMessages', 'ApproximateNumberOfMessagesNotVisible'] as const;
  const { Attributes } = await client.send(
    new GetQueueAttributesCommand({ QueueUrl: queueUrl, AttributeNames: [...names] }),
  );
  return { received, left: names.reduce((sum, name) => sum + Number(Attributes?.[name]), 0) };
}

it('httpQueueCalls receives the same message as the SDK, with string and binary attributes', async () => {
  await send();
  const without = ({ Attributes = {}, MessageAttributes = {}, MessageId, Body, MD5OfBody }: Message) => ({
    MessageId,
    Body,
    MD5OfBody,
    attributes: { ...Attributes, ApproximateReceiveCount: '', ApproximateFirstReceiveTimestamp: '' },
    text: MessageAttributes.text,
    bytes: { ...MessageAttributes.bytes, BinaryValue: [...(MessageAttributes.bytes?.BinaryValue ?? [])] },
  });
  const bySdk = await receive(sdkQueueCalls(client));
  const directly = await receive(httpQueueCalls(clientOf('http://127.0.0.1:1'), endpointOf(server.endpoint)));
  expect(directly.map(without)).toEqual(bySdk.map(without));
  expect(directly.map(without)).toMatchObject([{ Body: 'ü', bytes: { BinaryValue: [0, 255, 128] } }]);
});

it('httpQueueCalls accepts a message with fewer fields than SQS sends', async () => {
  const endpoint = await startServer((_, response) => response.end('{"Messages":[{"Body":"x"}]}'));
  expect(await receive(httpQueueCalls(clientOf('http://127.0.0.1:1'), endpointOf(endpoint)))).toEqual([{ Body: 'x' }]);
});

it('httpQueueCalls deletes a received message', async () => {
  await send();
  const calls = httpQueueCalls(clientOf('http://127.0.0.1:1'), endpointOf(server.endpoint));
  expect(await receiveAndDelete(calls)).toMatchObject({ received: [{ Body: 'ü' }], left: 0 });
  expect(await receive(calls)).toEqual([]);
});

it('a receive of httpQueueCalls ends when its signal aborts, and is not repeated', async () => {
  const receives: string[] = [];
  const endpoint = await startServer((request) =>
    receives.push(`${request.headers['user-agent']} ${request.headers.authorization}`),
  );
  const stopping = new AbortController();
  const receiving = receive(httpQueueCalls(clientOf(endpoint)), { signal: stopping.signal });
  await expect.poll(() => receives.length).toBe(1);
  stopping.abort(new Error('enough'));
  await expect(receiving).rejects.toThrow('enough');
  // The authorization header has a region, which some servers read, and no signature.
  expect(receives).toEqual([expect.stringMatching(/^undefined .*Credential=\w+\/\d+\/[\w-]+\/sqs\/aws4_request/)]);
});

const failures: Readonly<Record<string, http.RequestListener>> = {
  'an error status': (_, response) => response.writeHead(503).end('{"Messages":[],"Successful":[]}'),
  'a response that is not JSON': (_, response) => response.end('<html>'),
  'a response of another format': (_, response) => response.end('{"Messages":[{"Body":1}]}'),
  'a closed connection': (request) => request.socket.destroy(),
  'an incomplete response': (request, response) => {
    response.writeHead(200, { 'content-length': 100 }).write('{"Mess', () => request.socket.destroy());
  },
};
it.each(Object.entries(failures))('httpQueueCalls repeats a call with the SDK after %s', async (_, listener) => {
  await send();
  const calls = httpQueueCalls(client, endpointOf(await startServer(listener)));
  expect(await receiveAndDelete(calls)).toMatchObject({ received: [{ Body: 'ü' }], left: 0 });
});

it('httpQueueCalls uses the SDK for an endpoint that is not plain HTTP', async () => {
  await send();
  const endpoint = endpointOf(server.endpoint.replace('http:', 'https:'));
  expect(await receiveAndDelete(httpQueueCalls(client, endpoint))).toMatchObject({
    received: [{ Body: 'ü' }],
    left: 0,
  });
});

it('a call to a server that accepts the request and stays silent fails, so that the polling goes on', async () => {
  const silent = await startServer(() => undefined);
  const sdk = createLocalSqsClient(silent, { maxAttempts: 1, responseSeconds: 0.1 });
  parts.defer(() => sdk.destroy());
  await expect(receive(sdkQueueCalls(sdk))).rejects.toThrow();
  await expect(sdkQueueCalls(sdk).delete({ QueueUrl: queueUrl, Entries: [] })).rejects.toThrow();
});
