// Every controller of the registry on one machine, with real watcher and function processes from the bundles, workloads that become
// ready, and a gate at each border that a function's effects pass. What a function was killed over comes back at once.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { build } from '../../../src/cli/build.ts';
import { createClient } from '../../../src/kube/client/client.ts';
import { startApiServer } from '../../../src/apiserver/server.ts';
import { makeArtifacts } from '../../../src/local/artifacts.ts';
import { openCluster } from '../../../src/dev/cluster-access.ts';
import { startLambda } from '../../../src/dev/lambda/local-lambda.ts';
import { createQueues } from '../../../src/dev/lambda/queues.ts';
import { namePrefix, readLocalStack, shortResync, watcherEnvironment } from '../../../src/dev/local-stack.ts';
import { applyManifests, readManifests } from '../../../src/dev/manifests.ts';
import { createLocalSqsClient, startSqs } from '../../../src/dev/sqs-server.ts';
import { startWatchers } from '../../../src/dev/watchers.ts';
import { startWorkloads } from '../../../src/simulators/workloads/workloads.ts';
import { createBitcoinNodes } from '../../../src/simulators/bitcoin.ts';
import { startPantry } from '../../../src/local/worlds/pantry.ts';
import { startPlant } from '../../../src/simulators/plant.ts';
import type { SampleWorlds } from '../../../src/local/worlds/sample-worlds.ts';
import { startControlPlane } from '../../control-plane/start.ts';
import { startKubelet } from '../../kubelet/kubelet.ts';
import type { Upstream } from '../../../test/chaos/chaos-proxy.ts';
import type { PlainServer } from '../plain-api.ts';
import { type Effect, startGate } from './effect-proxy.ts';

/** A system whose functions can be killed at their effects. */
export type WholeSystem = {
  /** Past the gates. */
  readonly direct: { readonly api: PlainServer; readonly sqs: PlainServer };
  readonly worlds: SampleWorlds;
  /** By their names in the template: `water-tank.fifo`. */
  queueUrl(name: string): string;
  /** The processes of a function. */
  pids(name: string): readonly number[];
  /** Called for each effect of whomever, when it is done and not yet heard of. */
  onEffect(listener: (effect: Effect) => void): () => void;
  close(): Promise<void>;
};

const root = path.resolve(import.meta.dirname, '../../..');
/** Quick to watch, and slow enough for a function that starts anew on a machine under load: a tank takes 10 s from edge to edge. */
const levelPerSecond = 4;

/** Starts it; when it cannot, nothing stays behind. */
export async function startWholeSystem(
  { real, onLine = () => undefined }: { readonly real: boolean; readonly onLine?: (line: string) => void },
  signal: AbortSignal,
): Promise<WholeSystem> {
  await using parts = new AsyncDisposableStack();
  const folder = await mkdtemp(path.join(tmpdir(), 'outrigger-effects-'));
  parts.defer(() => rm(folder, { recursive: true, force: true }));
  const template = await makeArtifacts(build, root, signal);
  const listeners = new Set<(effect: Effect) => void>();
  const gateTo = async (upstream: Upstream): Promise<string> => {
    const gate = await startGate(upstream, (effect) => {
      for (const listener of listeners) listener(effect);
    });
    parts.defer(() => gate.close());
    return gate.url;
  };

  const plant = await startPlant({ levelPerSecond });
  parts.defer(() => plant.close());
  const pantry = await startPantry();
  parts.defer(() => pantry.close());
  const bitcoin = createBitcoinNodes();
  const worlds = { plant, pantry, bitcoin };
  const { server, upstream } = await (real ? startReal : startEmbedded)(parts, worlds, onLine);
  const file = path.join(folder, 'kubeconfig-gate');
  await writeFile(file, kubeconfig(await gateTo(upstream), server), { mode: 0o600 });
  const cluster = await openCluster(folder, { file, signal });
  parts.defer(() => cluster.close());

  const sqsServer = await startSqs();
  parts.defer(() => sqsServer.close());
  const client = createLocalSqsClient(sqsServer.endpoint);
  parts.defer(() => client.destroy());
  const queueEndpoint = await gateTo({ url: sqsServer.endpoint });
  const behindGates = {
    ...worlds,
    plant: { ...plant, url: await gateTo({ url: plant.url }) },
    pantry: { ...pantry, url: await gateTo({ url: pantry.url }) },
  };
  const stack = readLocalStack(template, cluster, behindGates, shortResync);
  const queues = await createQueues(client, stack.queues, { endpoint: sqsServer.endpoint, signal });
  const manifests = await readManifests(path.join(root, 'infra/kubernetes/generated'));
  const needed = manifests.filter(({ kind }) => ['CustomResourceDefinition', 'Namespace', 'ConfigMap'].includes(kind));
  await applyManifests(cluster.client, needed, { signal });

  const lambda = startLambda(
    {
      ...{ stack, queues, client, queueEndpoint, taskRoot: root },
      onEvent: (event) => {
        onLine(event.type === 'line' ? event.text : `${event.function}: ${event.error.message}`);
        if (event.type === 'failed') void lambda.retry();
      },
      onProcesses: () => undefined,
    },
    // Without the schedule: a loss must not be mended behind our back.
    { concurrency: 2, schedules: false },
  );
  parts.defer(() => lambda.stop());
  const prefix = namePrefix(stack);
  const watchers = startWatchers(
    {
      file: path.join(root, 'dist/watcher/index.mjs'),
      environment: watcherEnvironment(cluster, sqsServer.endpoint, queues, prefix, ''),
      onEvent: (event) => onLine(event.type === 'line' ? event.text : `watcher ${event.pid} ${event.type}`),
    },
    1,
  );
  parts.defer(() => watchers.stop());
  await watchers.ready(signal);

  const whole = parts.move();
  return {
    worlds,
    direct: { api: server, sqs: { url: sqsServer.endpoint } },
    queueUrl: (name) => queues.find((queue) => queue.name === `${prefix}${name}`)?.url ?? '',
    pids: (name) => lambda.functions.find((one) => one.name === `${prefix}${name}`)?.pids() ?? [],
    onEffect: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    close: () => whole.disposeAsync(),
  };
}

type Start = { readonly server: PlainServer; readonly upstream: Upstream };

async function startEmbedded(
  parts: AsyncDisposableStack,
  { bitcoin }: SampleWorlds,
  onTrouble: (line: string) => void,
): Promise<Start> {
  const { url, close } = await startApiServer({ host: '127.0.0.1', execute: bitcoin.execute });
  parts.defer(close);
  const client = createClient({ server: new URL(url) });
  parts.defer(async () => client.close());
  const workloads = await startWorkloads(client, { onTrouble });
  parts.defer(() => workloads.close());
  return { server: { url }, upstream: { url } };
}

/** The gate shows the API server's own certificate: it is on the same address, so nothing has to trust another authority. */
async function startReal(
  parts: AsyncDisposableStack,
  { bitcoin }: SampleWorlds,
  onTrouble: (line: string) => void,
): Promise<Start> {
  const plane = await startControlPlane({ controllerManager: true });
  parts.defer(() => plane.stop());
  const client = createClient(plane.connection(), { userAgent: 'kubelet' });
  parts.defer(async () => client.close());
  const kubelet = await startKubelet(client, { execute: bitcoin.execute, onTrouble });
  parts.defer(() => kubelet.close());
  const key = await readFile(path.join(path.dirname(plane.kubeconfig()), 'certificates/apiserver.key'), 'utf8');
  const { url, ca, adminToken: token } = plane;
  return { server: { url, ca, token }, upstream: { url, ca, certificate: { cert: ca, key } } };
}

function kubeconfig(url: string, { ca, token }: PlainServer): string {
  const authority = ca === undefined ? {} : { 'certificate-authority-data': Buffer.from(ca).toString('base64') };
  return JSON.stringify({
    ...{ apiVersion: 'v1', kind: 'Config', 'current-context': 'gate' },
    clusters: [{ name: 'gate', cluster: { server: url, ...authority } }],
    users: [{ name: 'gate', user: token === undefined ? {} : { token } }],
    contexts: [{ name: 'gate', context: { cluster: 'gate', user: 'gate', namespace: 'default' } }],
  });
}
