// The workload simulator's access to the API: uncached reads, and writes of whole objects with the resourceVersion they
// were read at, as kube-controller-manager writes them. It has no cache, so it always reads its own writes.

import { isDeepStrictEqual } from 'node:util';
import type { KubeClient } from 'outrigger/internal/kube/client/client';
import { isConflict, isNotFound } from 'outrigger/internal/kube/client/errors';
import type { KubeObject, ObjectKey } from 'outrigger/internal/kube/client/object';
import { collectionPath, objectPath } from 'outrigger/internal/kube/client/path';
import { getObject, listPages } from 'outrigger/internal/kube/client/read';
import type { WorkloadKind, WorkloadObject } from './objects.ts';

/**
 * Reads and writes of workloads. Errors are the client's. A conflict means that a watch event with a newer version
 * follows.
 */
export type WorkloadCluster = {
  get<T extends WorkloadObject>(kind: WorkloadKind<T>, key: ObjectKey): Promise<T | undefined>;
  list<T extends WorkloadObject>(kind: WorkloadKind<T>, namespace: string): Promise<readonly T[]>;
  create<T extends WorkloadObject>(kind: WorkloadKind<T>, namespace: string, object: object): Promise<T>;
  /** Writes the object, unless `changed` is equal to `live`. */
  replace<T extends WorkloadObject>(kind: WorkloadKind<T>, live: T, changed: object): Promise<T>;
  /** Writes the status and annotations, unless both are equal to those of `live`. */
  replaceStatus<T extends WorkloadObject>(kind: WorkloadKind<T>, live: T, changed: object): Promise<T>;
  /** Deletes this object, matched by uid; an object that no longer exists is not an error. */
  remove<T extends WorkloadObject>(kind: WorkloadKind<T>, live: T): Promise<void>;
};

const query = { fieldManager: 'kube-controller-manager' };

/** Creates the access. Every request ends when the signal aborts. */
export function createWorkloadCluster(client: KubeClient, signal: AbortSignal): WorkloadCluster {
  const put = async <T extends WorkloadObject>(
    kind: WorkloadKind<T>,
    live: T,
    changed: object,
    subresource?: string,
  ): Promise<T> => {
    if (isDeepStrictEqual(live, changed)) return live;
    const path = objectPath(kind.resource, live.metadata, subresource);
    const body = { ...changed, apiVersion: kind.apiVersion, kind: kind.kind };
    return kind.parse((await client.request({ method: 'PUT', path, query, body, signal })).body);
  };
  return {
    async get(kind, key) {
      const found = await getObject(client, kind.resource, key, { signal });
      return found === undefined ? undefined : kind.parse(found);
    },
    async list(kind, namespace) {
      const items: KubeObject[] = [];
      for await (const page of listPages(client, kind.resource, { namespace, signal })) items.push(...page.items);
      return items.map(kind.parse);
    },
    async create(kind, namespace, object) {
      const path = collectionPath(kind.resource, namespace);
      const body = { ...object, apiVersion: kind.apiVersion, kind: kind.kind };
      return kind.parse((await client.request({ method: 'POST', path, query, body, signal })).body);
    },
    replace: (kind, live, changed) => put(kind, live, changed),
    replaceStatus: (kind, live, changed) => put(kind, live, changed, 'status'),
    async remove({ resource }, { metadata }) {
      const body = { apiVersion: 'v1', kind: 'DeleteOptions', preconditions: { uid: metadata.uid } };
      try {
        await client.request({ method: 'DELETE', path: objectPath(resource, metadata), body, signal });
      } catch (error) {
        if (!isNotFound(error) && !isConflict(error)) throw error;
      }
    },
  };
}
