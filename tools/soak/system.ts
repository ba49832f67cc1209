// The whole system with every kind, on a real control plane: two watchers and all functions from the bundles, as
// processes, with a chaos proxy in front of the API server and of SQS. It has no schedules: a resync would hide a lost
// change.

import path from 'node:path';
import { build } from '@outrigger/cli/commands/build';
import { wakeByPlant } from '@outrigger/cli/commands/dev-plant';
import { readGenerated } from '@outrigger/cli/dev/generated-manifests';
import { startLambda } from '@outrigger/cli/dev/lambda/local-lambda';
import { createQueues } from '@outrigger/cli/dev/lambda/queues';
import { readLocalStack, shortResync, stackNamePrefix, watcherEnvironment } from '@outrigger/cli/dev/local-stack';
import { createObjectCache } from '@outrigger/cli/dev/object-cache';
import { startWatchers } from '@outrigger/cli/dev/watchers';
import { createBitcoinNodes } from '@outrigger/cli/simulators/bitcoin';
import { startPantry } from '@outrigger/cli/simulators/pantry';
import { startPlant } from '@outrigger/cli/simulators/plant';
import type { Simulators } from '@outrigger/cli/simulators/registry';
import { registry } from '../../src/controllers/registry.ts';
import { WaterTank } from '../../src/controllers/water-tank.ts';
import { createClient } from '../../src/kube/client/client.ts';
import { applyManifests } from '../../src/testing/manifests.ts';
import { type ProxiedServers, startProxiedServers } from '../../test/support/proxied-servers.ts';
import { shortStack } from '../../test/support/short-stack.ts';
import { buildArtifacts } from '../artifacts.ts';
import { type SlowPantry, startSlowPantry } from '../chaos/slow-pantry.ts';
import { startKubelet } from '../kubelet/kubelet.ts';
import type { Part } from './heap-samples.ts';
import type { Queue } from './queues.ts';

/** A running system into which faults can be injected. */
export type SoakSystem = Pick<ProxiedServers, 'api' | 'sqs' | 'direct'> & {
  readonly queues: readonly Queue[];
  readonly simulators: Simulators;
  readonly slowPantry: SlowPantry;
  /** The processes that may be killed. One process of each part may not, so that its heap can be measured over time. */
  readonly killable: { readonly watchers: () => readonly number[]; readonly functions: () => readonly number[] };
  /** Every part that has processes. */
  readonly parts: readonly Part[];
  close(): Promise<void>;
};

export type SystemOptions = {
  readonly signal: AbortSignal;
  /** Receives every line that a process of the system prints. */
  readonly onLine: (pid: number, line: string) => void;
  /** Receives errors of the system itself, one line each. */
  readonly onError: (line: string) => void;
};

/** Seconds. A killed function's message is received again after `visibility`; a function's timeout must be shorter. */
const seconds = { timeout: 30, visibility: 40 };
/** The number of concurrent batches of each function. */
const concurrency = 3;
/**
 * kube-controller-manager's default limit (20 requests a second) is for clusters, not for this many changes on one
 * machine.
 */
const clientRateFlags = ['--kube-api-qps=500', '--kube-api-burst=500'];
/** The proxy detects concurrent requests; a short delay is enough for that. */
const delayMilliseconds = 10;
const root = path.resolve(import.meta.dirname, '../..');
const probeArguments = ['--expose-gc', '--import', path.join(import.meta.dirname, 'heap-probe.ts')];

/** Starts the system, in some ten seconds; cleans up if the start fails. */
export async function startSystem({ signal, onLine, onError }: SystemOptions): Promise<SoakSystem> {
  await using cleanup = new AsyncDisposableStack();
  const template = await buildArtifacts(build, root, signal);
  const simulators = await startSlowSimulators(cleanup);
  const slowPantry = await startSlowPantry(simulators.pantry.url, { delayMilliseconds: delayMilliseconds });
  cleanup.defer(() => slowPantry.close());
  const flags = { controllerManager: true, controllerManagerFlags: clientRateFlags };
  const { plane, api, sqs, direct, cluster, client } = await startProxiedServers(cleanup, flags, signal);
  const admin = cleanup.adopt(createClient(plane.connection(), { userAgent: 'kubelet' }), (one) => one.close());
  const kubelet = await startKubelet(admin, { execute: simulators.bitcoin.execute, onError });
  cleanup.defer(() => kubelet.close());

  const pantry = { ...simulators.pantry, url: slowPantry.url };
  const stack = shortStack(readLocalStack(template, cluster, { ...simulators, pantry }, shortResync), {
    ...seconds,
    includes: (arn) => !/resync$/.test(arn),
  });
  const prefix = stackNamePrefix(stack);
  const queues = await createQueues(client, stack.queues, { endpoint: direct.sqs.url, signal });
  await applyManifests(cluster.client, await readGenerated(root), { signal });
  const named = queues.map(({ name, url }) => ({ name: name.slice(prefix.length), url }));
  const ended = new AbortController();
  cleanup.defer(() => ended.abort());
  wakeByPlant(
    {
      simulators,
      sqs: client,
      queues: Object.fromEntries(named.map(({ name, url }) => [name, url])),
      view: createObjectCache(admin, [WaterTank], { signal: ended.signal }),
    },
    registry,
    { signal: ended.signal, onError: (error) => onError(String(error)) },
  );

  const lambda = startLambda(
    {
      stack,
      queues,
      client,
      queueEndpoint: sqs.url,
      taskRoot: root,
      onEvent: (event) => {
        if (event.type === 'line') onLine(event.pid, event.text);
        else onError(`${event.function}: ${event.error.message}`);
      },
      onProcesses: () => undefined,
    },
    { concurrency, schedules: false, nodeArguments: probeArguments },
  );
  cleanup.defer(() => lambda.stop());
  const environment = watcherEnvironment(cluster, sqs.url, queues, prefix, '');
  const startWatcher = () =>
    startWatchers(
      {
        file: path.join(root, 'dist/watcher/index.mjs'),
        environment,
        nodeArguments: probeArguments,
        onEvent: (event) => {
          if (event.type === 'line') onLine(event.pid, event.text);
        },
      },
      1,
    );
  const [stableWatcher, killableWatcher] = [startWatcher(), startWatcher()];
  cleanup.defer(async () => void (await Promise.all([stableWatcher.stop(), killableWatcher.stop()])));
  await Promise.all([stableWatcher.ready(signal), killableWatcher.ready(signal)]);

  const resources = cleanup.move();
  return {
    api,
    sqs,
    direct,
    simulators,
    slowPantry,
    queues: named,
    killable: {
      watchers: () => killableWatcher.pids(),
      functions: () => lambda.functions.flatMap((one) => one.pids().slice(1)),
    },
    parts: [
      { name: 'watcher', pids: () => stableWatcher.pids() },
      { name: 'watcher (killed)', pids: () => killableWatcher.pids() },
      ...lambda.functions.map((one) => ({ name: one.name.slice(prefix.length), pids: () => one.pids() })),
    ],
    close: () => resources.disposeAsync(),
  };
}

/**
 * A level that changes as slowly as a machine under load reads it: otherwise every tank would overshoot and never
 * converge.
 */
async function startSlowSimulators(cleanup: AsyncDisposableStack): Promise<Simulators> {
  const plant = await startPlant({ levelPerSecond: 0.3, initialLevel: () => 8 });
  cleanup.defer(() => plant.close());
  const pantry = await startPantry();
  cleanup.defer(() => pantry.close());
  return { plant, pantry, bitcoin: createBitcoinNodes() };
}
