// The resource tree of an object: its children by their controller reference, two levels deep below the owned kinds
// (Deployment, ReplicaSet, Pod).

import { toError } from 'outrigger/internal/core/errors';
import { collectionName } from 'outrigger/internal/core/key';
import { ownerUidLabel } from 'outrigger/internal/core/names';
import { redact } from 'outrigger/internal/core/redact';
import type { KubeClient } from 'outrigger/internal/kube/client/client';
import { isForbidden, isKindNotServed } from 'outrigger/internal/kube/client/errors';
import type { KubeObject, ResourceName } from 'outrigger/internal/kube/client/object';
import { listPages } from 'outrigger/internal/kube/client/read';
import * as z from 'zod';
import { conditionTone } from './health.ts';
import { objectId } from './object-id.ts';
import type { TreeNode } from './wire.ts';

/** A kind of children. */
export type ChildKind = ResourceName & { readonly kind: string; readonly inAnyNamespace?: true | undefined };

const replicaSets: ChildKind = {
  group: 'apps',
  version: 'v1',
  plural: 'replicasets',
  namespaced: true,
  kind: 'ReplicaSet',
};
const pods: ChildKind = { group: '', version: 'v1', plural: 'pods', namespaced: true, kind: 'Pod' };
/** Kinds whose objects have pods below them. */
const workloads: readonly string[] = ['Deployment', 'StatefulSet', 'DaemonSet', 'Job'];

/** The children of an object, and the kinds that could not be listed, with the reason. */
type Children = { readonly children: readonly TreeNode[]; readonly unlisted: readonly string[] };

/** Reads the children of an object. */
export async function readChildren(
  { cluster, client }: { readonly cluster: string; readonly client: KubeClient },
  { metadata: { uid = '', namespace } }: KubeObject,
  kinds: readonly ChildKind[],
  signal: AbortSignal,
): Promise<Children> {
  const unlisted: string[] = [];
  const list = async (kind: ChildKind, labelSelector?: string): Promise<readonly KubeObject[]> => {
    const found: KubeObject[] = [];
    try {
      for await (const { items } of listPages(client, kind, {
        signal,
        labelSelector,
        ...(kind.namespaced && namespace !== undefined && kind.inAnyNamespace !== true ? { namespace } : {}),
      }))
        found.push(...items);
    } catch (error) {
      const name = collectionName(kind);
      if (isForbidden(error)) unlisted.push(`may not list ${name}`);
      else if (!isKindNotServed(error)) unlisted.push(`${name}: ${redact(toError(error).message)}`);
      return [];
    }
    return found;
  };
  const owned = await Promise.all(
    kinds.map(async (kind) => ({ kind, objects: await list(kind, `${ownerUidLabel}=${uid}`) })),
  );
  const hasWorkloads = owned.some(({ kind, objects }) => workloads.includes(kind.kind) && objects.length > 0);
  const below = hasWorkloads
    ? await Promise.all([replicaSets, pods].map(async (kind) => ({ kind, objects: await list(kind) })))
    : [];
  const childrenOf = (owner: string): readonly TreeNode[] =>
    below.flatMap(({ kind, objects }) =>
      objects
        .filter(({ metadata }) => metadata.ownerReferences?.some((one) => one.uid === owner) === true)
        // An old ReplicaSet of a Deployment has no pods any more.
        .filter((one) => kind.kind !== 'ReplicaSet' || workloadStatus.parse(one.status ?? {}).replicas !== 0)
        .map((one) => nodeOf({ cluster, kind }, one, childrenOf(one.metadata.uid ?? ''))),
    );
  const children = owned.flatMap(({ kind, objects }) =>
    objects.map((one) =>
      nodeOf({ cluster, kind }, one, workloads.includes(kind.kind) ? childrenOf(one.metadata.uid ?? '') : []),
    ),
  );
  return { children, unlisted };
}

const workloadStatus = z.looseObject({
  phase: z.string().optional().catch(undefined),
  replicas: z.number().optional().catch(undefined),
  readyReplicas: z.number().optional().catch(undefined),
  conditions: z.array(z.looseObject({ type: z.string(), status: z.string() })).catch([]),
});

const podTones: Readonly<Record<string, TreeNode['tone']>> = {
  Running: 'good',
  Succeeded: 'good',
  Pending: 'busy',
  Failed: 'bad',
};

function nodeOf(
  { cluster, kind: resource }: { readonly cluster: string; readonly kind: ChildKind },
  { metadata, status }: KubeObject,
  children: readonly TreeNode[],
): TreeNode {
  const { kind } = resource;
  const id = objectId(cluster, resource, metadata);
  const { phase, replicas, readyReplicas = 0, conditions = [] } = workloadStatus.safeParse(status ?? {}).data ?? {};
  const { name } = metadata;
  const ready = conditions.find(({ type }) => type === 'Ready' || type === 'Available');
  const of = (state: string, tone: TreeNode['tone']): TreeNode => ({ id, kind, name, state, tone, children });
  if (metadata.deletionTimestamp !== undefined) return of('Deleting', 'neutral');
  if (phase !== undefined && kind === 'Pod') return of(phase, podTones[phase] ?? 'unknown');
  if (replicas !== undefined)
    return of(`${readyReplicas} of ${replicas} ready`, readyReplicas >= replicas ? 'good' : 'busy');
  if (ready !== undefined) return of(`${ready.type} ${ready.status}`, conditionTone(ready, 'busy'));
  return of('Present', 'neutral');
}
