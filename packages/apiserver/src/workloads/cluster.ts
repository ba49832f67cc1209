// The workloads' access to the API: uncached reads, and writes of whole objects with the resourceVersion they were read
// at, as kube-controller-manager writes them. It has no cache, so it always reads its own writes.
import { isDeepStrictEqual } from 'node:util';
import { isOutdated, pathOf, type WorkloadsClient } from './client.ts';
import type { WorkloadKey, WorkloadKind, WorkloadObject } from './objects.ts';

/**
 * Reads and writes of workloads. Errors are the client's. A conflict means that a watch event with a newer version
 * follows.
 */
export type WorkloadCluster = {
  get<T extends WorkloadObject>(kind: WorkloadKind<T>, key: WorkloadKey): Promise<T | undefined>;
  list<T extends WorkloadObject>(kind: WorkloadKind<T>, namespace?: string): Promise<readonly T[]>;
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
export function createWorkloadCluster(client: WorkloadsClient, signal: AbortSignal): WorkloadCluster {
  const put = async <T extends WorkloadObject>(
    { resource, apiVersion, kind, parse }: WorkloadKind<T>,
    live: T,
    changed: object,
    at: { readonly subresource?: string } = {},
  ): Promise<T> => {
    if (isDeepStrictEqual(live, changed)) return live;
    const { namespace, name } = live.metadata;
    const path = pathOf(resource, { namespace, name, ...at });
    const body = { ...changed, apiVersion, kind };
    return parse((await client.request({ method: 'PUT', path, query, body, signal })).body);
  };
  return {
    async get({ resource, parse }, { name, namespace = '' }) {
      try {
        return parse(
          (await client.request({ method: 'GET', path: pathOf(resource, { namespace, name }), signal })).body,
        );
      } catch (error) {
        if ((error as { readonly status?: unknown }).status === 404) return undefined;
        throw error;
      }
    },
    async list({ resource, parse }, namespace) {
      const path = pathOf(resource, namespace === undefined ? {} : { namespace });
      const { items } = (await client.request({ method: 'GET', path, signal })).body as { readonly items: unknown[] };
      return items.map(parse);
    },
    async create({ resource, apiVersion, kind, parse }, namespace, object) {
      const path = pathOf(resource, { namespace });
      const body = { ...object, apiVersion, kind };
      return parse((await client.request({ method: 'POST', path, query, body, signal })).body);
    },
    replace: (kind, live, changed) => put(kind, live, changed),
    replaceStatus: (kind, live, changed) => put(kind, live, changed, { subresource: 'status' }),
    async remove({ resource }, { metadata: { namespace, name, uid } }) {
      const body = { apiVersion: 'v1', kind: 'DeleteOptions', preconditions: { uid } };
      try {
        await client.request({ method: 'DELETE', path: pathOf(resource, { namespace, name }), body, signal });
      } catch (error) {
        if (!isOutdated(error)) throw error;
      }
    },
  };
}
