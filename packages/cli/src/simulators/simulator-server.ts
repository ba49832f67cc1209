// The HTTP server that the simulators share: JSON requests, JSON responses, and connection faults. The state of a
// simulator is in its own file.
import http from 'node:http';
import { answering } from '@outrigger/apiserver/http/answering';
import { type AllowedHosts, foreignRequest } from '@outrigger/common/http/foreign-request';
import { closeServer, listen } from '@outrigger/common/http/listen';
import { formatZodIssues } from 'outrigger/internal/core/json';
import * as z from 'zod';

/** A request, its path split and decoded, its body parsed from JSON (undefined when there is none). */
export type SimulatorRequest = { readonly method: string; readonly path: readonly string[]; readonly body: unknown };

/** A simulator's response: JSON, plain text, no response at all (`hang`), or a cut connection (`reset`). */
export type SimulatorResponse =
  | { readonly status: number; readonly json: unknown }
  | { readonly status: number; readonly text: string }
  | 'hang'
  | 'reset';

/** A running simulator. The URL is empty if it does not listen. */
export type SimulatorServer = { readonly url: string; close(): Promise<void> };

/** The address to listen on; port 0 takes a free port. With `listens: false` there is no server. */
export type Listen = AllowedHosts & { readonly port?: number; readonly host?: string; readonly listens?: boolean };

const maxBodyBytes = 64 * 1024;

/**
 * Serves a simulator. A body that does not parse (a ZodError from `route`) is a 400 that names the field; `undefined`
 * is a 404. Throws the listen error, for example EADDRINUSE.
 */
export async function serveSimulator(
  route: (request: SimulatorRequest) => SimulatorResponse | undefined,
  { port = 0, host = '127.0.0.1', allowedHosts = [], listens = true }: Listen = {},
): Promise<SimulatorServer> {
  if (!listens) return { url: '', close: async () => undefined };
  const server = http.createServer(
    answering(async (incoming, outgoing, url) => {
      const refusal = foreignRequest(incoming.headers, { allowedHosts });
      if (refusal === undefined) await sendResponse(route, incoming, outgoing, url);
      else outgoing.writeHead(refusal.status).end(refusal.reason);
    }),
  );
  const url = await listen(server, { port, host });
  return { url, close: async () => await closeServer(server) };
}

/** Creates a JSON response. */
export function jsonResponse(value: unknown, status = 200): SimulatorResponse {
  return { status, json: value };
}

/** Creates an error response with a reason that can be shown to a person. */
export function errorResponse(status: number, error: string): SimulatorResponse {
  return { status, json: { error } };
}

async function sendResponse(
  route: (request: SimulatorRequest) => SimulatorResponse | undefined,
  incoming: http.IncomingMessage,
  outgoing: http.ServerResponse,
  url: URL,
): Promise<void> {
  const response = await read(incoming, url).then(
    (request) => responseTo(route, request),
    (error: Error) => errorResponse(400, error.message),
  );
  if (response === 'hang') return;
  if (response === 'reset') {
    incoming.socket.destroy();
    return;
  }
  const isText = 'text' in response;
  outgoing.writeHead(response.status, { 'content-type': isText ? 'text/plain' : 'application/json' });
  outgoing.end(isText ? response.text : JSON.stringify(response.json));
}

function responseTo(
  route: (request: SimulatorRequest) => SimulatorResponse | undefined,
  request: SimulatorRequest,
): SimulatorResponse {
  try {
    return route(request) ?? errorResponse(404, `not found: ${request.method} /${request.path.join('/')}`);
  } catch (error) {
    if (error instanceof z.ZodError) return errorResponse(400, formatZodIssues(error));
    throw error;
  }
}

async function read(incoming: http.IncomingMessage, { pathname }: URL): Promise<SimulatorRequest> {
  const path = pathname
    .split('/')
    .filter((segment) => segment !== '')
    .map(decodeURIComponent);
  let text = '';
  for await (const chunk of incoming) {
    text += String(chunk);
    if (text.length > maxBodyBytes) throw new Error(`the body is longer than ${maxBodyBytes} bytes`);
  }
  return { method: incoming.method ?? 'GET', path, body: text === '' ? undefined : JSON.parse(text) };
}
