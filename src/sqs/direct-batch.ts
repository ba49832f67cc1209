// SendMessageBatch for the watcher, which calls it up to a hundred times a second. It is the same request, signed by
// the SDK's signer and sent over the SDK's connections, but without the SDK's middleware, which costs more CPU time
// than the rest of the watcher. If the direct call fails in any way, the SDK makes the call again. The SDK knows which
// errors to retry, corrects clock skew, and names errors.
//
// The digests of bodies are not compared, as the SDK does: TLS already protects the content. A failed call may have
// been carried out; send.ts describes the consequences.
import { text } from 'node:stream/consumers';
import { SendMessageBatchCommand, type SQSClient } from '@aws-sdk/client-sqs';
import { Sha256 } from '@smithy/core/checksum';
import { HttpRequest } from '@smithy/core/transport';
import { SignatureV4 } from '@smithy/signature-v4';
import * as z from 'zod';
import { rememberCredentials } from '../core/known-secrets.ts';
import type { SendBatch } from './send.ts';

/** The SDK replaces credentials five minutes before they expire. */
const keptMs = 60_000;

/** Creates the call. The client makes the first call itself, which shows the address of SQS. */
export function createDirectBatch(sqs: SQSClient): SendBatch {
  const { config } = sqs;
  let known: { readonly credentials: Awaited<ReturnType<typeof config.credentials>>; readonly at: number } | undefined;
  const signer = new SignatureV4({
    service: 'sqs',
    region: config.region,
    sha256: Sha256,
    credentials: async () => {
      // By a clock that is hours ahead all have expired, and the SDK would request new ones for each call.
      if (known === undefined || performance.now() - known.at > keptMs) {
        known = { credentials: rememberCredentials(await config.credentials()), at: performance.now() };
      }
      return known.credentials;
    },
  });
  let knownAddress: Address | undefined;
  sqs.middlewareStack.add(
    (next) => async (args) => {
      if (HttpRequest.isInstance(args.request)) {
        const { protocol, hostname, port, path } = args.request;
        knownAddress = { protocol, hostname, path, ...(port === undefined ? {} : { port }) };
      }
      return await next(args);
    },
    { step: 'finalizeRequest', name: 'recordAddress' },
  );

  async function callDirectly(
    input: Parameters<SendBatch>[0],
    address: Address,
    abortSignal: AbortSignal,
  ): Promise<Awaited<ReturnType<SendBatch>> | undefined> {
    const body = JSON.stringify(input);
    const headers = {
      host: address.port === undefined ? address.hostname : `${address.hostname}:${address.port}`,
      'content-type': 'application/x-amz-json-1.0',
      'content-length': String(Buffer.byteLength(body)),
      'x-amz-target': 'AmazonSQS.SendMessageBatch',
      'user-agent': 'outrigger-watcher',
    };
    const signed = await signer.sign(new HttpRequest({ ...address, method: 'POST', headers, body }), {
      signingDate: new Date(Date.now() + config.systemClockOffset),
    });
    const { response } = await config.requestHandler.handle(HttpRequest.clone(signed), { abortSignal });
    // As the SDK does for its own calls.
    const sqsMs = Date.parse(response.headers.date ?? '');
    if (!Number.isNaN(sqsMs)) config.systemClockOffset = sqsMs - Date.now();
    const responseBody = await text(response.body);
    if (response.statusCode === 200) return batchResponse.parse(JSON.parse(responseBody));
    // The SDK replaces credentials by the local clock alone, which may be hours behind.
    if (responseBody.includes('ExpiredToken')) {
      known = undefined;
      await config.credentials({ forceRefresh: true });
    }
    return undefined;
  }

  return async (input, { abortSignal }) => {
    const sent =
      knownAddress === undefined
        ? undefined
        : await callDirectly(input, knownAddress, abortSignal).catch(() => undefined);
    if (sent !== undefined) return sent;
    abortSignal.throwIfAborted();
    return await sqs.send(new SendMessageBatchCommand(input), { abortSignal });
  };
}

/** The address of SQS. */
type Address = Pick<HttpRequest, 'protocol' | 'hostname' | 'path'> & { readonly port?: number };

/** The fields of the response that are used. */
const batchResponse = z.object({
  Successful: z.array(z.object({ Id: z.string(), MessageId: z.string() })).optional(),
  Failed: z
    .array(z.object({ Id: z.string(), Code: z.string(), Message: z.string().optional(), SenderFault: z.boolean() }))
    .optional(),
});
