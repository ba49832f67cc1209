// The clusters of a fleet: API servers in memory, several in a process, and real control planes. Each has its users, its
// checker and a client that measures the latencies of its changes.
import * as z from 'zod';
import { applyManifests, type Manifest, readManifests } from '../../../src/dev/manifests.ts';
import { createClient } from '../../../src/kube/client/client.ts';
import type { Connection } from '../../../src/kube/client/connection.ts';
import { objectPath } from '../../../src/kube/client/path.ts';
import type { Fleet } from '../../../test/fleet/fleet.ts';
import { install } from '../../../test/fleet/member.ts';
import { startServerProcess } from '../../../test/support/server-process.ts';
import type { ControlPlane } from '../../control-plane/control-plane.ts';
import { startControlPlane } from '../../control-plane/start.ts';
import { type Checker, startChecker } from '../checker.ts';
import { createEditor, type Editor } from '../editor.ts';
import { type Latencies, watchLatencies } from '../latencies.ts';
import { createPlainApi, type PlainServer } from '../plain-api.ts';
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
  /** Returns the samples whose condition Ready is not True for their generation, one line each. */
  unreadySamples(): Promise<readonly string[]>;
};

/** The number of clusters, and of the objects that users change in each. */
export type FleetSize = { readonly inMemory: number; readonly real: number; readonly objects: number };

const root = new URL('../../..', import.meta.url).pathname;
const program = new URL('../../../test/fleet/api-server-program.ts', import.meta.url);
/** API servers in one process. */
const serversInProcess = 10;
/** The samples without pods: a fleet has no kubelet. Book has no controller, and so no status. */
const sampleFiles = ['ingredient', 'dinner', 'water-tanks', 'book'];
const withoutStatus = new Set(['Book']);
/** The last cluster has none of them: after it was removed, their timers would be dead letters. */
const withTimers = new Set(['WaterTank']);
const startsAtOnce = 4;

/** The controllers whose samples a cluster of the fleet has. */
export const fleetControllers: readonly string[] = ['ingredient', 'dinner', 'water-tank'];

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
    const plane = await startControlPlane();
    cleanup.defer(() => plane.stop());
    const { url, ca, adminToken: token } = plane;
    servers.push({ name: `real-${number}`, server: { url, ca, token }, plane });
  }
  for (let started = 0; started < inMemory; started += serversInProcess) {
    const count = Math.min(serversInProcess, inMemory - started);
    const { urls, close } = await startServerProcess(program, signal, [`${count}`]);
    cleanup.defer(close);
    servers.push(...urls.map((url, index) => ({ name: `memory-${started + index + 1}`, server: { url } })));
  }
  const samples = (
    await Promise.all(sampleFiles.map((name) => readManifests(`${root}/infra/kubernetes/samples/${name}.yaml`)))
  ).flat();
  const clusters: FleetCluster[] = [];
  const next = servers.values();
  const starter = async () => {
    for (const one of next) {
      const isSpare = one === servers.at(-1);
      const own = isSpare ? samples.filter(({ kind }) => !withTimers.has(kind)) : samples;
      clusters.push(await startOne(cleanup, fleet, random, { ...one, objects, samples: own }, signal));
    }
  };
  await Promise.all(Array.from({ length: startsAtOnce }, starter));
  const placeOf = (cluster: FleetCluster) => servers.findIndex(({ name }) => name === cluster.name);
  return clusters.toSorted((one, other) => placeOf(one) - placeOf(other));
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
      const states = applied
        .filter(({ kind }) => !withoutStatus.has(kind))
        .map(async ({ resource, kind, object: { metadata } }) => {
          const { namespace, name } = metadata;
          const key = namespace === undefined ? { name } : { namespace, name };
          const { body } = await api.call('GET', objectPath(resource, key));
          return isReady(body) ? [] : [`${cluster.name}: ${kind} ${name} is not Ready`];
        });
      return (await Promise.all(states)).flat();
    },
  };
}

const conditioned = z.looseObject({
  metadata: z.looseObject({ generation: z.number() }),
  status: z.looseObject({
    observedGeneration: z.number(),
    conditions: z.array(z.looseObject({ type: z.string(), status: z.string() })),
  }),
});

function isReady(object: unknown): boolean {
  const { success, data } = conditioned.safeParse(object);
  if (!success || data.status.observedGeneration !== data.metadata.generation) return false;
  return data.status.conditions.some(({ type, status }) => type === 'Ready' && status === 'True');
}
