// The stand-in's way into the API: fresh reads, and whole objects written with the version they were read at, as
// kube-controller-manager writes them. It keeps no copy of anything, so it is never wrong about what it has just made.
import { isDeepStrictEqual } from 'node:util';
import type { KubeClient } from '../../kube/client/client.ts';
import { isConflict, isNotFound } from '../../kube/client/errors.ts';
import type { KubeObject, ObjectKey } from '../../kube/client/object.ts';
import { collectionPath, objectPath } from '../../kube/client/path.ts';
import { getObject, listPages } from '../../kube/client/read.ts';
import type { WorkloadKind, WorkloadObject } from './objects.ts';

/** Reads and writes of workloads. Errors are the client's; a conflict means that a newer version is on its way to us. */
export type WorkloadCluster = {
  get<T extends WorkloadObject>(kind: WorkloadKind<T>, key: ObjectKey): Promise<T | undefined>;
  list<T extends WorkloadObject>(kind: WorkloadKind<T>, namespace: string): Promise<readonly T[]>;
  create<T extends WorkloadObject>(kind: WorkloadKind<T>, namespace: string, object: object): Promise<T>;
  /** Writes the object, unless `changed` is what it was. */
  replace<T extends WorkloadObject>(kind: WorkloadKind<T>, live: T, changed: object): Promise<T>;
  /** Writes the status, and annotations, unless both are what they were. */
  replaceStatus<T extends WorkloadObject>(kind: WorkloadKind<T>, live: T, changed: object): Promise<T>;
  /** Deletes this very object; one that is gone already is fine. */
  remove<T extends WorkloadObject>(kind: WorkloadKind<T>, live: T): Promise<void>;
};

const query = { fieldManager: 'kube-controller-manager' };

/** Creates the way in. Every call ends when the signal aborts. */
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
