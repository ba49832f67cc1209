// A scripted HTTP server over a real socket, which replaces the API server in tests of the client.
import { readFileSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import { expect, onTestFinished } from 'vitest';
import { type ClientOptions, createClient, type KubeClient } from '../../src/kube/client/client.ts';
import type { Connection } from '../../src/kube/client/connection.ts';
import { listenOnLoopback } from '../support/listen.ts';

/** A received request. */
export type ReceivedRequest = {
  readonly method: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: http.IncomingHttpHeaders;
  readonly body: unknown;
};

export type Responder = (request: ReceivedRequest, response: http.ServerResponse) => void;

export type WireServer = {
  readonly url: URL;
  readonly arrived: readonly ReceivedRequest[];
  client(options?: ClientOptions, connection?: Partial<Connection>): KubeClient;
};

/** Reads a PEM fixture. */
export function pem(file: string): string {
  return readFileSync(new URL(`fixtures/${file}`, import.meta.url), 'utf8');
}

/** Starts a server on a free loopback port. It stops at the end of the test. */
export async function startWireServer(
  respond: Responder,
  { tls = false, certificate = 'server' }: { readonly tls?: boolean; readonly certificate?: 'server' | 'expired' } = {},
): Promise<WireServer> {
  const arrived: ReceivedRequest[] = [];
  const listener: http.RequestListener = (request, response) => {
    void readBody(request).then((body) => {
      const url = new URL(request.url ?? '', 'http://wire');
      const query = Object.fromEntries(url.searchParams);
      // The raw path, because URL would normalize it.
      const [path = ''] = (request.url ?? '').split('?');
      const one = { method: request.method ?? '', path, query, headers: request.headers, body };
      arrived.push(one);
      respond(one, response);
    });
  };
  const server = tls
    ? https.createServer({ cert: pem(`${certificate}.pem`), key: pem(`${certificate}.key`) }, listener)
    : http.createServer(listener);
  const port = await listenOnLoopback(server);
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const url = new URL(`${tls ? 'https' : 'http'}://127.0.0.1:${port}`);
  return {
    url,
    arrived,
    client(options, connection) {
      const client = createClient({ server: url, ...connection }, options);
      onTestFinished(() => client.close());
      return client;
    },
  };
}

/** Starts a server with TLS that accepts one token, and responds with 401 to every other one. */
export function startTokenServer(token: string): Promise<WireServer> {
  return startWireServer(
    ({ headers }, response) =>
      headers.authorization === `Bearer ${token}`
        ? sendJson(response, 200, {})
        : sendJson(response, 401, statusOf(401, 'Unauthorized')),
    { tls: true },
  );
}

/** Responds with JSON. */
export function sendJson(
  response: http.ServerResponse,
  status: number,
  body: unknown,
  headers: http.OutgoingHttpHeaders = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}

/** Returns the error of a promise. A promise that resolves fails the test. */
export function failure(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => expect.unreachable(),
    (error: unknown) => error,
  );
}

/** Returns a Status in the API's format. */
export function statusOf(code: number, reason: string, rest: object = {}): object {
  return { kind: 'Status', apiVersion: 'v1', status: 'Failure', code, reason, message: `${reason} it is`, ...rest };
}

/** The Status of a GET of an object that does not exist, which names the object of the path as kube-apiserver does. */
export function notFoundAt(path: string): object {
  const [name = '', kind] = path.split('/').reverse();
  const [, group] = /^\/apis\/([^/]+)/.exec(path) ?? [];
  const details = { name: decodeURIComponent(name), kind, ...(group === undefined ? {} : { group }) };
  return statusOf(404, 'NotFound', { details });
}

async function readBody(request: http.IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(Buffer.from(chunk));
  return chunks.length === 0 ? undefined : JSON.parse(Buffer.concat(chunks).toString('utf8'));
}
