// f6: the reconciles and API requests of a restart when every object has converged. Outrigger is the deployed watcher,
// killed and restarted; the peer is a controller written with controller-runtime as its documentation shows. Both have
// the same 10,000 Foos, each with its Deployment, on one real kube-apiserver. A key that the watcher sends counts as a
// reconcile; no function needs to run.

import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { build } from '@outrigger/cli/commands/build';
import { readGenerated } from '@outrigger/cli/dev/generated-manifests';
import { createQueues } from '@outrigger/cli/dev/lambda/queues';
import { readLocalStack, shortResync, stackNamePrefix, watcherEnvironment } from '@outrigger/cli/dev/local-stack';
import { startWatchers, type Watchers } from '@outrigger/cli/dev/watchers';
import { startSimulators } from '@outrigger/cli/simulators/registry';
import { applyManifests } from '../src/testing/manifests.ts';
import { type ProxiedServers, startProxiedServers } from '../test/support/proxied-servers.ts';
import { buildArtifacts } from '../tools/artifacts.ts';
import { createPlainApi, type PlainApi } from '../tools/chaos/plain-api.ts';
import type { ControlPlane } from '../tools/control-plane/control-plane.ts';
import { type PeerCost, restartPeer } from './f6-peer.ts';
import { lastLine } from './peers/builder-error.ts';
import { create, digits, untilObjectsServed } from './populate.ts';
import type { Row } from './row.ts';

const namespaces = 20;
/** Changes without a running watcher: they have to be found, and no others. */
const changesMeanwhile = 25;
/** Longer than the checkpoint interval of this watcher (5 s), shorter than its interval when idle (10 s). */
const quietSeconds = 8;
const deadlineSeconds = 600;
/** One ConfigMap by name. */
const checkpointRequest = /\/configmaps\/[^?]/;

/** Measures a restart with this number of converged objects. `withPeer`: whether the peer is measured as well. */
export async function f6({
  objects = 10_000,
  withPeer = true,
}: {
  readonly objects?: number;
  readonly withPeer?: boolean;
} = {}): Promise<readonly Row[]> {
  const signal = AbortSignal.timeout(1_800_000);
  await using cleanup = new AsyncDisposableStack();
  const root = process.cwd();
  const template = await buildArtifacts(build, root, signal);
  const simulators = await startSimulators(cleanup);
  const servers = await startProxiedServers(cleanup, {}, signal);
  const { plane, api, sqs, direct, cluster, client } = servers;
  const stack = readLocalStack(template, cluster, simulators, shortResync);
  const queues = await createQueues(client, stack.queues, { endpoint: direct.sqs.url, signal });
  const plainApi = cleanup.adopt(createPlainApi(direct.api), (one) => one.close());
  await applyManifests(cluster.client, await readGenerated(root), { signal });

  const environment = watcherEnvironment(cluster, sqs.url, queues, stackNamePrefix(stack), '');
  const start = (): Watchers =>
    startWatchers({ file: path.join(root, 'dist/watcher/index.mjs'), environment, onEvent: () => undefined }, 1);
  const counters = countAt(servers);
  let watchers = start();
  cleanup.defer(async () => await watchers.stop());
  await watchers.ready(signal);
  for (let number = 0; number < namespaces; number += 1) {
    const metadata = { name: namespaceOf(number) };
    await create(plainApi, '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata });
  }
  await createFoos(plane, plainApi, objects);
  await counters.untilQuiet();

  // Killed: its supervisor restarts it, and it resumes at its checkpoint.
  counters.forget();
  for (const pid of watchers.pids()) process.kill(pid, 'SIGKILL');
  await counters.untilQuiet();
  const killed = counters.read();

  await watchers.stop();
  const peer = withPeer ? await restartPeer(plane.kubeconfig()).catch(lastLine) : undefined;
  for (let number = 0; number < changesMeanwhile; number += 1) await changeFoo(plainApi, number);
  counters.forget();
  watchers = start();
  await counters.untilQuiet();
  const afterAbsence = counters.read();
  await watchers.stop();
  api.rule();
  const what = `restart with ${objects} converged Foos`;
  return [
    {
      figure: 'f6',
      what: `${what}: kill -9`,
      goal: '0 reconciles',
      met: killed.keys === 0,
      ours: `${killed.keys} reconciles, ${killed.requests} requests`,
      ...(peer === undefined ? {} : { peer: formatPeerCost(peer) }),
      ...(typeof peer === 'string' ? { failed: true } : {}),
      counts: {
        'f6 reconciles after kill -9': killed.keys,
        "f6 requests after kill -9 without the checkpoint's": killed.started,
      },
    },
    {
      figure: 'f6',
      what: `${what}: ${changesMeanwhile} changed while it was down`,
      ours: `${afterAbsence.keys} reconciles, ${afterAbsence.requests} requests`,
      goal: `${changesMeanwhile} reconciles`,
      met: afterAbsence.keys === changesMeanwhile,
      counts: {
        'f6 reconciles after absence': afterAbsence.keys,
        "f6 requests after absence without the checkpoint's": afterAbsence.started,
      },
    },
  ];
}

function formatPeerCost(peer: PeerCost | string): string {
  if (typeof peer === 'string') return `controller-runtime: ${peer}`;
  const { reconciles, requests, writes, version } = peer;
  return `${reconciles} reconciles, ${requests} requests, ${writes} writes (controller-runtime ${version})`;
}

/** `started`: the requests without those for the checkpoint, whose number depends on the duration. */
type Counted = { readonly keys: number; readonly requests: number; readonly started: number };

/** Counts the requests that pass the proxies. */
function countAt({ api, sqs }: ProxiedServers) {
  let [keys, requests, started] = [0, 0, 0];
  let lastAt = performance.now();
  api.rule(({ headers, url }) => {
    if (String(headers['user-agent']).startsWith('outrigger-watcher')) {
      requests += 1;
      if (!checkpointRequest.test(url)) started += 1;
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
    /** Resolves when there were no requests for a while, after there have been some. */
    untilQuiet: async (): Promise<void> => {
      const until = performance.now() + deadlineSeconds * 1000;
      for (;;) {
        const now = performance.now();
        if (requests > 0 && now - lastAt > quietSeconds * 1000) return;
        if (now > until) throw new Error(`f6: requests did not stop within ${deadlineSeconds} s`);
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    },
  };
}

const namespaceOf = (number: number): string => `bench-${digits(number % namespaces, 2)}`;
const nameOf = (number: number): string => `foo-${digits(number, 6)}`;
const foosOf = (number: number): string => `/apis/samples.example.com/v1/namespaces/${namespaceOf(number)}/foos`;

/** Converged Foos, each with its Deployment. No controller reports on Deployments here, so none is available. */
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
      apiVersion: 'samples.example.com/v1',
      kind: 'Foo',
      metadata: { name },
      spec: { deploymentName: name, replicas: 1 },
    },
    {
      availableReplicas: 0,
      observedGeneration: 1,
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
  const deploymentUid = await create(api, `/apis/apps/v1/namespaces/${namespace}/deployments`, {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, ownerReferences: [owner] },
    spec: {
      replicas: 1,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'nginx', image: 'nginx:latest' }] } },
    },
  });
  const numbers = Array.from({ length: objects - 1 }, (_, index) => index + 1);
  const uids = new Map(numbers.map((number) => [number, randomUUID()]));
  const copiesAt = (collection: string) =>
    numbers.map((number) => ({
      key: `/registry/${collection}/${namespaceOf(number)}/${nameOf(number)}`,
      replacements: [
        [namespace, namespaceOf(number)],
        [name, nameOf(number)],
        [uid, uids.get(number) ?? uid],
        [deploymentUid, randomUUID()],
      ] as const,
    }));
  for (const collection of ['samples.example.com/foos', 'deployments']) {
    await plane.putCopies(`/registry/${collection}/${namespace}/${name}`, copiesAt(collection));
  }
  await untilObjectsServed(api, '/apis/samples.example.com/v1/foos', objects);
  await untilObjectsServed(api, '/apis/apps/v1/deployments', objects);
}

/** Changes every Foo but every fifth, which is deleted. */
async function changeFoo(api: PlainApi, number: number): Promise<void> {
  const path = `${foosOf(number)}/${nameOf(number)}`;
  const merge = { 'content-type': 'application/merge-patch+json' };
  const { status } =
    number % 5 === 0 ? await api.call('DELETE', path) : await api.call('PATCH', path, { spec: { replicas: 2 } }, merge);
  if (status >= 300) throw new Error(`f6: ${path}: ${status}`);
}
