// The samples as they are shipped, on the in-memory API server, with pods from the stand-in, until every one that has a controller
// is Ready, for tests that read converged objects.

import { startApiServer } from '@outrigger/apiserver';
import { startWorkloads } from '@outrigger/apiserver/workloads/workloads';
import { createBitcoinNodes } from '@outrigger/cli/simulators/bitcoin';
import { registry } from '../../src/controllers/registry.ts';
import type { KubeObject } from '../../src/kube/client/object.ts';
import { applyManifests, type Manifest, readManifests } from '../../src/testing/manifests.ts';
import { install, type System, startSystem } from './harness.ts';
import { conditionOf } from './user.ts';
import { startWatch } from './watch.ts';

/** The samples, applied, and the system that has settled them. */
export type Samples = AsyncDisposable & { readonly url: string; readonly system: System };

const folder = 'infra/kubernetes/samples';
/** Long enough for every sample to get Ready on a slow machine. */
const readyMilliseconds = 60_000;

/** Starts everything, and resolves when the samples are Ready; one that never is stays as it is. */
export async function startSamples(): Promise<Samples> {
  const parts = new AsyncDisposableStack();
  const server = await startApiServer({ execute: createBitcoinNodes().execute });
  parts.defer(() => server.close());
  const connection = { server: new URL(server.url) };
  await install(connection);
  const system = await startSystem(connection);
  parts.defer(() => system.end());
  const workloads = await startWorkloads(system.client);
  parts.defer(() => workloads.close());
  const manifests = (await readManifests(folder)).map(inNamespace(system.namespace));
  await applyManifests(system.client, manifests, { signal: AbortSignal.timeout(readyMilliseconds) });
  await settle(system);
  return { url: server.url, system, [Symbol.asyncDispose]: () => parts.disposeAsync() };
}

/** Tells whether an object is Ready. */
export function isReady(object: KubeObject): boolean {
  return conditionOf(object, 'Ready')?.status === 'True';
}

function inNamespace(namespace: string): (manifest: Manifest) => Manifest {
  return ({ object, ...rest }) => ({ ...rest, object: { ...object, metadata: { ...object.metadata, namespace } } });
}

/** Lets the system run, five seconds of its time at a time, until every sample is Ready. */
async function settle(system: System): Promise<void> {
  const watch = startWatch(system.client, system.namespace, system.send);
  try {
    for (const giveUpAt = Date.now() + readyMilliseconds; Date.now() < giveUpAt; ) {
      await system.pass(5);
      const objects = await Promise.all(registry.map(({ declaration }) => system.list(declaration.resource)));
      if (objects.flat().every(isReady)) return;
    }
  } finally {
    await watch.stop();
  }
}
