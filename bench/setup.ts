// The setup of one measurement: a control plane of its own with only the kinds of the jobs, the external service, and
// the required number of objects.
import path from 'node:path';
import { forEachConcurrently } from '../src/core/async.ts';
import { createClient } from '../src/kube/client/client.ts';
import { applyManifests, readManifests } from '../src/testing/manifests.ts';
import { kindManifests } from '../test/support/sample-manifests.ts';
import { createPlainApi, type PlainApi } from '../tools/chaos/plain-api.ts';
import type { ControlPlane } from '../tools/control-plane/control-plane.ts';
import { startControlPlane } from '../tools/control-plane/start.ts';
import { startExternalService } from './external-service.ts';
import { type BenchCollection, collectionOf } from './measuring-client.ts';
import { create, digits, untilServed } from './populate.ts';

/** A control plane and the external service. */
export type BenchSetup = { readonly plane: ControlPlane; readonly api: PlainApi; readonly outsideUrl: string };

const namespace = 'default';
const concurrency = 16;
const seconds = 60;

/** Starts a setup. `cleanup` stops it. */
export async function openBenchSetup(cleanup: AsyncDisposableStack): Promise<BenchSetup> {
  const plane = await startControlPlane();
  cleanup.defer(() => plane.stop());
  const client = cleanup.adopt(createClient(plane.connection(), { userAgent: 'bench' }), (one) => one.close());
  const jobs = await readManifests(path.resolve(import.meta.dirname, 'jobs/crds.yaml'));
  const foos = kindManifests().filter(({ file }) => file === 'crd-foos.samples.example.com.yaml');
  await applyManifests(client, [...jobs, ...foos], { signal: AbortSignal.timeout(seconds * 1000) });
  const server = { url: plane.url, ca: plane.ca, token: plane.adminToken };
  const api = cleanup.adopt(createPlainApi(server), (one) => one.close());
  for (const plural of ['pings', 'slows'] as const) await untilServed(api, collectionOf({ plural, namespace }));
  const external = cleanup.adopt(await startExternalService(), (one) => one.close());
  return { plane, api, outsideUrl: external.url };
}

/** Creates objects with the value 1 through the API server. */
export async function createObjects(
  { api }: BenchSetup,
  collection: BenchCollection,
  names: readonly string[],
): Promise<void> {
  await forEachConcurrently(concurrency, names, async (name) => {
    await create(api, collectionOf(collection), objectOf(collection, name));
  });
}

/** Writes this number of objects with the value 1 into etcd, in little time; with `observed` they have converged. */
export async function putObjects(
  { plane, api }: BenchSetup,
  collection: BenchCollection,
  { count, prefix, observed }: { readonly count: number; readonly prefix: string; readonly observed: boolean },
): Promise<void> {
  const { plural } = collection;
  const first = `${prefix}-${digits(0, 6)}`;
  const uid = await create(
    api,
    collectionOf(collection),
    objectOf(collection, first),
    observed ? { observed: 1 } : undefined,
  );
  const key = (name: string) => `/registry/bench.example.com/${plural}/${collection.namespace}/${name}`;
  const copies = Array.from({ length: count - 1 }, (_, index) => {
    const name = `${prefix}-${digits(index + 1, 6)}`;
    return {
      key: key(name),
      replacements: [
        [first, name],
        [uid, crypto.randomUUID()],
      ] as const,
    };
  });
  // Watchers receive each object separately if reconciles follow.
  await plane.putCopies(key(first), copies, { oneByOne: !observed });
}

function objectOf({ plural }: BenchCollection, name: string): object {
  const kind = plural === 'pings' ? 'Ping' : 'Slow';
  return { apiVersion: 'bench.example.com/v1', kind, metadata: { name }, spec: { value: 1 } };
}
