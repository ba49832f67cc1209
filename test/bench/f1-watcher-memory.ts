// f1: what the watcher keeps of an object, beside the informer of the official client over the same server. Bytes of heap
// after garbage collection, each follower in a process of its own that has already followed a small collection, so that
// code and connections do not count.
import { execFile } from 'node:child_process';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import * as z from 'zod';
import { controllerLabel, ownerAnnotation, ownerUidLabel } from '../../src/core/words.ts';
import type { Row } from './row.ts';

const counts = [10_000, 100_000];
const goalBytes = 512;
/** Larger collections than one message can say take a while on a busy machine. */
const followerMilliseconds = 300_000;
const followers = new URL('./f1-followers.ts', import.meta.url).href;

const followed = z.object({ bytes: z.number(), objects: z.number(), kept: z.number() });

/** Measures collections of 10,000 and 100,000 owned objects. */
export async function f1(): Promise<readonly Row[]> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    const url = `http://127.0.0.1:${portOf(server.address())}`;
    const rows: Row[] = [];
    for (const count of counts) {
      const ours = await bytesAnObject('followWithOurs', url, count);
      const theirs = await bytesAnObject('followWithInformer', url, count);
      rows.push({
        figure: 'f1',
        what: `watcher: heap an object, ${count} objects`,
        ours: `${Math.round(ours)} B`,
        peer: `client-node informer: ${Math.round(theirs)} B`,
        ratio: (ours / theirs).toFixed(2),
        goal: `<= ${goalBytes} B`,
      });
    }
    return rows;
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}

async function bytesAnObject(follow: string, url: string, count: number): Promise<number> {
  const statement = `const followers = await import(${JSON.stringify(followers)});
    await followers.${follow}(${JSON.stringify(url)}, ${count});`;
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--expose-gc', '--disable-warning=ExperimentalWarning', '--input-type=module', '--eval', statement],
    { timeout: followerMilliseconds },
  );
  const { bytes, objects, kept } = followed.parse(JSON.parse(stdout));
  if (objects !== count) throw new Error(`${follow} knows ${objects} of ${count} objects`);
  if (kept !== 0) throw new Error(`${follow}: ${kept} keys still wait`);
  return bytes / count;
}

/** Serves `/.../things<count>` in pages of what is asked for, and watches on which nothing happens. */
function answer(request: IncomingMessage, response: ServerResponse): void {
  const { pathname, searchParams } = new URL(request.url ?? '', 'http://bench');
  if (searchParams.get('watch') === 'true') {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.flushHeaders();
    return;
  }
  const count = Number(/things(\d+)$/.exec(pathname)?.[1] ?? 0);
  const from = Number(searchParams.get('continue') ?? 0);
  const end = Math.min(count, from + Number(searchParams.get('limit') ?? count));
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(
    JSON.stringify({
      kind: 'PartialObjectMetadataList',
      apiVersion: 'meta.k8s.io/v1',
      metadata: { resourceVersion: '9000000', ...(end < count ? { continue: String(end) } : {}) },
      items: Array.from({ length: end - from }, (_, index) => thing(from + index)),
    }),
  );
}

/** An object as the API server shows it: applied by kubectl, made by a controller of ours, four to an owner. */
function thing(number: number): object {
  const owner = Math.floor(number / 4);
  const namespace = `team-${owner % 50}`;
  const metadata = { name: `order-${owner}-item-${number % 4}`, namespace };
  return {
    kind: 'PartialObjectMetadata',
    apiVersion: 'meta.k8s.io/v1',
    metadata: {
      ...metadata,
      uid: uidOf(number),
      resourceVersion: String(1_000_000 + number * 3),
      generation: 2,
      creationTimestamp: '2026-11-21T10:00:00Z',
      labels: { [controllerLabel]: 'order', [ownerUidLabel]: uidOf(owner), 'app.kubernetes.io/part-of': 'shop' },
      annotations: {
        [ownerAnnotation]: `${namespace}/order-${owner}`,
        'kubectl.kubernetes.io/last-applied-configuration': JSON.stringify({
          metadata,
          spec: { note: 'x'.repeat(300) },
        }),
      },
      ownerReferences: [
        {
          ...{ apiVersion: 'bench.example.com/v1', kind: 'Order', name: `order-${owner}`, uid: uidOf(owner) },
          ...{ controller: true, blockOwnerDeletion: true },
        },
      ],
      managedFields: ['outrigger-order', 'outrigger-item'].map((manager) => ({
        ...{ manager, operation: 'Apply', apiVersion: 'bench.example.com/v1', time: '2026-11-21T10:00:00Z' },
        fieldsType: 'FieldsV1',
        fieldsV1: { 'f:metadata': { 'f:labels': {}, 'f:annotations': {} }, 'f:spec': { 'f:note': {}, 'f:amount': {} } },
      })),
    },
  };
}

function uidOf(number: number): string {
  return `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`;
}

function portOf(address: AddressInfo | string | null): number {
  return typeof address === 'object' && address !== null ? address.port : 0;
}
