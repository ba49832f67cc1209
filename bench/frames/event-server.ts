// The API server of f10, a process of its own: lists objects of one kind and writes frames of their changes to whoever watches, as
// many a second as its parent asks for. The frames are as kube-apiserver writes them, put together beforehand, so that making them
// costs next to nothing. Of every other kind there is nothing; a cursor is taken and forgotten.
import http from 'node:http';
import { listenHere } from '../../test/support/listen.ts';
import { metadataOf } from '../metadata-server.ts';

/** What the parent asks for, and what it is told. */
export type Emit = { readonly perSecond: number; readonly seconds: number };
type FrameServerSays = { readonly url: string } | { readonly sent: number };

const { group, version, plural, kind } = { group: 'samples.example.com', version: 'v1', plural: 'foos', kind: 'Foo' };
const collection = `/apis/${group}/${version}/${plural}`;
/** A burst of frames every so often. */
const everyMs = 10;

const count = Number(process.argv[2]);
let current = 1_000_000;
const watchers = new Set<http.ServerResponse>();
const objects = Array.from({ length: count }, (_, number) => {
  const metadata = { ...metadataOf(number), generation: '<G>', resourceVersion: '<V>' };
  const text = JSON.stringify({ apiVersion: 'meta.k8s.io/v1', kind: 'PartialObjectMetadata', metadata });
  const [before = '', between = '', after = ''] = text.replace('"<G>"', '\0').replace('<V>', '\0').split('\0');
  // In the order in which JSON.stringify has them: whichever of the two comes first is told by the text.
  const generationFirst = text.indexOf('<G>') < text.indexOf('<V>');
  return (generation: number, at: number) =>
    generationFirst ? `${before}${generation}${between}${at}${after}` : `${before}${at}${between}${generation}${after}`;
});
const generations = new Uint32Array(count).fill(1);

const server = http.createServer((request, response) => {
  request.resume();
  const { pathname, searchParams } = new URL(request.url ?? '', 'http://bench');
  if (searchParams.has('sendInitialEvents')) {
    // As a server answers that has no streaming lists: the client lists.
    answer(response, 422, { kind: 'Status', apiVersion: 'v1', status: 'Failure', reason: 'Invalid', code: 422 });
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
  const metadata = { name: 'it', namespace: 'outrigger-system', uid: 'bench', resourceVersion: String(current) };
  if (pathname === collection) list(response, searchParams);
  else if (searchParams.has('limit')) answer(response, 200, { kind: 'List', apiVersion: 'v1', metadata, items: [] });
  else answer(response, 200, { kind: 'PartialObjectMetadata', apiVersion: 'v1', gitVersion: 'v1.36.3', metadata });
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

function answer(response: http.ServerResponse, status: number, body: object): void {
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
function frame(): string {
  const number = next % count;
  next += 1;
  current += 1;
  const generation = (generations[number] ?? 1) + 1;
  generations[number] = generation;
  return `{"type":"MODIFIED","object":${objects[number]?.(generation, current)}}\n`;
}

/** Writes frames at a pace, whatever becomes of them, and resolves with their number. */
async function emit({ perSecond, seconds }: Emit): Promise<number> {
  const began = performance.now();
  let sent = 0;
  while (sent < perSecond * seconds) {
    const due = Math.min(perSecond * seconds, Math.floor(((performance.now() - began) / 1000) * perSecond));
    let text = '';
    for (; sent < due; sent += 1) text += frame();
    if (text !== '') for (const watcher of watchers) watcher.write(text);
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
  return sent;
}

const say = (message: FrameServerSays) => void process.send?.(message);
process.on('message', (asked: Emit) => void emit(asked).then((sent) => say({ sent })));
process.once('disconnect', () => process.exit(0));
say({ url: `http://127.0.0.1:${await listenHere(server)}` });
