// Only the direct call of SendMessageBatch: it is the same request as the SDK's, it is signed, and the SDK makes the
// call again after a failure. The results of entries are in send.test.ts, the watcher that uses the direct call in
// test/watcher.
import { createHash, createHmac } from 'node:crypto';
import type http from 'node:http';
import { text } from 'node:stream/consumers';
import { SQSClient } from '@aws-sdk/client-sqs';
import { expect, it, onTestFinished, vi } from 'vitest';
import * as z from 'zod';
import { monotonicNow } from '../../src/core/time.ts';
import { createDirectBatch } from '../../src/sqs/direct-batch.ts';
import { createSend } from '../../src/sqs/send.ts';
import { createSqsTime } from '../../src/sqs/sqs-client.ts';
import { startHttpServer } from '../support/listen.ts';
import { startTestQueues } from './fauxqs.ts';

const { signal } = new AbortController();
const directUserAgent = 'outrigger-watcher';
const batch = z.object({ Entries: z.array(z.object({ Id: z.string(), MessageBody: z.string() })) });

type Received = { readonly headers: http.IncomingHttpHeaders; readonly body: string };
type Refusal = { readonly status: number; readonly code: string };

/** Starts a server that accepts everything except what `refuses` returns a refusal for, and a Send for it. */
async function startSqsServer({
  refuses,
  date = () => new Date(),
  token = () => 'session',
  expiresMs = 3_600_000,
}: {
  readonly refuses?: (request: Received) => Refusal | undefined;
  readonly date?: () => Date;
  /** The session token of the credentials that the provider returns when it is called. */
  readonly token?: () => string;
  readonly expiresMs?: number;
} = {}) {
  const received: Received[] = [];
  const { url: endpoint, close } = await startHttpServer((request, response) => {
    void text(request).then((body) => {
      const one = { headers: request.headers, body };
      received.push(one);
      const Successful = batch.parse(JSON.parse(body)).Entries.map(({ Id, MessageBody }) => ({
        Id,
        MessageId: `m${Id}`,
        MD5OfMessageBody: createHash('md5').update(MessageBody).digest('hex'),
      }));
      const refusal = refuses?.(one);
      response.writeHead(refusal?.status ?? 200, {
        'content-type': 'application/x-amz-json-1.0',
        date: date().toUTCString(),
      });
      response.end(JSON.stringify(refusal === undefined ? { Successful, Failed: [] } : { __type: refusal.code }));
    });
  });
  const sqs = new SQSClient({
    endpoint,
    region: 'eu-central-1',
    useQueueUrlAsEndpoint: false,
    credentials: async () => ({
      accessKeyId: 'id',
      secretAccessKey: 'secret',
      sessionToken: token(),
      expiration: new Date(Date.now() + expiresMs),
    }),
  });
  onTestFinished(() => {
    sqs.destroy();
    return close();
  });
  const send = createSend(sqs, 'https://sqs/000000000000/', { sendBatch: createDirectBatch(sqs) });
  return {
    received,
    sqs,
    send: async (...bodies: readonly string[]) => await send('q', bodies.map(toEntry), { signal }),
  };
}
const toEntry = (body: string) => ({ body });
const isDirect = (received: readonly Received[]) =>
  received.map(({ headers }) => headers['user-agent'] === directUserAgent);

it('createDirectBatch sends batches directly after the first call, with the same body and headers', async () => {
  const { received, send } = await startSqsServer();
  await send('ü');
  expect(await send('ü')).toEqual([{ accepted: true, messageId: 'm0' }]);
  expect(isDirect(received)).toEqual([false, true]);
  const [bySdk, direct] = received;
  expect(JSON.parse(direct?.body ?? '')).toEqual(JSON.parse(bySdk?.body ?? ''));
  for (const name of ['host', 'content-type', 'x-amz-target', 'x-amz-security-token'])
    expect([name, direct?.headers[name]]).toEqual([name, bySdk?.headers[name]]);
});

it('a direct call is signed with Signature Version 4', async () => {
  const { received, send } = await startSqsServer();
  await send('x');
  await send('ü');
  const { headers, body } = received[1] ?? { headers: {}, body: '' };
  const { authorization = '', 'x-amz-date': date = '' } = headers;
  const [, scope = '', names = '', signature] =
    /^AWS4-HMAC-SHA256 Credential=id\/(\S+), SignedHeaders=(\S+), Signature=([0-9a-f]{64})$/.exec(authorization) ?? [];
  expect(scope).toBe(`${String(date).slice(0, 8)}/eu-central-1/sqs/aws4_request`);
  // As in "Create a signed AWS API request" of the IAM User Guide.
  const canonical = [
    ...['POST', '/', ''],
    ...names.split(';').map((name) => `${name}:${String(headers[name])}`),
    ...['', names, createHash('sha256').update(body).digest('hex')],
  ].join('\n');
  const hash = createHash('sha256').update(canonical).digest('hex');
  const key = scope.split('/').reduce<string | Buffer>(hmac, 'AWS4secret');
  expect(hmac(key, ['AWS4-HMAC-SHA256', date, scope, hash].join('\n')).toString('hex')).toBe(signature);
  expect(names.split(';')).toEqual(expect.arrayContaining(['host', 'x-amz-date', 'x-amz-target']));
});
const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest();

it('a batch whose direct call fails is sent by the SDK', async () => {
  const { received, send } = await startSqsServer({
    refuses: ({ headers }) =>
      headers['user-agent'] === directUserAgent ? { status: 500, code: 'InternalFailure' } : undefined,
  });
  await send('x');
  expect(await send('y')).toEqual([{ accepted: true, messageId: 'm0' }]);
  expect(isDirect(received)).toEqual([false, true, false]);
});

it.each([
  -3, 3,
])('batches are signed by the clock of SQS if the watcher’s is %i hours off, or is set', async (hours) => {
  const offMs = hours * 3_600_000;
  let localMs = Date.now() + offMs;
  using _clock = vi.spyOn(Date, 'now').mockImplementation(() => localMs);
  const sqsMs = localMs - offMs;
  const { received, send } = await startSqsServer({
    date: () => new Date(sqsMs),
    refuses: ({ headers }) =>
      isWithin(headers, sqsMs) ? undefined : { status: 403, code: 'com.amazonaws.sqs#SignatureDoesNotMatch' },
  });
  for (const clockMs of [localMs, sqsMs]) {
    localMs = clockMs;
    expect(await send('x')).toEqual([{ accepted: true, messageId: 'm0' }]);
    expect(await send('y')).toEqual([{ accepted: true, messageId: 'm0' }]);
    expect(isDirect(received).at(-1)).toBe(true);
  }
});

it('the clock of SQS is known from direct calls, also after the watcher’s own was set by a minute', async () => {
  let aheadMs = 0;
  const { sqs, send } = await startSqsServer({ date: () => new Date(Date.now() + aheadMs) });
  await send('x');
  aheadMs = 60_000;
  await send('y');
  const off = createSqsTime(sqs)(monotonicNow()) - Date.now();
  expect(Math.abs(off - 60_000)).toBeLessThan(5_000);
});
/** Whether a request was signed at most five minutes before or after a time, as AWS requires. */
function isWithin({ 'x-amz-date': date = '' }: http.IncomingHttpHeaders, atMs: number): boolean {
  const signed = String(date).replace(/(....)(..)(..)T(..)(..)(..)Z/, '$1-$2-$3T$4:$5:$6Z');
  return Math.abs(Date.parse(signed) - atMs) <= 300_000;
}

it('a clock that is hours ahead does not request new credentials for each batch', async () => {
  let requested = 0;
  const { received, send } = await startSqsServer({
    token: () => {
      requested += 1;
      return `session ${requested}`;
    },
    expiresMs: -7_200_000,
  });
  await send('x');
  for (let batches = 0; batches < 5; batches += 1) await send('y');
  expect(new Set(received.slice(1).map(({ headers }) => headers['x-amz-security-token'])).size).toBe(1);
});

it('credentials that have expired earlier than a slow clock says are replaced', async () => {
  let current = 'old';
  const { send } = await startSqsServer({
    token: () => current,
    refuses: ({ headers }) =>
      headers['x-amz-security-token'] === current
        ? undefined
        : { status: 403, code: 'com.amazon.coral.service#ExpiredTokenException' },
  });
  for (const body of ['x', 'y']) await send(body);
  current = 'new';
  expect(await send('z')).toEqual([{ accepted: true, messageId: 'm0' }]);
});

it('a direct call sends entries with their group, delay and attributes, and reports a missing queue', async () => {
  const queues = await startTestQueues();
  onTestFinished(async () => await queues.stop());
  await queues.create('one.fifo', 'delayed');
  const send = createSend(queues.sqs, queues.urlPrefix, { sendBatch: createDirectBatch(queues.sqs) });
  const fifo = (body: string) => ({ body, groupId: 'g', deduplicationId: body, attributes: { reason: 'ü' } });
  for (const bodies of [['a'], ['b', 'c', 'b']]) await send('one.fifo', bodies.map(fifo), { signal });
  const received = await queues.drain('one.fifo');
  expect(received.map(({ Body }) => Body)).toEqual(['a', 'b', 'c']);
  const text = { DataType: 'String', StringValue: 'ü' };
  expect(received.map(({ MessageAttributes }) => MessageAttributes?.reason)).toMatchObject([text, text, text]);
  await send('delayed', [{ body: 'later', delaySeconds: 900 }], { signal });
  expect(await queues.drain('delayed')).toEqual([]);
  expect(await send('absent', [{ body: 'x' }], { signal })).toMatchObject([{ accepted: false, missingQueue: true }]);
});
