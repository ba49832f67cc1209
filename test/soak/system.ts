// The whole system with every kind, on a real control plane: two watchers and all functions from the bundles, as processes, with a
// chaos proxy at the API server and one at SQS. Only the schedule is missing: the resync must not mend behind our back what was lost.
import path from 'node:path';
import { build } from '../../src/cli/build.ts';
import { createClient } from '../../src/kube/client/client.ts';
import { makeArtifacts } from '../../src/local/artifacts.ts';
import { startLambda } from '../../src/dev/lambda/local-lambda.ts';
import { createQueues } from '../../src/dev/lambda/queues.ts';
import { namePrefix, readLocalStack, shortResync, watcherEnvironment } from '../../src/dev/local-stack.ts';
import { applyManifests, readManifests } from '../../src/dev/manifests.ts';
import { startWatchers } from '../../src/dev/watchers.ts';
import { createBitcoinNodes } from '../../src/simulators/bitcoin.ts';
import { startPantry } from '../../src/local/worlds/pantry.ts';
import { startPlant } from '../../src/simulators/plant.ts';
import type { SampleWorlds } from '../../src/local/worlds/sample-worlds.ts';
import { type SlowWorld, startSlowWorld } from '../chaos/slow-world.ts';
import { startKubelet } from '../../tools/kubelet/kubelet.ts';
import { type Bordered, startBordered } from '../support/proxied-servers.ts';
import { shortStack } from '../support/short-stack.ts';
import type { Part } from '../../tools/soak/heap-samples.ts';
import type { Queue } from '../../tools/soak/queues.ts';

/** A system that runs, and can be broken. */
export type SoakSystem = Pick<Bordered, 'api' | 'sqs' | 'direct'> & {
  readonly queues: readonly Queue[];
  readonly worlds: SampleWorlds;
  readonly gate: SlowWorld;
  /** The processes that may be killed. One of each part may not, so that somebody grows old. */
  readonly mortal: { readonly watchers: () => readonly number[]; readonly functions: () => readonly number[] };
  /** Every part that has processes. */
  readonly parts: readonly Part[];
  close(): Promise<void>;
};

export type SystemOptions = {
  readonly signal: AbortSignal;
  /** Told every line that a process of the system writes. */
  readonly onLine: (pid: number, line: string) => void;
  /** Told what is odd about the system itself, in a line. */
  readonly onTrouble: (line: string) => void;
};

/** Seconds. A killed function's message comes back after `visibility`; a function's own time must be shorter. */
const seconds = { timeout: 30, visibility: 40 };
/** Batches at once of each function. */
const concurrency = 3;
/** kube-controller-manager's own limits (20 a second) are for clusters, not for as many changes on one machine. */
const unhurried = ['--kube-api-qps=500', '--kube-api-burst=500'];
/** The gate sees who meets; it need not hold anybody up for that. */
const gateMilliseconds = 10;
const root = path.resolve(import.meta.dirname, '../..');
/** Source maps are loaded at a process's first error, whenever that is: a step of some megabytes that would look like a leak. */
const probe = ['--no-enable-source-maps', '--expose-gc', '--import', path.join(import.meta.dirname, 'heap-probe.ts')];

/** Starts it, in some ten seconds; when it cannot, nothing stays behind. */
export async function startSystem({ signal, onLine, onTrouble }: SystemOptions): Promise<SoakSystem> {
  await using parts = new AsyncDisposableStack();
  const template = await makeArtifacts(build, root, signal);
  const worlds = await startSlowly(parts);
  const gate = await startSlowWorld(worlds.pantry.url, { holdMilliseconds: gateMilliseconds });
  parts.defer(() => gate.close());
  const flags = { controllerManager: true, controllerManagerFlags: unhurried };
  const { plane, api, sqs, direct, cluster, client } = await startBordered(parts, flags, signal);
  const admin = parts.adopt(createClient(plane.connection(), { userAgent: 'kubelet' }), (one) => one.close());
  const kubelet = await startKubelet(admin, { execute: worlds.bitcoin.execute, onTrouble });
  parts.defer(() => kubelet.close());

  const pantry = { ...worlds.pantry, url: gate.url };
  const stack = shortStack(readLocalStack(template, cluster, { ...worlds, pantry }, shortResync), {
    ...seconds,
    runs: (arn) => !/resync$/.test(arn),
  });
  const prefix = namePrefix(stack);
  const queues = await createQueues(client, stack.queues, { endpoint: direct.sqs.url, signal });
  const manifests = await readManifests(path.join(root, 'infra/kubernetes/generated'));
  const needed = manifests.filter(({ kind }) => ['CustomResourceDefinition', 'Namespace', 'ConfigMap'].includes(kind));
  await applyManifests(cluster.client, needed, { signal });

  const lambda = startLambda(
    {
      ...{ stack, queues, client, queueEndpoint: sqs.url, taskRoot: root },
      onEvent: (event) => {
        if (event.type === 'line') onLine(event.pid, event.text);
        else onTrouble(`${event.function}: ${event.error.message}`);
      },
      onProcesses: () => undefined,
    },
    { concurrency, schedules: false, nodeArguments: probe },
  );
  parts.defer(() => lambda.stop());
  const environment = watcherEnvironment(cluster, sqs.url, queues, prefix, '');
  const startWatcher = () =>
    startWatchers(
      {
        ...{ file: path.join(root, 'dist/watcher/index.mjs'), environment, nodeArguments: probe },
        onEvent: (event) => {
          if (event.type === 'line') onLine(event.pid, event.text);
        },
      },
      1,
    );
  const [elder, mortal] = [startWatcher(), startWatcher()];
  parts.defer(async () => void (await Promise.all([elder.stop(), mortal.stop()])));
  await Promise.all([elder.ready(signal), mortal.ready(signal)]);

  const whole = parts.move();
  return {
    ...{ api, sqs, direct, worlds, gate },
    queues: queues.map(({ name, url }) => ({ name: name.slice(prefix.length), url })),
    mortal: {
      watchers: () => mortal.pids(),
      functions: () => lambda.functions.flatMap((one) => one.pids().slice(1)),
    },
    parts: [
      { name: 'watcher', pids: () => elder.pids() },
      { name: 'watcher that is killed', pids: () => mortal.pids() },
      ...lambda.functions.map((one) => ({ name: one.name.slice(prefix.length), pids: () => one.pids() })),
    ],
    close: () => whole.disposeAsync(),
  };
}

/** Water that moves as slowly as a machine under load looks at it: else every tank would overshoot, and nothing ever be at rest. */
async function startSlowly(parts: AsyncDisposableStack): Promise<SampleWorlds> {
  const plant = await startPlant({ levelPerSecond: 0.3, initialLevel: () => 8 });
  parts.defer(() => plant.close());
  const pantry = await startPantry();
  parts.defer(() => pantry.close());
  return { plant, pantry, bitcoin: createBitcoinNodes() };
}
