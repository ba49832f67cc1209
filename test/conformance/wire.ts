// The HTTP client of the conformance suite, on node:http(s). It does not use src/kube, so the suite tests the servers
// independently of Outrigger's client. Headers and bodies are returned as received.
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { text } from 'node:stream/consumers';
import { createGunzip } from 'node:zlib';
import type { Body } from './body.ts';
import { createWatch, type Watch } from './wire-watch.ts';

/** The server under test. */
export type ConformanceServer = { readonly url: string; readonly ca?: string; readonly token?: string };

/** A response as received. `body` is the parsed JSON, or an empty object for another media type. */
export type WireResponse = {
  readonly status: number;
  readonly contentType: string;
  /** The texts of `Warning: 299` headers. */
  readonly warnings: readonly string[];
  readonly contentEncoding: string | undefined;
  readonly text: string;
  readonly body: Body;
};

export type Query = Readonly<Record<string, string | number | boolean>>;

/** Options of a request. */
export type RequestOptions = {
  readonly query?: Query;
  readonly contentType?: string;
  readonly accept?: string;
  /** Accepts a compressed response. */
  readonly gzip?: boolean;
  /** Another user, by impersonation. */
  readonly as?: { readonly user: string; readonly groups: readonly string[] };
};

/** The verbs of one API server. Paths are absolute and already encoded. */
export type Wire = {
  request(method: string, path: string, content?: unknown, options?: RequestOptions): Promise<WireResponse>;
  get(path: string, query?: Query, accept?: string): Promise<WireResponse>;
  post(path: string, content: unknown, query?: Query): Promise<WireResponse>;
  put(path: string, content: unknown, query?: Query): Promise<WireResponse>;
  /** Deletes. The content is a DeleteOptions. */
  remove(path: string, content?: unknown, query?: Query): Promise<WireResponse>;
  mergePatch(path: string, content: unknown, query?: Query): Promise<WireResponse>;
  jsonPatch(path: string, content: unknown, query?: Query): Promise<WireResponse>;
  /** Server-side apply as `manager`. */
  apply(path: string, manager: string, content: unknown, query?: Query): Promise<WireResponse>;
  /** Opens a watch. Rejects with the body of the response if its status is not 200. */
  watch(path: string, query?: Query, accept?: string): Promise<Watch>;
};

const jsonType = 'application/json';
const mergePatchType = 'application/merge-patch+json';
const jsonPatchType = 'application/json-patch+json';
const applyPatchType = 'application/apply-patch+yaml';

/** Creates the client of a server. Every request has its own connection, so the client needs no close. */
export function createWire(server: ConformanceServer): Wire {
  const send = (method: string, path: string, content: unknown, options: RequestOptions): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => {
      const { query = {}, contentType = jsonType, accept = jsonType, gzip = false, as } = options;
      const url = new URL(server.url + path);
      for (const [name, value] of Object.entries(query)) url.searchParams.set(name, String(value));
      const headers: Record<string, string | string[]> = {
        accept,
        ...(gzip ? { 'accept-encoding': 'gzip' } : {}),
        ...(as === undefined ? {} : { 'impersonate-user': as.user, 'impersonate-group': [...as.groups] }),
      };
      if (server.token !== undefined) headers.authorization = `Bearer ${server.token}`;
      const sent = typeof content === 'string' ? content : JSON.stringify(content);
      if (sent !== undefined) {
        if (contentType !== '') headers['content-type'] = contentType;
        // Without this header Node sends the body of a DELETE unframed, and the server does not receive the options.
        headers['content-length'] = String(Buffer.byteLength(sent));
      }
      const open = url.protocol === 'https:' ? httpsRequest : httpRequest;
      const outgoing = open(
        url,
        { method, headers, agent: false, ...(server.ca === undefined ? {} : { ca: server.ca }) },
        resolve,
      );
      outgoing.on('error', reject);
      outgoing.end(sent);
    });
  const request: Wire['request'] = async (method, path, content, options = {}) =>
    readResponse(await send(method, path, content, options));
  const patch =
    (contentType: string) =>
    (path: string, content: unknown, query: Query = {}): Promise<WireResponse> =>
      request('PATCH', path, content, { contentType, query });

  return {
    request,
    get: (path, query = {}, accept = jsonType) => request('GET', path, undefined, { query, accept }),
    post: (path, content, query = {}) => request('POST', path, content, { query }),
    put: (path, content, query = {}) => request('PUT', path, content, { query }),
    remove: (path, content, query = {}) => request('DELETE', path, content, { query }),
    mergePatch: patch(mergePatchType),
    jsonPatch: patch(jsonPatchType),
    apply: (path, manager, content, query = {}) =>
      patch(applyPatchType)(path, content, { fieldManager: manager, ...query }),
    async watch(path, query = {}, accept = jsonType) {
      const response = await send('GET', path, undefined, { query: { watch: true, ...query }, accept });
      if (response.statusCode === 200) return createWatch(response);
      const rejected = await readResponse(response);
      throw new Error(`the watch was rejected: ${rejected.status} ${rejected.text}`);
    },
  };
}

async function readResponse(response: IncomingMessage): Promise<WireResponse> {
  const { 'content-encoding': contentEncoding } = response.headers;
  const content = await text(contentEncoding === 'gzip' ? response.pipe(createGunzip()) : response);
  const contentType = response.headers['content-type'] ?? '';
  // The JSON is not validated: a case fails when it reads an absent field.
  const body: Body = contentType.startsWith(jsonType) ? JSON.parse(content) : {};
  const warnings = (response.headersDistinct.warning ?? []).map((line) => /^299 \S+ "(.*)"$/.exec(line)?.[1] ?? line);
  return { status: response.statusCode ?? 0, contentType, warnings, contentEncoding, text: content, body };
}
