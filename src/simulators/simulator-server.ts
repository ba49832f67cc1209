// The HTTP side that the sample worlds share: JSON in, JSON out, and the three ways a world can misbehave. What a world is
// about stays in its own file; here is only how it is talked to.
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import * as z from 'zod';
import { formatProblems } from '../core/zod-problems.ts';

/** A request, its path split and decoded, its body parsed from JSON (undefined when there is none). */
export type WorldRequest = { readonly method: string; readonly path: readonly string[]; readonly body: unknown };

/** What a world answers: JSON, a raw text, nothing for ever (`hang`), or a connection that is cut (`reset`). */
export type WorldAnswer =
  | { readonly status: number; readonly json: unknown }
  | { readonly status: number; readonly text: string }
  | 'hang'
  | 'reset';

/** A world that runs. */
export type WorldServer = { readonly url: string; close(): Promise<void> };

/** Where to listen; port 0 takes a free one. */
export type Listen = { readonly port?: number; readonly host?: string };

const maxBodyBytes = 64 * 1024;

/**
 * Serves a world. A body that does not parse (a ZodError from `answer`) is a 400 that names the field; `undefined` is a 404.
 * Throws the listen error, for example EADDRINUSE.
 */
export async function serveWorld(
  answer: (request: WorldRequest) => WorldAnswer | undefined,
  { port = 0, host = '127.0.0.1' }: Listen = {},
): Promise<WorldServer> {
  const server = http.createServer((incoming, outgoing) => {
    void respond(answer, incoming, outgoing);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  return {
    url: `http://${host}:${portOf(server.address())}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        // Hanging answers are part of the game; they must not keep the world from ending.
        server.closeAllConnections();
      }),
  };
}

/** Makes a JSON answer. */
export function json(value: unknown, status = 200): WorldAnswer {
  return { status, json: value };
}

/** Makes a refusal with a reason that can be shown to a person. */
export function refuse(status: number, error: string): WorldAnswer {
  return { status, json: { error } };
}

async function respond(
  answer: (request: WorldRequest) => WorldAnswer | undefined,
  incoming: http.IncomingMessage,
  outgoing: http.ServerResponse,
): Promise<void> {
  const said = await read(incoming).then(
    (request) => decide(answer, request),
    (error: Error) => refuse(400, error.message),
  );
  if (said === 'hang') return;
  if (said === 'reset') {
    incoming.socket.destroy();
    return;
  }
  const isText = 'text' in said;
  outgoing.writeHead(said.status, { 'content-type': isText ? 'text/plain' : 'application/json' });
  outgoing.end(isText ? said.text : JSON.stringify(said.json));
}

function decide(answer: (request: WorldRequest) => WorldAnswer | undefined, request: WorldRequest): WorldAnswer {
  try {
    return answer(request) ?? refuse(404, `no such thing: ${request.method} /${request.path.join('/')}`);
  } catch (error) {
    if (error instanceof z.ZodError) return refuse(400, formatProblems(error));
    throw error;
  }
}

async function read(incoming: http.IncomingMessage): Promise<WorldRequest> {
  const { pathname } = new URL(incoming.url ?? '/', 'http://world');
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

function portOf(address: AddressInfo | string | null): number {
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  return address.port;
}
