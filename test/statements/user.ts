// What a person with kubectl does in a statement: write specs, look, delete. It has a client of its own, so that a test that
// counts requests counts the controllers' alone.
import type { Kind } from '../../src/api/kind.ts';
import type { Condition } from '../../src/api/result.ts';
import { isRecord } from '../../src/core/json.ts';
import { applyObject } from '../../src/kube/apply/apply.ts';
import type { KubeClient } from '../../src/kube/client/client.ts';
import type { KubeObject } from '../../src/kube/client/object.ts';
import { objectPath } from '../../src/kube/client/path.ts';
import { getObject, listPages } from '../../src/kube/client/read.ts';
import { Event } from '../../src/kubernetes.ts';

/** A person, in one namespace. */
export type User = {
  readonly namespace: string;
  /** Applies spec and metadata; whatever is not named is dropped, as with kubectl apply. */
  apply(kind: Kind, name: string, spec: object, metadata?: object): Promise<KubeObject>;
  /** Applies an object with any content, where a kind has no spec. */
  put(kind: Kind, name: string, content: object, metadata?: object): Promise<KubeObject>;
  get(kind: Kind, name: string): Promise<KubeObject | undefined>;
  /** Gets what must be there. */
  read(kind: Kind, name: string): Promise<KubeObject>;
  list(kind: Kind): Promise<readonly KubeObject[]>;
  /** The Events of a reason, or all, as `count x type reason: message`, sorted. */
  events(reason?: string): Promise<readonly string[]>;
  /** Merges a patch into the object, or into a subresource. */
  patch(kind: Kind, name: string, patch: object, subresource?: 'status'): Promise<KubeObject>;
  /** Replaces the whole status. */
  replaceStatus(kind: Kind, name: string, status: object): Promise<void>;
  delete(kind: Kind, name: string): Promise<void>;
};

/** Creates a user. */
export function createUser(client: KubeClient, namespace: string): User {
  const get = async (kind: Kind, name: string) => await getObject(client, kind, { name, namespace });
  const read = async (kind: Kind, name: string) => {
    const object = await get(kind, name);
    if (object === undefined) throw new Error(`there is no ${kind.kind} ${name}`);
    return object;
  };
  const put: User['put'] = async (kind, name, content, metadata = {}) => {
    const { apiVersion, kind: named } = kind;
    const object = { apiVersion, kind: named, ...content, metadata: { ...metadata, name, namespace } };
    return await applyObject(client, kind, object, { fieldManager: 'user' });
  };
  const list = async (kind: Kind) => {
    const all: KubeObject[] = [];
    for await (const { items } of listPages(client, kind, { namespace })) all.push(...items);
    return all;
  };
  return {
    namespace,
    get,
    read,
    put,
    apply: async (kind, name, spec, metadata) => await put(kind, name, { spec }, metadata),
    list,
    events: async (wanted) =>
      (await list(Event))
        .map((raw) => Event.read(raw))
        .filter(({ reason }) => wanted === undefined || reason === wanted)
        .map(({ count, type, reason, message }) => `${count} x ${type} ${reason}: ${message}`)
        .sort(),
    patch: async (kind, name, patch, subresource) => {
      await client.request({
        method: 'PATCH',
        path: objectPath(kind, { name, namespace }, subresource),
        contentType: 'application/merge-patch+json',
        body: patch,
      });
      return await read(kind, name);
    },
    replaceStatus: async (kind, name, status) => {
      const path = objectPath(kind, { name, namespace }, 'status');
      await client.request({ method: 'PUT', path, body: { ...(await read(kind, name)), status } });
    },
    delete: async (kind, name) => {
      await client.request({ method: 'DELETE', path: objectPath(kind, { name, namespace }) });
    },
  };
}

/** A condition of an object's status. */
export function conditionOf(object: KubeObject | undefined, type: string): Condition | undefined {
  const status: unknown = object?.status;
  const conditions: unknown = isRecord(status) ? status.conditions : undefined;
  return Array.isArray(conditions) ? conditions.find((one) => isRecord(one) && one.type === type) : undefined;
}
