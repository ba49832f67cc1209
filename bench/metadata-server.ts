// The list and watch of one kind of an API server, to measure memory: objects with the metadata of a Deployment that
// kubectl applied, created on the fly, so that the server itself needs no memory for them. Other kinds have no objects.
import http from 'node:http';
import { listenOnLoopback } from '../test/support/listen.ts';

/** The kind of the objects: it is in the deployed watcher's list, as a child kind. */
export const benchKind = { group: 'apps', version: 'v1', plural: 'deployments', kind: 'Deployment' } as const;

export type MetadataServer = { readonly url: string; stop(): Promise<void> };

const collection = `/apis/${benchKind.group}/${benchKind.version}/${benchKind.plural}`;
const resourceVersion = '999999999';
/** As kube-apiserver does on a quiet watch, because clients consider a silent watch as dead. */
const bookmarkMs = 60_000;

/** Serves `count` objects in pages, and a watch with bookmarks. Writes are accepted and dropped. */
export async function startMetadataServer(count: number): Promise<MetadataServer> {
  const server = http.createServer((request, response) => {
    request.resume();
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://bench');
    // The response of a server without streaming lists, after which the client lists.
    const streaming = searchParams.has('sendInitialEvents');
    response.writeHead(streaming ? 422 : 200, { 'content-type': 'application/json' });
    if (streaming) {
      response.end(
        JSON.stringify({ kind: 'Status', apiVersion: 'v1', status: 'Failure', reason: 'Invalid', code: 422 }),
      );
    } else if (searchParams.get('watch') === 'true') {
      const object = { apiVersion: 'meta.k8s.io/v1', kind: 'PartialObjectMetadata', metadata: { resourceVersion } };
      const bookmark = () => void response.write(`${JSON.stringify({ type: 'BOOKMARK', object })}\n`);
      bookmark();
      const ticking = setInterval(bookmark, bookmarkMs);
      response.once('close', () => clearInterval(ticking));
    } else if (pathname === collection) {
      const from = Number(searchParams.get('continue') ?? 0);
      const limit = Number(searchParams.get('limit') ?? count);
      void write(response, from, Math.min(count, from + limit), count);
    } else {
      const metadata = { ...keyOf(pathname), uid: 'bench', resourceVersion };
      const listed = searchParams.has('limit') ? { kind: 'List', items: [] } : {};
      response.end(JSON.stringify({ ...listed, apiVersion: 'v1', gitVersion: 'v1.36.3', metadata }));
    }
  });
  const url = `http://127.0.0.1:${await listenOnLoopback(server)}`;
  return {
    url,
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** The key in the path of an object. The client refuses a response with another one. */
function keyOf(pathname: string): { readonly name: string; readonly namespace?: string } {
  const [, namespace] = /\/namespaces\/([^/]+)\/[^/]+\/[^/]+$/.exec(pathname) ?? [];
  const name = pathname.slice(pathname.lastIndexOf('/') + 1);
  return namespace === undefined ? { name } : { name, namespace };
}

async function write(response: http.ServerResponse, from: number, to: number, count: number): Promise<void> {
  const more = to < count ? { continue: String(to) } : {};
  const { group, version, kind } = benchKind;
  response.write(
    `{"kind":"${kind}List","apiVersion":"${group}/${version}","metadata":${JSON.stringify({ resourceVersion, ...more })},"items":[`,
  );
  const owner = { apiVersion: 'samples.example.com/v1', kind: 'Foo', controller: 'foo' };
  for (let number = from; number < to; number += 1) {
    const text = `${number === from ? '' : ','}${JSON.stringify({ metadata: metadataOf(number, owner) })}`;
    if (!response.write(text)) await new Promise((resolve) => response.once('drain', resolve));
  }
  response.end(']}');
}

/** The owner kind, and our controller that created the object. */
type Owner = { readonly apiVersion: string; readonly kind: string; readonly controller: string };

const machine: Owner = { apiVersion: 'bench.example.com/v1', kind: 'Machine', controller: 'maker' };

/** The metadata of an object as kubectl and a controller leave it. */
export function metadataOf(number: number, { apiVersion, kind, controller }: Owner = machine): object {
  const name = `part-${number}-7d9f8c6b54`;
  const time = '2026-01-01T00:00:00Z';
  const fields = {
    'f:metadata': { 'f:labels': { '.': {}, 'f:app': {} } },
    'f:spec': { 'f:replicas': {}, 'f:size': {} },
  };
  return {
    name,
    namespace: `team-${number % 50}`,
    uid: `0f8fad5b-d9cb-469f-a165-${String(number).padStart(12, '0')}`,
    resourceVersion: String(100_000_000 + number),
    generation: 3,
    creationTimestamp: time,
    labels: {
      'app.kubernetes.io/name': name,
      'app.kubernetes.io/instance': `instance-${number}`,
      'outrigger.dev/controller': controller,
      'outrigger.dev/owner-uid': `1f8fad5b-d9cb-469f-a165-${String(number).padStart(12, '0')}`,
    },
    annotations: {
      'outrigger.dev/owner': `team-${number % 50}/machine-${number}`,
      'kubectl.kubernetes.io/last-applied-configuration': JSON.stringify({ spec: { text: 'x'.repeat(400), number } }),
    },
    ownerReferences: [
      {
        apiVersion,
        kind,
        name: `machine-${number}`,
        controller: true,
        blockOwnerDeletion: true,
        uid: `1f8fad5b-d9cb-469f-a165-${String(number).padStart(12, '0')}`,
      },
    ],
    managedFields: ['kubectl', 'kube-controller-manager'].map((manager) => ({
      manager,
      operation: 'Apply',
      apiVersion: 'v1',
      time,
      fieldsType: 'FieldsV1',
      fieldsV1: fields,
    })),
  };
}
