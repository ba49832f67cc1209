// The two calls of Lambda's API that `outrigger pause`, `resume` and `doctor` make, for the functions of this machine:
// ListEventSourceMappings and UpdateEventSourceMapping.
import http from 'node:http';
import { json } from 'node:stream/consumers';
import { answering } from '@outrigger/apiserver/http/answering';
import { type AllowedHosts, foreignRequest } from '@outrigger/common/http/foreign-request';
import { closeServer, listen } from '@outrigger/common/http/listen';
import * as z from 'zod';
import type { LocalLambda, LocalMapping } from './local-lambda.ts';

/** A running server. */
export type LambdaApi = { readonly url: string; close(): Promise<void> };

const path = '/2015-03-31/event-source-mappings';
const update = z.object({ Enabled: z.boolean() });

/** Starts the server on a free port of loopback. */
export async function startLambdaApi(
  lambda: Pick<LocalLambda, 'mappings'>,
  { allowedHosts = [] }: AllowedHosts = {},
): Promise<LambdaApi> {
  const server = http.createServer(
    answering(async (incoming, outgoing, url) => {
      const refusal = foreignRequest(incoming.headers, { allowedHosts });
      const response = refusal === undefined ? respond(lambda, incoming, url) : failure(refusal.status, refusal.reason);
      const { status, body } = await response;
      outgoing.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    }),
  );
  const url = await listen(server);
  return { url, close: async () => await closeServer(server) };
}

type Response = { readonly status: number; readonly body: object };

async function respond(
  { mappings }: Pick<LocalLambda, 'mappings'>,
  incoming: http.IncomingMessage,
  { pathname }: URL,
): Promise<Response> {
  const id = pathname.slice(path.length + 1);
  if (!pathname.startsWith(path)) return failure(404, 'outrigger dev has only the event source mappings of Lambda');
  if (incoming.method === 'GET' && id === '')
    return { status: 200, body: { EventSourceMappings: mappings.map(shown) } };
  const mapping = mappings.find(({ uuid }) => uuid === id);
  if (incoming.method !== 'PUT' || mapping === undefined) return failure(404, 'there is no such mapping');
  const given = update.safeParse(await json(incoming).catch(() => undefined));
  if (!given.success) return failure(400, 'only Enabled can be changed');
  mapping.setPaused(!given.data.Enabled);
  return { status: 202, body: shown(mapping) };
}

function shown({ uuid, queueArn, isPaused }: LocalMapping): object {
  return { UUID: uuid, EventSourceArn: queueArn, State: isPaused() ? 'Disabled' : 'Enabled' };
}

function failure(status: number, Message: string): Response {
  return { status, body: { Type: 'User', Message } };
}
