// The conformance suite's own way to talk to an API server: bytes over node:http(s), and nothing of src/kube, so that the suite
// judges the servers, and through them the client, independently. It keeps every header and body as they came.
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { text } from 'node:stream/consumers';
import type { Body } from './body.ts';
import { createWatch, type Watch } from './wire-watch.ts';

/** The server under test. */
export interface ConformanceServer {
  readonly url: string;
  readonly ca?: string;
  readonly token?: string;
}

/** An answer as it came; `body` is the parsed JSON, or an empty object where the answer is not JSON. */
export interface Answer {
  readonly status: number;
  readonly contentType: string;
  /** The texts of `Warning: 299` headers. */
  readonly warnings: readonly string[];
  readonly text: string;
  readonly body: Body;
}

export type Query = Readonly<Record<string, string | number | boolean>>;

/** What may be said about a request beside its method, path and body. */
export interface RequestOptions {
  readonly query?: Query;
  readonly contentType?: string;
  readonly accept?: string;
}

/** One API server, verb by verb. Paths are absolute and already encoded. */
export interface Wire {
  request(method: string, path: string, content?: unknown, options?: RequestOptions): Promise<Answer>;
  get(path: string, query?: Query, accept?: string): Promise<Answer>;
  post(path: string, content: unknown, query?: Query): Promise<Answer>;
  put(path: string, content: unknown, query?: Query): Promise<Answer>;
  /** Deletes; the content is a DeleteOptions. */
  remove(path: string, content?: unknown, query?: Query): Promise<Answer>;
  mergePatch(path: string, content: unknown, query?: Query): Promise<Answer>;
  jsonPatch(path: string, content: unknown, query?: Query): Promise<Answer>;
  /** Server-side apply as `manager`. */
  apply(path: string, manager: string, content: unknown, query?: Query): Promise<Answer>;
  /** Opens a watch; rejects with the Status' message where the server refuses it. */
  watch(path: string, query?: Query, accept?: string): Promise<Watch>;
}

const JSON_TYPE = 'application/json';
const MERGE_PATCH = 'application/merge-patch+json';
const JSON_PATCH = 'application/json-patch+json';
const APPLY_PATCH = 'application/apply-patch+yaml';

/** Talks to one server. Every request is a connection of its own, so nothing is left to close. */
export function createWire(server: ConformanceServer): Wire {
  const send = (method: string, path: string, content: unknown, options: RequestOptions): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => {
      const { query = {}, contentType = JSON_TYPE, accept = JSON_TYPE } = options;
      const url = new URL(server.url + path);
      for (const [name, value] of Object.entries(query)) url.searchParams.set(name, String(value));
      const headers: Record<string, string> = { accept };
      if (server.token !== undefined) headers.authorization = `Bearer ${server.token}`;
      const sent = typeof content === 'string' ? content : JSON.stringify(content);
      if (sent !== undefined) {
        headers['content-type'] = contentType;
        // Said explicitly: without it Node sends the body of a DELETE unframed, and the server never sees its options.
        headers['content-length'] = String(Buffer.byteLength(sent));
      }
      const open = url.protocol === 'https:' ? httpsRequest : httpRequest;
      const asked = open(
        url,
        { method, headers, agent: false, ...(server.ca === undefined ? {} : { ca: server.ca }) },
        resolve,
      );
      asked.on('error', reject);
      asked.end(sent);
    });
  const request: Wire['request'] = async (method, path, content, options = {}) =>
    readAnswer(await send(method, path, content, options));
  const patch =
    (contentType: string) =>
    (path: string, content: unknown, query: Query = {}): Promise<Answer> =>
      request('PATCH', path, content, { contentType, query });

  return {
    request,
    get: (path, query = {}, accept = JSON_TYPE) => request('GET', path, undefined, { query, accept }),
    post: (path, content, query = {}) => request('POST', path, content, { query }),
    put: (path, content, query = {}) => request('PUT', path, content, { query }),
    remove: (path, content, query = {}) => request('DELETE', path, content, { query }),
    mergePatch: patch(MERGE_PATCH),
    jsonPatch: patch(JSON_PATCH),
    apply: (path, manager, content, query = {}) =>
      patch(APPLY_PATCH)(path, content, { fieldManager: manager, ...query }),
    async watch(path, query = {}, accept = JSON_TYPE) {
      const response = await send('GET', path, undefined, { query: { watch: true, ...query }, accept });
      if (response.statusCode === 200) return createWatch(response);
      const refused = await readAnswer(response);
      throw new Error(`watch refused: ${refused.status} ${refused.text}`);
    },
  };
}

async function readAnswer(response: IncomingMessage): Promise<Answer> {
  const content = await text(response);
  const contentType = response.headers['content-type'] ?? '';
  // The edge where bytes become a shape: the cases look at fields one by one, and a missing one fails there.
  const body: Body = contentType.startsWith(JSON_TYPE) ? JSON.parse(content) : {};
  const warnings = (response.headersDistinct.warning ?? []).map((line) => /^299 \S+ "(.*)"$/.exec(line)?.[1] ?? line);
  return { status: response.statusCode ?? 0, contentType, warnings, text: content, body };
}
