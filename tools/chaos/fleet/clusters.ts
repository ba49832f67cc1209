// The clusters of a fleet: API servers in memory, several in a process, and real control planes. Each has all samples,
// pods for their workloads, its users, its checker and a client that measures the latencies of its changes.

import { readinessFor, showsReadiness } from '@outrigger/cli/dev/readiness';
import { createBitcoinNodes } from '@outrigger/cli/simulators/bitcoin';
import { registry } from '../../../src/controllers/registry.ts';
import { forEachConcurrently } from '../../../src/core/async.ts';
import { createClient } from '../../../src/kube/client/client.ts';
import type { Connection } from '../../../src/kube/client/connection.ts';
import { parseObject } from '../../../src/kube/client/object.ts';
import { objectPath } from '../../../src/kube/client/path.ts';
import { type AppliedManifest, applyManifests, type Manifest } from '../../../src/testing/manifests.ts';
import type { Fleet } from '../../../test/fleet/fleet.ts';
import { install } from '../../../test/fleet/member.ts';
import { readSamples } from '../../../test/support/sample.ts';
import { startServerProcess } from '../../../test/support/server-process.ts';
import type { ControlPlane } from '../../control-plane/control-plane.ts';
import { startControlPlane } from '../../control-plane/start.ts';
import { startKubelet } from '../../kubelet/kubelet.ts';
import { type Checker, startChecker } from '../checker.ts';
import { createEditor, type Editor } from '../editor.ts';
import { type Latencies, watchLatencies } from '../latencies.ts';
import { createPlainApi, type PlainApi, type PlainServer } from '../plain-api.ts';
import type { SeededRandom } from '../random.ts';

/** A cluster of the fleet. */
export type FleetCluster = {
  readonly name: string;
  readonly server: PlainServer;
  /** Its entry in the clusters table. */
  readonly entry: { readonly server: string; readonly ca?: string; readonly access: object };
  /** Absent: its API server is in memory. */
  readonly plane?: ControlPlane;
  /** How many objects users change. */
  readonly objects: number;
  readonly editor: Editor;
  readonly checker: Checker;
  readonly latencies: Latencies;
  readonly sampleCount: number;
  /** Returns the samples that are not Ready for their generation, or do not exist, one line each. */
  unreadySamples(): Promise<readonly string[]>;
};

/** The number of clusters, and of the objects that users change in each. */
export type FleetSize = { readonly inMemory: number; readonly real: number; readonly objects: number };

const root = new URL('../../..', import.meta.url).pathname;
const program = new URL('../../../test/fleet/api-server-program.ts', import.meta.url);
/** API servers in one process. */
const serversInProcess = 10;
/** The last cluster has none of them: after it was removed, their timers would be dead letters. */
const withTimers = new Set(['WaterTank']);
const startsAtOnce = 4;

/** Starts the clusters with their samples. `cleanup` stops them. They are not in the clusters table yet. */
export async function startClusters(
  cleanup: AsyncDisposableStack,
  fleet: Fleet,
  random: SeededRandom,
  { inMemory, real, objects }: FleetSize,
  signal: AbortSignal,
): Promise<readonly FleetCluster[]> {
  const servers: Pick<FleetCluster, 'name' | 'server' | 'plane'>[] = [];
  for (let number = 1; number <= real; number += 1) {
    const plane = await startWithPods(cleanup);
    const { url, ca, adminToken: token } = plane;
    servers.push({ name: `real-${number}`, server: { url, ca, token }, plane });
  }
  for (let started = 0; started < inMemory; started += serversInProcess) {
    const count = Math.min(serversInProcess, inMemory - started);
    const { urls, close } = await startServerProcess(program, signal, [`${count}`, 'workloads']);
    cleanup.defer(close);
    servers.push(...urls.map((url, index) => ({ name: `memory-${started + index + 1}`, server: { url } })));
  }
  const samples = await readSamples();
  const clusters: FleetCluster[] = [];
  await forEachConcurrently(startsAtOnce, servers, async (one) => {
    const isSpare = one === servers.at(-1);
    const own = isSpare ? samples.filter(({ kind }) => !withTimers.has(kind)) : samples;
    clusters.push(await startOne(cleanup, fleet, random, { ...one, objects, samples: own }, signal));
  });
  const placeOf = (cluster: FleetCluster) => servers.findIndex(({ name }) => name === cluster.name);
  return clusters.toSorted((one, other) => placeOf(one) - placeOf(other));
}

/** Starts a control plane with kube-controller-manager and a kubelet without containers. */
async function startWithPods(cleanup: AsyncDisposableStack): Promise<ControlPlane> {
  const plane = await startControlPlane({ controllerManager: true });
  cleanup.defer(() => plane.stop());
  const admin = cleanup.adopt(createClient(plane.connection(), { userAgent: 'kubelet' }), (one) => one.close());
  const kubelet = await startKubelet(admin, { execute: createBitcoinNodes().execute });
  cleanup.defer(() => kubelet.close());
  return plane;
}

type Start = Pick<FleetCluster, 'name' | 'server' | 'plane'> & {
  readonly objects: number;
  readonly samples: readonly Manifest[];
};

async function startOne(
  cleanup: AsyncDisposableStack,
  { pantry, sqs, queueUrl, visits }: Fleet,
  random: SeededRandom,
  { objects, samples, ...cluster }: Start,
  signal: AbortSignal,
): Promise<FleetCluster> {
  const { url, ca, token } = cluster.server;
  const connection: Connection = {
    server: new URL(url),
    ...(ca === undefined ? {} : { ca }),
    ...(token === undefined ? {} : { token: async () => token }),
  };
  await install(connection, root, signal);
  const client = createClient(connection);
  const applied = await applyManifests(client, samples, { signal }).finally(() => client.close());
  const api = createPlainApi(cluster.server);
  cleanup.defer(() => api.close());
  const checker = await startChecker({ api, pantry, sqs, queueUrl, requests: visits });
  cleanup.defer(() => checker.close());
  const latencies = await watchLatencies(cluster.server, 'portion-');
  cleanup.defer(() => latencies.close());
  return {
    ...cluster,
    objects,
    entry: {
      server: url,
      ...(ca === undefined ? {} : { ca }),
      access: token === undefined ? { type: 'none' } : { type: 'token', token },
    },
    // Users do not pause here: their caller spreads the edits over the clusters.
    editor: createEditor({ api, random }, { objects, pauseMilliseconds: 1 }),
    checker,
    latencies,
    sampleCount: applied.length,
    unreadySamples: async () => {
      const problems = await Promise.all(applied.map((sample) => problemOf(api, sample)));
      return problems.flatMap((problem) => (problem === undefined ? [] : [`${cluster.name}: ${problem}`]));
    },
  };
}

/** Returns why a sample is not Ready. One without a controller (Book, a Service) only has to exist. */
async function problemOf(
  api: PlainApi,
  { resource, kind, object: { metadata } }: AppliedManifest,
): Promise<string | undefined> {
  const { status, body } = await api.call('GET', objectPath(resource, metadata));
  const object = status === 200 ? parseObject(body) : undefined;
  if (object !== undefined && !showsReadiness(registry, resource)) return undefined;
  const { ready, reason, message } = readinessFor(registry, resource, object);
  return ready ? undefined : `${kind} ${metadata.name} is not Ready: ${reason} ${message}`;
}
