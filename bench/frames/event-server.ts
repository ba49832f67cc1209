// The API server of f10, a process of its own: it lists objects of one kind and writes watch events of their changes,
// at the rate that its parent requests. The events are prepared in kube-apiserver's format, so writing them costs
// almost nothing. Other kinds have no objects; writes of a checkpoint are accepted and dropped.
import http from 'node:http';
import { listenOnLoopback } from '../../test/support/listen.ts';
import { metadataOf } from '../metadata-server.ts';

/** The request of the parent, and the responses. */
export type Emit = { readonly perSecond: number; readonly seconds: number };
type EventServerMessage = { readonly url: string } | { readonly sent: number };

const { group, version, plural, kind } = { group: 'samples.example.com', version: 'v1', plural: 'foos', kind: 'Foo' };
const collection = `/apis/${group}/${version}/${plural}`;
/** Events are written in bursts at this interval. */
const everyMs = 10;

const count = Number(process.argv[2]);
let current = 1_000_000;
const watchers = new Set<http.ServerResponse>();
const objects = Array.from({ length: count }, (_, number) => {
  const metadata = { ...metadataOf(number), generation: '<G>', resourceVersion: '<V>' };
  const text = JSON.stringify({ apiVersion: 'meta.k8s.io/v1', kind: 'PartialObjectMetadata', metadata });
  const [before = '', between = '', after = ''] = text.replace('"<G>"', '\0').replace('<V>', '\0').split('\0');
  // In the field order of JSON.stringify: the text shows which of the two comes first.
  const generationFirst = text.indexOf('<G>') < text.indexOf('<V>');
  return (generation: number, at: number) =>
    generationFirst ? `${before}${generation}${between}${at}${after}` : `${before}${at}${between}${generation}${after}`;
});
const generations = new Uint32Array(count).fill(1);

const server = http.createServer((request, response) => {
  request.resume();
  const { pathname, searchParams } = new URL(request.url ?? '', 'http://bench');
  if (searchParams.has('sendInitialEvents')) {
    // The response of a server without streaming lists, after which the client lists.
    respond(response, 422, { kind: 'Status', apiVersion: 'v1', status: 'Failure', reason: 'Invalid', code: 422 });
    return;
  }
  if (searchParams.get('watch') === 'true') {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.write(bookmark());
    if (pathname === collection) {
      watchers.add(response);
      response.once('close', () => watchers.delete(response));
    }
    return;
  }
  // The object whose path it is, so that the watcher accepts it.
  const { namespace, name } =
    /(?:\/namespaces\/(?<namespace>[^/]+)\/[^/]+)?\/(?<name>[^/]+)$/.exec(pathname)?.groups ?? {};
  const metadata = { name, namespace, uid: 'bench', resourceVersion: String(current) };
  if (pathname === collection) list(response, searchParams);
  else if (searchParams.has('limit')) respond(response, 200, { kind: 'List', apiVersion: 'v1', metadata, items: [] });
  else respond(response, 200, { gitVersion: 'v1.36.3', metadata });
});

function list(response: http.ServerResponse, query: URLSearchParams): void {
  const from = Number(query.get('continue') ?? 0);
  const to = Math.min(count, from + Number(query.get('limit') ?? count));
  const metadata = { resourceVersion: String(current), ...(to < count ? { continue: String(to) } : {}) };
  response.writeHead(200, { 'content-type': 'application/json' });
  response.write(
    `{"kind":"${kind}List","apiVersion":"${group}/${version}","metadata":${JSON.stringify(metadata)},"items":[`,
  );
  const items = objects
    .slice(from, to)
    .map((textOf, index) => textOf(generations[from + index] ?? 1, 1000 + from + index));
  response.end(`${items.join(',')}]}`);
}

function respond(response: http.ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}

function bookmark(): string {
  const object = {
    kind: 'PartialObjectMetadata',
    apiVersion: 'meta.k8s.io/v1',
    metadata: { resourceVersion: String(current) },
  };
  return `${JSON.stringify({ type: 'BOOKMARK', object })}\n`;
}

let next = 0;
function nextEvent(): string {
  const number = next % count;
  next += 1;
  current += 1;
  const generation = (generations[number] ?? 1) + 1;
  generations[number] = generation;
  return `{"type":"MODIFIED","object":${objects[number]?.(generation, current)}}\n`;
}

/** Writes events at this rate, whether or not they are read, and resolves with their number. */
async function emit({ perSecond, seconds }: Emit): Promise<number> {
  const startedAt = performance.now();
  let sent = 0;
  while (sent < perSecond * seconds) {
    const due = Math.min(perSecond * seconds, Math.floor(((performance.now() - startedAt) / 1000) * perSecond));
    let text = '';
    for (; sent < due; sent += 1) text += nextEvent();
    if (text !== '') for (const watcher of watchers) watcher.write(text);
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
  return sent;
}

const send = (message: EventServerMessage) => void process.send?.(message);
process.on('message', (request: Emit) => void emit(request).then((sent) => send({ sent })));
process.once('disconnect', () => process.exit(0));
send({ url: `http://127.0.0.1:${await listenOnLoopback(server)}` });
