// The HTTP server of the console, on loopback. The files of the page hold no data and are served to every local
// request. Everything else needs the token, which the URL has in its fragment: browsers send a fragment to no server,
// and other users of the machine do not know it.
//
// Guarantees: a request with a foreign Host (DNS rebinding) or of a page of another origin is refused. The page loads
// scripts and styles from this server only (Content-Security-Policy), and no inline ones.
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import { answering } from '@outrigger/apiserver/http/answering';
import { foreignRequest } from '@outrigger/common/http/foreign-request';
import { closeServer, listen } from '@outrigger/common/http/listen';
import { toError } from 'outrigger/internal/core/errors';
import { parseJson } from 'outrigger/internal/core/json';
import { printableField } from 'outrigger/internal/core/printable';
import { redact } from 'outrigger/internal/core/redact';
import * as z from 'zod';
import type { ConsoleSource } from '../source.ts';
import { type ConsoleAction, refusedByReadOnly } from '../wire.ts';
import { openEventStream } from './event-stream.ts';
import type { PageFiles } from './page-files.ts';

/** A running console. `url` has the token. */
export type Console = { readonly url: string; close(): Promise<void> };

/** A fault is repaired by itself, however long it was asked for. */
const maxFaultSeconds = 60;

const actionSchema: z.ZodType<ConsoleAction> = z.discriminatedUnion('type', [
  z.object({ type: z.enum(['reconcile', 'dry-run', 'pause', 'resume']), id: z.string() }),
  z.object({ type: z.enum(['pause-controller', 'resume-controller']), controller: z.string() }),
  z.object({ type: z.enum(['pause-cluster', 'resume-cluster']), cluster: z.string() }),
  z.object({
    type: z.literal('break'),
    fault: z.string(),
    seconds: z.int().min(1).max(maxFaultSeconds).exactOptional(),
  }),
  z.object({
    type: z.enum(['redrive', 'delete']),
    queue: z.string(),
    messageId: z.string().exactOptional(),
    id: z.string().exactOptional(),
  }),
]);

const maxRangeMilliseconds = 7 * 24 * 3_600_000;
const instant = z.coerce.date().transform((date) => date.getTime());
const rangeSchema = z
  .object({ from: instant, to: instant })
  .refine(({ from, to }) => from < to && to - from <= maxRangeMilliseconds);

/** Headers of each response. */
const headers = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; " +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'cache-control': 'no-store',
} as const;

/** Starts the console on a free port of loopback, or on `port`. Throws the listen error. */
export async function startConsole(
  { source, page }: { readonly source: ConsoleSource; readonly page: () => Promise<PageFiles> },
  { port = 0 }: { readonly port?: number } = {},
): Promise<Console> {
  const token = randomBytes(24).toString('base64url');
  const closing = new AbortController();
  let files: Promise<PageFiles> | undefined;
  const server = createServer(
    answering(async (request, response, url) => {
      await respond(request, response, url).catch((error: unknown) => {
        if (response.headersSent) throw error;
        sendJson(response, 500, { error: redact(toError(error).message) });
      });
    }),
  );

  async function respond(request: IncomingMessage, response: ServerResponse, url: URL): Promise<void> {
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
    const refusal = foreignRequest(url.pathname === '/' ? withoutLinkOrigin(request.headers) : request.headers);
    if (refusal !== undefined) return sendJson(response, refusal.status, { error: refusal.reason });
    const isAction = request.method === 'POST' && url.pathname === '/api/actions';
    if (request.method !== 'GET' && !isAction) return sendJson(response, 405, { error: 'only GET is allowed' });
    if (!url.pathname.startsWith('/api/')) {
      files ??= page().catch((error: unknown) => {
        files = undefined;
        throw error;
      });
      const file = (await files).get(url.pathname);
      if (file === undefined) return sendJson(response, 404, { error: 'there is no such page' });
      response.writeHead(200, { 'content-type': file.contentType }).end(file.content);
      return;
    }
    if (!isToken(request.headers.authorization, token))
      return sendJson(response, 401, { error: 'the token of the URL is missing' });
    if (isAction) return await act(request, response);
    if (url.pathname === '/api/queues') return sendJson(response, 200, await source.queues(closing.signal));
    if (url.pathname === '/api/events') return openEventStream(source, response, closing.signal);
    const range = rangeSchema.safeParse(Object.fromEntries(url.searchParams)).data;
    if (range === undefined && (url.pathname === '/api/past' || url.searchParams.has('from')))
      return sendJson(response, 400, { error: 'a time range has from and to, 7 days at most' });
    if (url.pathname === '/api/past' && range !== undefined && source.past !== undefined) {
      const left = new AbortController();
      response.once('close', () => left.abort());
      return sendJson(response, 200, await source.past(range, AbortSignal.any([closing.signal, left.signal])));
    }
    if (url.pathname === '/api/object') {
      const detail = await source.detail(url.searchParams.get('id') ?? '', closing.signal, range);
      if (detail === undefined) return sendJson(response, 404, { error: 'there is no such object' });
      return sendJson(response, 200, detail);
    }
    return sendJson(response, 404, { error: 'there is no such path' });
  }

  async function act(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.headers['content-type'] !== 'application/json')
      return sendJson(response, 415, { error: 'an action is application/json' });
    const action = actionSchema.safeParse(parseJson(await readBody(request)));
    if (!action.success) return sendJson(response, 400, { error: 'this is not an action' });
    const refusal = refusedByReadOnly(source.system, action.data);
    if (refusal !== undefined) return sendJson(response, 403, { error: refusal });
    try {
      return sendJson(response, 200, await source.act(action.data, closing.signal));
    } catch (error) {
      // Of this machine, or of its clusters: a person has to read it.
      return sendJson(response, 409, { error: redact(toError(error).message) });
    }
  }

  const url = await listen(server, { port });
  return {
    url: `${url}/#${token}`,
    close: async () => {
      closing.abort();
      await closeServer(server);
    },
  };
}

/** The empty page may be opened by a link of another page, such as a terminal in a browser: it is a new document. */
function withoutLinkOrigin(all: IncomingHttpHeaders): IncomingHttpHeaders {
  const isLink = all['sec-fetch-mode'] === 'navigate' && all['sec-fetch-dest'] === 'document';
  const { 'sec-fetch-site': _, ...rest } = all;
  return isLink ? rest : all;
}

const maxBodyBytes = 16_384;

/** Reads a body. Throws if it is longer than any action. */
async function readBody(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request.setEncoding('utf8')) {
    text += String(chunk);
    if (text.length > maxBodyBytes) throw new Error('the body is too long');
  }
  return text;
}

/** Compares hashes, so that the time of the comparison shows nothing of the token. */
function isToken(authorization: string | undefined, token: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(authorization ?? ''), digest(`Bearer ${token}`));
}

function sendJson(response: ServerResponse, status: number, body: object): void {
  response
    .writeHead(status, { 'content-type': 'application/json; charset=utf-8' })
    .end(JSON.stringify(body, printableField));
}
