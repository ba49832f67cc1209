// SendMessageBatch as the watcher calls it, a hundred times a second while much changes: the same request, signed by the SDK's signer and
// sent over its connections, without its middleware, which costs more than all that the watcher does else. Only what succeeds goes this
// way. Whatever else happens, the SDK makes the call again: it knows what may be tried again, whose clock is wrong, and what an error is called.
//
// Digests of bodies are not compared, as the SDK does: over TLS nothing is changed on its way. A call that failed may have been carried out;
// what that means is send.ts's to say.
import { text } from 'node:stream/consumers';
import { SendMessageBatchCommand, type SQSClient } from '@aws-sdk/client-sqs';
import { Sha256 } from '@smithy/core/checksum';
import { HttpRequest } from '@smithy/core/transport';
import { SignatureV4 } from '@smithy/signature-v4';
import * as z from 'zod';
import type { SendBatch } from '../queue/send.ts';

/** What SQS answers, as far as anybody reads it. */
const answer = z.object({
  Successful: z.array(z.object({ Id: z.string(), MessageId: z.string() })).optional(),
  Failed: z
    .array(z.object({ Id: z.string(), Code: z.string(), Message: z.string().optional(), SenderFault: z.boolean() }))
    .optional(),
});

/** Where SQS is. */
type Place = Pick<HttpRequest, 'protocol' | 'hostname' | 'path'> & { readonly port?: number };

/** Creates the call. The client's first one is its own, and shows where SQS is. */
export function createDirectBatch(sqs: SQSClient): SendBatch {
  const { config } = sqs;
  const signer = new SignatureV4({
    ...{ service: 'sqs', credentials: config.credentials, region: config.region, sha256: Sha256 },
  });
  let known: Place | undefined;
  sqs.middlewareStack.add(
    (next) => async (args) => {
      if (HttpRequest.isInstance(args.request)) {
        const { protocol, hostname, port, path } = args.request;
        known = { protocol, hostname, path, ...(port === undefined ? {} : { port }) };
      }
      return await next(args);
    },
    { step: 'finalizeRequest', name: 'whereSqsIs' },
  );

  async function callDirectly(
    input: Parameters<SendBatch>[0],
    place: Place,
    abortSignal: AbortSignal,
  ): Promise<Awaited<ReturnType<SendBatch>> | undefined> {
    const body = JSON.stringify(input);
    const headers = {
      host: place.port === undefined ? place.hostname : `${place.hostname}:${place.port}`,
      'content-type': 'application/x-amz-json-1.0',
      'content-length': String(Buffer.byteLength(body)),
      'x-amz-target': 'AmazonSQS.SendMessageBatch',
      'user-agent': 'outrigger-watcher',
    };
    const signed = await signer.sign(new HttpRequest({ ...place, method: 'POST', headers, body }), {
      signingDate: new Date(Date.now() + config.systemClockOffset),
    });
    const { response } = await config.requestHandler.handle(HttpRequest.clone(signed), { abortSignal });
    const said = await text(response.body);
    return response.statusCode === 200 ? answer.parse(JSON.parse(said)) : undefined;
  }

  return async (input, { abortSignal }) => {
    const sent = known === undefined ? undefined : await callDirectly(input, known, abortSignal).catch(() => undefined);
    if (sent !== undefined) return sent;
    abortSignal.throwIfAborted();
    return await sqs.send(new SendMessageBatchCommand(input), { abortSignal });
  };
}
