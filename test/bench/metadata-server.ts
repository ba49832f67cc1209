// An API server's list and watch of one kind, as far as memory is concerned: objects with the metadata of a Deployment that
// kubectl applied, made on the fly, so that the server itself needs no memory for them.
import http from 'node:http';
import type { AddressInfo } from 'node:net';

/** Where the objects are. */
export const benchKind = {
  group: 'bench.example.com',
  version: 'v1',
  plural: 'parts',
  kind: 'Part',
  namespaced: true,
} as const;

export type MetadataServer = { readonly url: string; stop(): Promise<void> };

/** Serves `count` objects in pages as asked for, and a watch that brings one bookmark. */
export async function startMetadataServer(count: number): Promise<MetadataServer> {
  const server = http.createServer((request, response) => {
    const { searchParams } = new URL(request.url ?? '', 'http://bench');
    response.writeHead(200, { 'content-type': 'application/json' });
    if (searchParams.get('watch') === 'true') {
      response.write(
        `${JSON.stringify({ type: 'BOOKMARK', object: { metadata: { resourceVersion: '999999999' } } })}\n`,
      );
      return;
    }
    const from = Number(searchParams.get('continue') ?? 0);
    const limit = Number(searchParams.get('limit') ?? count);
    void write(response, from, Math.min(count, from + limit), count);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${portOf(server.address())}`,
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function write(response: http.ServerResponse, from: number, to: number, count: number): Promise<void> {
  const more = to < count ? { continue: String(to) } : {};
  const { group, version, kind } = benchKind;
  response.write(
    `{"kind":"${kind}List","apiVersion":"${group}/${version}","metadata":${JSON.stringify({ resourceVersion: '999999999', ...more })},"items":[`,
  );
  for (let number = from; number < to; number += 1) {
    const text = `${number === from ? '' : ','}${JSON.stringify({ metadata: metadataOf(number) })}`;
    if (!response.write(text)) await new Promise((resolve) => response.once('drain', resolve));
  }
  response.end(']}');
}

/** The metadata of an object, as kubectl and a controller leave it. */
export function metadataOf(number: number): object {
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
      'outrigger.dev/controller': 'maker',
      'outrigger.dev/owner-uid': `1f8fad5b-d9cb-469f-a165-${String(number).padStart(12, '0')}`,
    },
    annotations: {
      'outrigger.dev/owner': `team-${number % 50}/machine-${number}`,
      'kubectl.kubernetes.io/last-applied-configuration': JSON.stringify({ spec: { text: 'x'.repeat(400), number } }),
    },
    ownerReferences: [
      {
        apiVersion: `${benchKind.group}/v1`,
        kind: 'Machine',
        name: `machine-${number}`,
        uid: `1f8fad5b-d9cb-469f-a165-${String(number).padStart(12, '0')}`,
        controller: true,
        blockOwnerDeletion: true,
      },
    ],
    managedFields: ['kubectl', 'kube-controller-manager'].map((manager) => ({
      ...{ manager, operation: 'Apply', apiVersion: 'v1', time, fieldsType: 'FieldsV1' },
      fieldsV1: fields,
    })),
  };
}

function portOf(address: AddressInfo | string | null): number {
  return typeof address === 'object' && address !== null ? address.port : 0;
}
