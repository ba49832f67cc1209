// Every controller of the registry on one machine, with real watcher and function processes from the bundles, workloads
// that become ready, and an effect proxy in front of each server that functions call. Messages of a killed function are
// received again at once.

import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startApiServer } from '@outrigger/apiserver';
import { startWorkloads } from '@outrigger/apiserver/workloads/workloads';
import { build } from '@outrigger/cli/commands/build';
import { openCluster } from '@outrigger/cli/dev/cluster-access';
import { readGenerated } from '@outrigger/cli/dev/generated-manifests';
import { startLambda } from '@outrigger/cli/dev/lambda/local-lambda';
import { createQueues } from '@outrigger/cli/dev/lambda/queues';
import { readLocalStack, shortResync, stackNamePrefix, watcherEnvironment } from '@outrigger/cli/dev/local-stack';
import { createLocalSqsClient, startSqs } from '@outrigger/cli/dev/sqs-server';
import { startWatchers } from '@outrigger/cli/dev/watchers';
import { createBitcoinNodes } from '@outrigger/cli/simulators/bitcoin';
import { startPantry } from '@outrigger/cli/simulators/pantry';
import { startPlant } from '@outrigger/cli/simulators/plant';
import type { Simulators } from '@outrigger/cli/simulators/registry';
import { createClient } from '../../../src/kube/client/client.ts';
import { applyManifests } from '../../../src/testing/manifests.ts';
import { buildArtifacts } from '../../artifacts.ts';
import { writeKubeconfig } from '../../control-plane/kubeconfig.ts';
import { startControlPlane } from '../../control-plane/start.ts';
import { startKubelet } from '../../kubelet/kubelet.ts';
import type { Upstream } from '../chaos-proxy.ts';
import type { PlainServer } from '../plain-api.ts';
import { type Effect, startEffectProxy } from './effect-proxy.ts';

/** A system whose functions can be killed after their effects. */
export type WholeSystem = {
  /** The servers themselves, without the proxies. */
  readonly direct: { readonly api: PlainServer; readonly sqs: PlainServer };
  readonly simulators: Simulators;
  /** `name` is the queue's name in the template, such as `water-tank.fifo`. */
  queueUrl(name: string): string;
  /** The process ids of a function. */
  pids(name: string): readonly number[];
  /** Calls the listener for each effect of any function, before the function receives the response. */
  onEffect(listener: (effect: Effect) => void): () => void;
  close(): Promise<void>;
};

const root = path.resolve(import.meta.dirname, '../../..');
/**
 * Short to wait for, and long enough to start a function on a machine under load: the level of a tank moves between its
 * limits in 10 s.
 */
const levelPerSecond = 4;

/** Starts the system; cleans up if the start fails. */
export async function startWholeSystem(
  { real, onLine = () => undefined }: { readonly real: boolean; readonly onLine?: (line: string) => void },
  signal: AbortSignal,
): Promise<WholeSystem> {
  await using cleanup = new AsyncDisposableStack();
  const folder = await mkdtemp(path.join(tmpdir(), 'outrigger-effects-'));
  cleanup.defer(() => rm(folder, { recursive: true, force: true }));
  const template = await buildArtifacts(build, root, signal);
  const listeners = new Set<(effect: Effect) => void>();
  const proxyFor = async (upstream: Upstream): Promise<string> => {
    const effectProxy = await startEffectProxy(upstream, (effect) => {
      for (const listener of listeners) listener(effect);
    });
    cleanup.defer(() => effectProxy.close());
    return effectProxy.url;
  };

  const plant = await startPlant({ levelPerSecond });
  cleanup.defer(() => plant.close());
  const pantry = await startPantry();
  cleanup.defer(() => pantry.close());
  const bitcoin = createBitcoinNodes();
  const simulators = { plant, pantry, bitcoin };
  const { server, upstream } = await (real ? startReal : startEmbedded)(cleanup, simulators, onLine);
  const file = path.join(folder, 'kubeconfig-effects');
  await writeKubeconfig(file, await proxyFor(upstream), server);
  const cluster = await openCluster(folder, { file, signal });
  cleanup.defer(() => cluster.close());

  const sqsServer = await startSqs();
  cleanup.defer(() => sqsServer.close());
  const client = createLocalSqsClient(sqsServer.endpoint);
  cleanup.defer(() => client.destroy());
  const queueEndpoint = await proxyFor({ url: sqsServer.endpoint });
  const proxied = {
    ...simulators,
    plant: { ...plant, url: await proxyFor({ url: plant.url }) },
    pantry: { ...pantry, url: await proxyFor({ url: pantry.url }) },
  };
  const stack = readLocalStack(template, cluster, proxied, shortResync);
  const queues = await createQueues(client, stack.queues, { endpoint: sqsServer.endpoint, signal });
  await applyManifests(cluster.client, await readGenerated(root), { signal });

  const lambda = startLambda(
    {
      stack,
      queues,
      client,
      queueEndpoint,
      taskRoot: root,
      onEvent: (event) => {
        onLine(event.type === 'line' ? event.text : `${event.function}: ${event.error.message}`);
        if (event.type === 'failed') void lambda.retry();
      },
      onProcesses: () => undefined,
    },
    // Without scheduled resyncs, because a resync would hide a lost change.
    { concurrency: 2, schedules: false },
  );
  cleanup.defer(() => lambda.stop());
  const prefix = stackNamePrefix(stack);
  const watchers = startWatchers(
    {
      file: path.join(root, 'dist/watcher/index.mjs'),
      environment: watcherEnvironment(cluster, sqsServer.endpoint, queues, prefix, ''),
      onEvent: (event) => onLine(event.type === 'line' ? event.text : `watcher ${event.pid} ${event.type}`),
    },
    1,
  );
  cleanup.defer(() => watchers.stop());
  await watchers.ready(signal);

  const resources = cleanup.move();
  return {
    simulators,
    direct: { api: server, sqs: { url: sqsServer.endpoint } },
    queueUrl: (name) => queues.find((queue) => queue.name === `${prefix}${name}`)?.url ?? '',
    pids: (name) => lambda.functions.find((one) => one.name === `${prefix}${name}`)?.pids() ?? [],
    onEffect: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    close: () => resources.disposeAsync(),
  };
}

type Start = { readonly server: PlainServer; readonly upstream: Upstream };

async function startEmbedded(
  cleanup: AsyncDisposableStack,
  { bitcoin }: Simulators,
  onError: (line: string) => void,
): Promise<Start> {
  const { url, close } = await startApiServer({ host: '127.0.0.1', execute: bitcoin.execute });
  cleanup.defer(close);
  const client = createClient({ server: new URL(url) });
  cleanup.defer(async () => client.close());
  const workloads = await startWorkloads(client, { onError });
  cleanup.defer(() => workloads.close());
  return { server: { url }, upstream: { url } };
}

/**
 * The proxy uses the API server's own certificate: both have the same address, so no client needs another authority.
 */
async function startReal(
  cleanup: AsyncDisposableStack,
  { bitcoin }: Simulators,
  onTrouble: (line: string) => void,
): Promise<Start> {
  const plane = await startControlPlane({ controllerManager: true });
  cleanup.defer(() => plane.stop());
  const client = createClient(plane.connection(), { userAgent: 'kubelet' });
  cleanup.defer(async () => client.close());
  const kubelet = await startKubelet(client, { execute: bitcoin.execute, onError: onTrouble });
  cleanup.defer(() => kubelet.close());
  const key = await readFile(path.join(path.dirname(plane.kubeconfig()), 'certificates/apiserver.key'), 'utf8');
  const { url, ca, adminToken: token } = plane;
  return { server: { url, ca, token }, upstream: { url, ca, certificate: { cert: ca, key } } };
}
