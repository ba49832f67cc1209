// Only the two calls of a mapping that go past the SDK: that they do what the SDK does, and that it takes over where they fail. What
// becomes of batches is event-sources.test.ts.
import http from 'node:http';
import {
  CreateQueueCommand,
  GetQueueAttributesCommand,
  type Message,
  SendMessageCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { callsBySdk, directCalls, type QueueCalls } from '../../../src/dev/lambda/queue-calls.ts';
import { createLocalSqsClient, type LocalSqs, startSqs } from '../../../src/dev/sqs-server.ts';
import { listenHere } from '../../support/listen.ts';

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

/** A server that does with each request what it is told to. */
async function serverThat(answer: http.RequestListener): Promise<string> {
  const listening = http.createServer(answer);
  parts.defer(() => {
    listening.closeAllConnections();
    listening.close();
  });
  return `http://127.0.0.1:${await listenHere(listening)}`;
}

/** A server as a client's configuration has it. */
function at(url: string) {
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

/** Takes the message and deletes it; tells what the queue still holds. */
async function takeAndDelete(
  calls: QueueCalls,
): Promise<{ readonly taken: readonly Message[]; readonly left: number }> {
  const taken = await receive(calls, { visibility: 60 });
  await calls.delete({
    QueueUrl: queueUrl,
    Entries: taken.map(({ ReceiptHandle }, index) => ({ Id: `${index}`, ReceiptHandle })),
  });
  const names = ['ApproximateNumberOfMessages', 'ApproximateNumberOfMessagesNotVisible'] as const;
  const { Attributes } = await client.send(
    new GetQueueAttributesCommand({ QueueUrl: queueUrl, AttributeNames: [...names] }),
  );
  return { taken, left: names.reduce((sum, name) => sum + Number(Attributes?.[name]), 0) };
}

describe('to a server of this machine', () => {
  it('a message is what the SDK makes of it, attributes of text and bytes included', async () => {
    await send();
    const without = ({ Attributes = {}, MessageAttributes = {}, MessageId, Body, MD5OfBody }: Message) => ({
      ...{ MessageId, Body, MD5OfBody },
      attributes: { ...Attributes, ApproximateReceiveCount: '', ApproximateFirstReceiveTimestamp: '' },
      text: MessageAttributes.text,
      bytes: { ...MessageAttributes.bytes, BinaryValue: [...(MessageAttributes.bytes?.BinaryValue ?? [])] },
    });
    const bySdk = await receive(callsBySdk(client));
    const directly = await receive(directCalls(clientOf('http://127.0.0.1:1'), at(server.endpoint)));
    expect(directly.map(without)).toEqual(bySdk.map(without));
    expect(directly.map(without)).toMatchObject([{ Body: 'ü', bytes: { BinaryValue: [0, 255, 128] } }]);
  });

  it('a message is taken from a server that says less of it than SQS', async () => {
    const endpoint = await serverThat((_, response) => response.end('{"Messages":[{"Body":"x"}]}'));
    expect(await receive(directCalls(clientOf('http://127.0.0.1:1'), at(endpoint)))).toEqual([{ Body: 'x' }]);
  });

  it('what is taken and deleted is gone', async () => {
    await send();
    const calls = directCalls(clientOf('http://127.0.0.1:1'), at(server.endpoint));
    expect(await takeAndDelete(calls)).toMatchObject({ taken: [{ Body: 'ü' }], left: 0 });
    expect(await receive(calls)).toEqual([]);
  });

  it('a poll ends when its caller does, and is not made again', async () => {
    const polls: string[] = [];
    const endpoint = await serverThat((request) =>
      polls.push(`${request.headers['user-agent']} ${request.headers.authorization}`),
    );
    const stopping = new AbortController();
    const polling = receive(directCalls(clientOf(endpoint)), { signal: stopping.signal });
    await expect.poll(() => polls.length).toBe(1);
    stopping.abort(new Error('enough'));
    await expect(polling).rejects.toThrow('enough');
    // Where a signature would be is a region, which some servers look for.
    expect(polls).toEqual([expect.stringMatching(/^undefined .*Credential=\w+\/\d+\/[\w-]+\/sqs\/aws4_request/)]);
  });
});

describe('the SDK takes over', () => {
  const failures: Readonly<Record<string, http.RequestListener>> = {
    'from a server that refuses': (_, response) => response.writeHead(503).end('{"Messages":[],"Successful":[]}'),
    'from an answer that is not JSON': (_, response) => response.end('<html>'),
    'from an answer that is not SQS’': (_, response) => response.end('{"Messages":[{"Body":1}]}'),
    'from a connection that is cut': (request) => request.socket.destroy(),
    'from an answer that is cut': (request, response) => {
      response.writeHead(200, { 'content-length': 100 }).write('{"Mess');
      setTimeout(() => request.socket.destroy(), 20);
    },
  };
  it.each(Object.entries(failures))('%s', async (_, answer) => {
    await send();
    const calls = directCalls(client, at(await serverThat(answer)));
    expect(await takeAndDelete(calls)).toMatchObject({ taken: [{ Body: 'ü' }], left: 0 });
  });

  it('from an address that is not plain HTTP', async () => {
    await send();
    const place = at(server.endpoint.replace('http:', 'https:'));
    expect(await takeAndDelete(directCalls(client, place))).toMatchObject({ taken: [{ Body: 'ü' }], left: 0 });
  });
});
