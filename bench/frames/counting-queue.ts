// The SQS of f10, a process of its own: it accepts every batch, responds as SQS does (the client verifies the digests),
// and counts.
import { createHash } from 'node:crypto';
import http from 'node:http';
import { text } from 'node:stream/consumers';
import * as z from 'zod';
import { listenOnLoopback } from '../../test/support/listen.ts';

type CountingQueueMessage = { readonly url: string } | { readonly keys: number; readonly requests: number };

const batch = z.object({ Entries: z.array(z.object({ Id: z.string(), MessageBody: z.string() })) });
let keys = 0;
let requests = 0;

const server = http.createServer((request, response) => {
  void text(request).then((body) => {
    const { Entries } = batch.parse(JSON.parse(body));
    keys += Entries.length;
    requests += 1;
    const Successful = Entries.map(({ Id, MessageBody }) => ({
      Id,
      MessageId: Id,
      SequenceNumber: '1',
      MD5OfMessageBody: createHash('md5').update(MessageBody).digest('hex'),
    }));
    response.writeHead(200, { 'content-type': 'application/x-amz-json-1.0' });
    response.end(JSON.stringify({ Successful, Failed: [] }));
  });
});

const send = (message: CountingQueueMessage) => void process.send?.(message);
process.on('message', () => send({ keys, requests }));
process.once('disconnect', () => process.exit(0));
send({ url: `http://127.0.0.1:${await listenOnLoopback(server)}` });
