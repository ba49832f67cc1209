// SendMessageBatch for the watcher, which calls it up to a hundred times a second. It is the same request, sent over
// the SDK's connections, but without the SDK's middleware, which costs more CPU time than the rest of the watcher. If
// the direct call fails in any way, the SDK makes the call again. The SDK knows which errors to retry, corrects clock
// skew, and names errors.
//
// The digests of bodies are not compared, as the SDK does: TLS already protects the content. A failed call may have
// been carried out; send.ts describes the consequences.
import { text } from 'node:stream/consumers';
import { SendMessageBatchCommand, type SQSClient } from '@aws-sdk/client-sqs';
import * as z from 'zod';
import { rememberCredentials } from '../core/known-secrets.ts';
import { signedHeaders } from '../signing/signature.ts';
import type { SendBatch } from './send.ts';

/** The SDK replaces credentials five minutes before they expire. */
const keptMs = 60_000;

/** Creates the call. The client makes the first call itself, which shows the address of SQS. */
export function createDirectBatch(sqs: SQSClient): SendBatch {
  const { config } = sqs;
  let known: { readonly credentials: Awaited<ReturnType<typeof config.credentials>>; readonly at: number } | undefined;
  async function currentCredentials() {
    // By a clock that is hours ahead all have expired, and the SDK would request new ones for each call.
    if (known === undefined || performance.now() - known.at > keptMs) {
      known = { credentials: rememberCredentials(await config.credentials()), at: performance.now() };
    }
    return known.credentials;
  }
  let knownAddress: z.output<typeof address> | undefined;
  sqs.middlewareStack.add(
    (next) => async (args) => {
      knownAddress = address.safeParse(args.request).data ?? knownAddress;
      return await next(args);
    },
    { step: 'finalizeRequest', name: 'recordAddress' },
  );

  async function callDirectly(
    input: Parameters<SendBatch>[0],
    to: z.output<typeof address>,
    abortSignal: AbortSignal,
  ): Promise<Awaited<ReturnType<SendBatch>> | undefined> {
    const body = JSON.stringify(input);
    const { protocol, hostname, port, path } = to;
    const method = 'POST';
    const headers = signedHeaders(
      {
        method,
        path,
        headers: {
          host: port === undefined ? hostname : `${hostname}:${port}`,
          'content-type': 'application/x-amz-json-1.0',
          'content-length': String(Buffer.byteLength(body)),
          'x-amz-target': 'AmazonSQS.SendMessageBatch',
        },
        body,
      },
      {
        credentials: await currentCredentials(),
        region: await config.region(),
        service: 'sqs',
        at: new Date(Date.now() + config.systemClockOffset),
      },
    );
    const request = {
      method,
      protocol,
      hostname,
      path,
      body,
      query: {},
      headers: { ...headers, 'user-agent': 'outrigger-watcher' },
      port,
      clone: () => request,
    };
    const { response } = await config.requestHandler.handle(request, { abortSignal });
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

/** The address of SQS, in a request of the SDK. */
const address = z.object({
  protocol: z.string(),
  hostname: z.string(),
  path: z.string(),
  port: z.number().optional(),
});

/** The fields of the response that are used. */
const batchResponse = z.object({
  Successful: z.array(z.object({ Id: z.string(), MessageId: z.string() })).optional(),
  Failed: z
    .array(z.object({ Id: z.string(), Code: z.string(), Message: z.string().optional(), SenderFault: z.boolean() }))
    .optional(),
});
