// The workload simulators, run step by step without watches until nothing changes, so that a test knows when they are done. For any API server
// without a kube-controller-manager.

import { createWorkloadCluster, type WorkloadCluster } from '@outrigger/apiserver/workloads/cluster';
import { reconcileDeployment } from '@outrigger/apiserver/workloads/deployment';
import { reconcileService } from '@outrigger/apiserver/workloads/endpoint-slices';
import {
  deployments,
  endpointSlices,
  pods,
  replicaSets,
  services,
  statefulSets,
  type WorkloadKind,
  type WorkloadObject,
} from '@outrigger/apiserver/workloads/objects';
import { startPod } from '@outrigger/apiserver/workloads/pod';
import { reconcileReplicaSet } from '@outrigger/apiserver/workloads/replica-set';
import { reconcileStatefulSet } from '@outrigger/apiserver/workloads/stateful-set';
import type { KubeClient } from '../../src/kube/client/client.ts';
import { isConflict, isNotFound } from '../../src/kube/client/errors.ts';
import type { ResourceName } from '../../src/kube/client/object.ts';
import { objectPath } from '../../src/kube/client/path.ts';
import { listPages } from '../../src/kube/client/read.ts';

type Key = WorkloadObject['metadata'];

/** A roll-out needs a few rounds; more are a defect. */
const mostRounds = 50;

/** Returns whether a kind is a workload or created for one. */
export function isWorkload({ group, plural }: ResourceName): boolean {
  const ofWorkloads = [deployments, statefulSets, replicaSets, pods, services, endpointSlices];
  return ofWorkloads.some(({ resource }) => resource.group === group && resource.plural === plural);
}

/** Creates the loop over the workloads of one namespace; a call resolves when nothing changes any more. */
export function createWorkloadTurns(
  client: KubeClient,
  namespace: string,
  { now, node }: { readonly now: () => Date; readonly node?: string | undefined },
): () => Promise<void> {
  let writes = 0;
  /** What this round has read. Only the workloads' own writes change it: nothing else runs meanwhile. */
  const lists = new Map<string, Promise<readonly WorkloadObject[]>>();
  const counting: KubeClient = {
    ...client,
    request: async (request) => {
      if (request.method === 'GET') return await client.request(request);
      writes += 1;
      return await client.request(request).finally(() => lists.clear());
    },
  };
  const uncached = createWorkloadCluster(counting, AbortSignal.timeout(300_000));
  const list: WorkloadCluster['list'] = async (kind) => {
    const { plural } = kind.resource;
    const found = lists.get(plural) ?? uncached.list(kind, namespace);
    lists.set(plural, found);
    return (await found).map((one) => kind.parse(one));
  };
  const cluster: WorkloadCluster = {
    ...uncached,
    list,
    get: async (kind, { name }) => (await list(kind, namespace)).find(({ metadata }) => metadata.name === name),
  };
  let given = 0;
  const addresses = () => {
    given += 1;
    // These addresses are never called; a real API server refuses loopback in an EndpointSlice.
    return `10.1.${given >> 8}.${given & 255}`;
  };
  const steps: readonly (readonly [WorkloadKind<WorkloadObject>, (key: Key) => Promise<void>])[] = [
    [deployments, (key) => reconcileDeployment(cluster, key, now)],
    [statefulSets, (key) => reconcileStatefulSet(cluster, key)],
    [replicaSets, (key) => reconcileReplicaSet(cluster, key)],
    [pods, (key) => lookAtPod(key)],
    [services, (key) => reconcileService(cluster, key)],
    [endpointSlices, async () => undefined],
  ];
  /** The scheduler's and the kubelet's part: pods of a node end only when the node reports it. */
  async function lookAtPod(key: Key): Promise<void> {
    const pod = await cluster.get(pods, key);
    const path = objectPath(pods.resource, key);
    if (pod?.metadata.deletionTimestamp !== undefined) {
      await counting.request({ method: 'DELETE', path, body: { gracePeriodSeconds: 0 } });
    } else if (pod !== undefined && node !== undefined && pod.spec.nodeName === undefined) {
      const body = { metadata: { name: key.name }, target: { kind: 'Node', name: node } };
      await counting.request({ method: 'POST', path: `${path}/binding`, body });
    }
    await startPod(cluster, key, { addresses, now });
  }
  /** The version of the server at which nothing was left to do: the workloads do not depend on the time. */
  let quietAt: string | undefined;
  return async () => {
    for (let round = 0; round < mostRounds; round += 1) {
      const version = await serverVersion(client, namespace);
      if (version === quietAt) return;
      lists.clear();
      const before = writes;
      const uids = new Set<string>();
      for (const [kind, step] of steps) {
        for (const one of await inOrder(cluster, kind, namespace)) {
          if (isOrphan(one, uids)) await cluster.remove(kind, one);
          else {
            uids.add(one.metadata.uid);
            await step(one.metadata).catch(unlessStale);
          }
        }
      }
      if (writes === before && (await serverVersion(client, namespace)) === version) {
        quietAt = version;
        return;
      }
    }
    throw new Error(`the workloads did not come to rest in ${mostRounds} rounds`);
  };
}

/** Returns the version of the server: it rises with every write. */
export async function serverVersion(client: KubeClient, namespace: string): Promise<string> {
  for await (const page of listPages(client, services.resource, { namespace, limit: 1 })) return page.resourceVersion;
  throw new Error('a list without a page');
}

/** The kinds of owners, which come before the kinds that they own. */
const collected = ['Deployment', 'StatefulSet', 'ReplicaSet', 'Service'];

/** Returns whether the owner of an object is gone; stands in for the garbage collector. */
function isOrphan({ metadata }: WorkloadObject, uids: ReadonlySet<string>): boolean {
  const { ownerReferences = [], deletionTimestamp } = metadata;
  return (
    deletionTimestamp === undefined &&
    ownerReferences.some(({ kind, uid }) => collected.includes(kind) && !uids.has(uid))
  );
}

/** In order of creation, so that addresses are assigned in the same order in every run. */
async function inOrder(
  cluster: WorkloadCluster,
  kind: WorkloadKind<WorkloadObject>,
  namespace: string,
): Promise<readonly WorkloadObject[]> {
  const all = await cluster.list(kind, namespace);
  return [...all].sort((a, b) => a.metadata.creationTimestamp.localeCompare(b.metadata.creationTimestamp));
}

/** The next round reads it again. */
function unlessStale(error: unknown): void {
  if (!isConflict(error) && !isNotFound(error)) throw error;
}
