// Where a contestant is measured: a real control plane of its own, empty but for the kinds of the jobs, the world outside, and as many objects
// as the run needs.
import path from 'node:path';
import { atATime } from '../../src/core/at-a-time.ts';
import { createClient } from '../../src/kube/client/client.ts';
import { applyManifests, readManifests } from '../../src/dev/manifests.ts';
import { createPlainApi, type PlainApi } from '../../tools/chaos/plain-api.ts';
import type { ControlPlane } from '../../tools/control-plane/control-plane.ts';
import { startControlPlane } from '../../tools/control-plane/start.ts';
import { collectionOf, type Judged } from '../../bench/measuring-client.ts';
import { startOutside } from '../../bench/external-service.ts';
import { create, digits, untilServed } from '../../bench/populate.ts';

/** A place to measure at. */
export type Arena = { readonly plane: ControlPlane; readonly api: PlainApi; readonly outsideUrl: string };

const namespace = 'default';
const parallel = 16;
const seconds = 60;

/** Starts one. What was started is put on `parts`. */
export async function openArena(parts: AsyncDisposableStack): Promise<Arena> {
  const plane = await startControlPlane();
  parts.defer(() => plane.stop());
  const client = parts.adopt(createClient(plane.connection(), { userAgent: 'bench' }), (one) => one.close());
  const places = ['test/bench/jobs/crds.yaml', 'infra/kubernetes/generated/crd-foos.samples.example.com.yaml'];
  for (const place of places) {
    const manifests = await readManifests(path.resolve(import.meta.dirname, '../..', place));
    await applyManifests(client, manifests, { signal: AbortSignal.timeout(seconds * 1000) });
  }
  const server = { url: plane.url, ca: plane.ca, token: plane.adminToken };
  const api = parts.adopt(createPlainApi(server), (one) => one.close());
  for (const plural of ['pings', 'slows'] as const) await untilServed(api, collectionOf({ plural, namespace }));
  const outside = parts.adopt(await startOutside(), (one) => one.close());
  return { plane, api, outsideUrl: outside.url };
}

/** Creates objects that ask for 1, by the API server. */
export async function createObjects({ api }: Arena, judged: Judged, names: readonly string[]): Promise<void> {
  await atATime(parallel, names, async (name) => {
    await create(api, collectionOf(judged), objectOf(judged, name));
  });
}

/** Puts so many objects that ask for 1 into etcd, in little time; with `observed` they are as they should be. */
export async function stampObjects(
  { plane, api }: Arena,
  judged: Judged,
  { count, prefix, observed }: { readonly count: number; readonly prefix: string; readonly observed: boolean },
): Promise<void> {
  const { plural } = judged;
  const first = `${prefix}-${digits(0, 6)}`;
  const uid = await create(api, collectionOf(judged), objectOf(judged, first), observed ? { observed: 1 } : undefined);
  const key = (name: string) => `/registry/bench.example.com/${plural}/${judged.namespace}/${name}`;
  const copies = Array.from({ length: count - 1 }, (_, index) => {
    const name = `${prefix}-${digits(index + 1, 6)}`;
    return {
      key: key(name),
      texts: [
        [first, name],
        [uid, crypto.randomUUID()],
      ] as const,
    };
  });
  // Who has something to do is watching.
  await plane.stamp(key(first), copies, { oneByOne: !observed });
}

function objectOf({ plural }: Judged, name: string): object {
  const kind = plural === 'pings' ? 'Ping' : 'Slow';
  return { apiVersion: 'bench.example.com/v1', kind, metadata: { name }, spec: { value: 1 } };
}
