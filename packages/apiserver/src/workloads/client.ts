// The way of the workloads to an API server: a client that the caller gives, or one over plain HTTP, and a watch of a
// collection that begins again after whatever ends it.
import { setTimeout as timeout } from 'node:timers/promises';
import type { WorkloadObject, WorkloadResource } from './objects.ts';

/** A request. The path is encoded. */
type WorkloadRequest = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly signal?: AbortSignal;
};

/** Makes the requests. Throws errors with the HTTP status as `status`, and a Status as `body`. */
export type WorkloadsClient = {
  request(request: WorkloadRequest): Promise<{ readonly body: unknown }>;
  stream(request: WorkloadRequest): Promise<AsyncIterable<Uint8Array>>;
};

/** Waits, and rejects with the signal's reason. */
export type Wait = (seconds: number, signal: AbortSignal) => Promise<void>;

/** Waits in real time. */
export const wait: Wait = async (seconds, signal) => await timeout(seconds * 1000, undefined, { signal });

/** Creates a client of a server over plain HTTP. */
export function httpClient(server: string): WorkloadsClient {
  const send = async ({ method, path, query = {}, body, signal }: WorkloadRequest): Promise<Response> => {
    const url = new URL(`${path}?${new URLSearchParams(query)}`, server);
    const headers = { 'content-type': 'application/json', accept: 'application/json' };
    const content = body === undefined ? null : JSON.stringify(body);
    const response = await fetch(url, { method, headers, body: content, signal: signal ?? null });
    if (response.ok) return response;
    const status: unknown = await response.json();
    throw Object.assign(new Error(`${method} ${path} returned ${response.status}`), {
      status: response.status,
      body: status,
    });
  };
  return {
    request: async (request) => ({ body: await (await send(request)).json() }),
    stream: async (request) => (await send(request)).body ?? new ReadableStream<Uint8Array>(),
  };
}

/** Builds the path of a collection or, with a name, of an object or its subresource. */
export function pathOf(
  { group, version, plural }: WorkloadResource,
  {
    namespace,
    name,
    subresource,
  }: { readonly namespace?: string; readonly name?: string; readonly subresource?: string },
): string {
  const parts = [
    namespace === undefined ? [] : ['namespaces', namespace],
    plural,
    name ?? [],
    subresource ?? [],
  ].flat();
  return `${group === '' ? '/api' : `/apis/${group}`}/${version}/${parts.map(encodeURIComponent).join('/')}`;
}

const retrySeconds = 1;

/** What a watch says: all objects of a list, or one that has changed or was deleted. */
export type Seen = { readonly type: 'listed' | 'changed'; readonly objects: readonly WorkloadObject[] };

/** Lists and watches a collection until the signal aborts. Errors are passed on, and it begins again after a second. */
export async function* follow(
  client: WorkloadsClient,
  resource: WorkloadResource,
  { signal, wait, onError }: { readonly signal: AbortSignal; readonly wait: Wait; onError(error: unknown): void },
): AsyncGenerator<Seen> {
  const path = pathOf(resource, {});
  while (!signal.aborted) {
    try {
      const { items, metadata } = (await client.request({ method: 'GET', path, signal })).body as List;
      yield { type: 'listed', objects: items };
      const query = { watch: 'true', resourceVersion: metadata.resourceVersion };
      for await (const line of linesOf(await client.stream({ method: 'GET', path, query, signal }))) {
        const { type, object } = JSON.parse(line) as { readonly type: string; readonly object: WorkloadObject };
        if (type === 'ERROR') break;
        yield { type: 'changed', objects: [object] };
      }
    } catch (error) {
      if (signal.aborted) return;
      onError(error);
      await wait(retrySeconds, signal).catch(() => undefined);
    }
  }
}

type List = {
  readonly items: readonly WorkloadObject[];
  readonly metadata: { readonly resourceVersion: string };
};

async function* linesOf(stream: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of stream) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    yield* lines.filter((line) => line !== '');
  }
}

/** The object was changed or replaced meanwhile, or is gone, or its namespace ends: a watch event says so, too. */
export function isOutdated(error: unknown): boolean {
  const { status, body } = error as { readonly status?: unknown; readonly body?: StatusBody };
  if (status === 404) return true;
  if (status === 409) return body?.reason !== 'AlreadyExists';
  return status === 403 && body?.details?.causes?.some(({ reason }) => reason === 'NamespaceTerminating') === true;
}

type StatusBody = {
  readonly reason?: string;
  readonly details?: { readonly causes?: readonly { readonly reason?: string }[] };
};
