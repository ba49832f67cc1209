// f6: what a restart costs when everything is as it should be: reconciles and API requests. Ours is the deployed watcher, killed and back;
// the peer is a controller written with controller-runtime as its documentation has it. Both see the same 10,000 Foos, each with its
// Deployment, on one real kube-apiserver. A key that the watcher sends is a reconcile; nobody has to run for it to be counted.
import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { build } from '../src/cli/build.ts';
import { makeArtifacts } from '../src/local/artifacts.ts';
import { createQueues } from '../src/dev/lambda/queues.ts';
import { namePrefix, readLocalStack, shortResync, watcherEnvironment } from '../src/dev/local-stack.ts';
import { applyManifests, readManifests } from '../src/dev/manifests.ts';
import { startWatchers, type Watchers } from '../src/dev/watchers.ts';
import { startWorlds } from '../src/local/worlds/sample-worlds.ts';
import { createPlainApi, type PlainApi } from '../tools/chaos/plain-api.ts';
import type { ControlPlane } from '../tools/control-plane/control-plane.ts';
import { type Bordered, startBordered } from '../test/support/proxied-servers.ts';
import { type PeerCost, restartPeer } from './f6-peer.ts';
import { lastLine } from '../test/bench/peers/builder-error.ts';
import { create, digits, served } from './populate.ts';
import type { Row } from './row.ts';

const namespaces = 20;
/** Made while nobody watched: they have to be found, and nothing else may be. */
const changesMeanwhile = 25;
/** Longer than a watcher here waits before it writes its cursor (5 s), shorter than it waits when idle (10 s). */
const quietSeconds = 8;
const deadlineSeconds = 600;
/** One ConfigMap by its name. */
const cursor = /\/configmaps\/[^?]/;

/** Measures a restart with so many objects at rest. `beside`: whether the peer is restarted as well. */
export async function f6({
  objects = 10_000,
  beside = true,
}: {
  readonly objects?: number;
  readonly beside?: boolean;
} = {}): Promise<readonly Row[]> {
  const signal = AbortSignal.timeout(1_800_000);
  await using parts = new AsyncDisposableStack();
  const root = process.cwd();
  const template = await makeArtifacts(build, root, signal);
  const worlds = await startWorlds(parts);
  const bordered = await startBordered(parts, {}, signal);
  const { plane, api, sqs, direct, cluster, client } = bordered;
  const stack = readLocalStack(template, cluster, worlds, shortResync);
  const queues = await createQueues(client, stack.queues, { endpoint: direct.sqs.url, signal });
  const plain = parts.adopt(createPlainApi(direct.api), (one) => one.close());
  const manifests = await readManifests(path.join(root, 'infra/kubernetes/generated'));
  const needed = manifests.filter(({ kind }) => ['CustomResourceDefinition', 'Namespace', 'ConfigMap'].includes(kind));
  await applyManifests(cluster.client, needed, { signal });

  const environment = watcherEnvironment(cluster, sqs.url, queues, namePrefix(stack), '');
  const start = (): Watchers =>
    startWatchers({ file: path.join(root, 'dist/watcher/index.mjs'), environment, onEvent: () => undefined }, 1);
  const counters = countAt(bordered);
  let watchers = start();
  parts.defer(async () => await watchers.stop());
  await watchers.ready(signal);
  for (let number = 0; number < namespaces; number += 1) {
    const metadata = { name: namespaceOf(number) };
    await create(plain, '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata });
  }
  await createFoos(plane, plain, objects);
  await counters.untilQuiet();

  // Killed: it starts anew by itself, where its cursor is.
  counters.forget();
  for (const pid of watchers.pids()) process.kill(pid, 'SIGKILL');
  await counters.untilQuiet();
  const killed = counters.read();

  await watchers.stop();
  const peer = beside ? await restartPeer(plane.kubeconfig()).catch(lastLine) : undefined;
  for (let number = 0; number < changesMeanwhile; number += 1) await changeFoo(plain, number);
  counters.forget();
  watchers = start();
  await counters.untilQuiet();
  const away = counters.read();
  await watchers.stop();
  api.rule();
  const what = `restart with ${objects} converged Foos`;
  return [
    {
      ...{ figure: 'f6', what: `${what}: kill -9`, goal: '0 reconciles', met: killed.keys === 0 },
      ...{
        ours: `${killed.keys} reconciles, ${killed.requests} requests`,
        ...(peer === undefined ? {} : { peer: said(peer) }),
        ...(typeof peer === 'string' ? { failed: true } : {}),
      },
      counts: { 'f6 reconciles after kill -9': killed.keys, 'f6 requests after kill -9, cursor apart': killed.started },
    },
    {
      ...{ figure: 'f6', what: `${what}: ${changesMeanwhile} changed while it was away` },
      ...{ ours: `${away.keys} reconciles, ${away.requests} requests`, goal: `${changesMeanwhile} reconciles` },
      met: away.keys === changesMeanwhile,
      counts: { 'f6 reconciles after absence': away.keys, 'f6 requests after absence, cursor apart': away.started },
    },
  ];
}

function said(peer: PeerCost | string): string {
  if (typeof peer === 'string') return `controller-runtime: ${peer}`;
  const { reconciles, requests, writes, version } = peer;
  return `${reconciles} reconciles, ${requests} requests, ${writes} writes (controller-runtime ${version})`;
}

/** `started`: the requests without those for the cursor, whose number depends on how long it took. */
type Counted = { readonly keys: number; readonly requests: number; readonly started: number };

/** Counts what passes the borders. */
function countAt({ api, sqs }: Bordered) {
  let [keys, requests, started] = [0, 0, 0];
  let lastAt = performance.now();
  api.rule(({ headers, url }) => {
    if (String(headers['user-agent']).startsWith('outrigger-watcher')) {
      requests += 1;
      if (!cursor.test(url)) started += 1;
      lastAt = performance.now();
    }
    return undefined;
  });
  sqs.rule(({ headers, body }) => {
    if (!String(headers['x-amz-target']).includes('SendMessage')) return undefined;
    keys += body.split('"MessageBody"').length - 1;
    lastAt = performance.now();
    return undefined;
  });
  return {
    read: (): Counted => ({ keys, requests, started }),
    forget: () => {
      [keys, requests, started, lastAt] = [0, 0, 0, performance.now()];
    },
    /** Resolves when nothing has passed for a while, and something had before. */
    untilQuiet: async (): Promise<void> => {
      const until = performance.now() + deadlineSeconds * 1000;
      for (;;) {
        const now = performance.now();
        if (requests > 0 && now - lastAt > quietSeconds * 1000) return;
        if (now > until) throw new Error(`f6: not quiet within ${deadlineSeconds} s`);
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    },
  };
}

const namespaceOf = (number: number): string => `bench-${digits(number % namespaces, 2)}`;
const nameOf = (number: number): string => `foo-${digits(number, 6)}`;
const foosOf = (number: number): string => `/apis/samples.example.com/v1/namespaces/${namespaceOf(number)}/foos`;

/** Foos at rest, each with the Deployment that it has; nobody reports on Deployments here, so none is available. */
async function createFoos(plane: ControlPlane, api: PlainApi, objects: number): Promise<void> {
  const [namespace, name] = [namespaceOf(0), nameOf(0)];
  const condition = {
    status: 'Unknown',
    observedGeneration: 1,
    lastTransitionTime: '2026-01-01T00:00:00Z',
    message: '',
  };
  const uid = await create(
    api,
    foosOf(0),
    {
      ...{ apiVersion: 'samples.example.com/v1', kind: 'Foo', metadata: { name } },
      spec: { deploymentName: name, replicas: 1 },
    },
    {
      ...{ availableReplicas: 0, observedGeneration: 1 },
      conditions: ['DeploymentAvailable', 'Ready'].map((type) => ({ type, reason: 'NotReported', ...condition })),
    },
  );
  const owner = {
    apiVersion: 'samples.example.com/v1',
    kind: 'Foo',
    name,
    uid,
    controller: true,
    blockOwnerDeletion: true,
  };
  const labels = { app: 'nginx', controller: name };
  const itsUid = await create(api, `/apis/apps/v1/namespaces/${namespace}/deployments`, {
    ...{ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name, ownerReferences: [owner] } },
    spec: {
      ...{ replicas: 1, selector: { matchLabels: labels } },
      template: { metadata: { labels }, spec: { containers: [{ name: 'nginx', image: 'nginx:latest' }] } },
    },
  });
  const numbers = Array.from({ length: objects - 1 }, (_, index) => index + 1);
  const uids = new Map(numbers.map((number) => [number, randomUUID()]));
  const copiesAt = (place: string) =>
    numbers.map((number) => ({
      key: `/registry/${place}/${namespaceOf(number)}/${nameOf(number)}`,
      texts: [
        [namespace, namespaceOf(number)],
        [name, nameOf(number)],
        [uid, uids.get(number) ?? uid],
        [itsUid, randomUUID()],
      ] as const,
    }));
  for (const place of ['samples.example.com/foos', 'deployments']) {
    await plane.stamp(`/registry/${place}/${namespace}/${name}`, copiesAt(place));
  }
  await served(api, '/apis/samples.example.com/v1/foos', objects);
  await served(api, '/apis/apps/v1/deployments', objects);
}

/** Changed by a user, or deleted: every fifth. */
async function changeFoo(api: PlainApi, number: number): Promise<void> {
  const path = `${foosOf(number)}/${nameOf(number)}`;
  const merge = { 'content-type': 'application/merge-patch+json' };
  const { status } =
    number % 5 === 0 ? await api.call('DELETE', path) : await api.call('PATCH', path, { spec: { replicas: 2 } }, merge);
  if (status >= 300) throw new Error(`f6: ${path}: ${status}`);
}
