// A Kubernetes API server for tests, in the test's own process: nothing is downloaded, and it starts in milliseconds.
// It is the server of @outrigger/apiserver, which passes the same conformance suite as a real kube-apiserver, with a
// client and the objects of the test.
import { isDeepStrictEqual } from 'node:util';
import { type ApiServer, type ApiServerOptions, startApiServer as startServer } from '@outrigger/apiserver';
import { type AnyCustomKind, isCustomKind } from '../api/custom-kind.ts';
import type { ControllerDefinition } from '../api/definition.ts';
import type { Kind, ObjectOf } from '../api/kind.ts';
import { kindOfRead } from '../api/reads.ts';
import { toError, UserError } from '../core/errors.ts';
import { isRecord } from '../core/json.ts';
import type { Key } from '../core/key.ts';
import { functionUser, functionUserAgent } from '../core/names.ts';
import { crdOf } from '../generate/crd/crd.ts';
import { policiesOf } from '../generate/rbac/rbac.ts';
import { applyStatus } from '../kube/apply/apply.ts';
import { createClient, type KubeClient } from '../kube/client/client.ts';
import { isNotFound } from '../kube/client/errors.ts';
import { parseObject } from '../kube/client/object.ts';
import { objectPath } from '../kube/client/path.ts';
import { getObject, listPages } from '../kube/client/read.ts';
import { type AppliedManifest, applyManifests, type Manifest, readManifests } from './manifests.ts';

/** Options of startApiServer. */
export type TestApiServerOptions = Pick<ApiServerOptions, 'now' | 'execute' | 'readLog' | 'eventWindow'> & {
  /** Kinds of defineKind, CustomResourceDefinitions as objects, or files and folders with their YAML. */
  readonly crds?: readonly (AnyCustomKind | object | string)[];
  /** Objects with apiVersion and kind, or files and folders with their YAML; applied in this order after the CRDs. */
  readonly objects?: readonly (object | string)[];
};

/** A running server for tests. */
export type TestApiServer = ApiServer &
  AsyncDisposable & {
    /** For requests of every kind. It retries nothing. */
    readonly client: KubeClient;
    /**
     * Applies objects with apiVersion and kind, server-side. Without a namespace they go to `default`. A status is
     * applied too, as the controller of a foreign kind would write it.
     */
    apply(...objects: readonly object[]): Promise<void>;
    /** Reads an object; undefined if it does not exist. */
    get<K extends Kind>(kind: K, key: Key): Promise<ObjectOf<K> | undefined>;
    /** Lists the objects of a kind, in one namespace or in all. */
    list<K extends Kind>(kind: K, options?: { readonly namespace?: string }): Promise<readonly ObjectOf<K>[]>;
    /** Changes an object by a JSON merge patch, as another client would. */
    patch(kind: Kind, key: Key, change: object): Promise<void>;
    /** Deletes an object. It stays until its finalizers are removed. */
    delete(kind: Kind, key: Key): Promise<void>;
  };

const startSeconds = 15;

/**
 * Starts a server with these kinds and objects. Resolves when it serves them.
 * @throws UserError that names the object which the server refuses, and the reason
 * @example await using server = await startApiServer({ crds: [WaterTank], objects: ['samples'] });
 */
export async function startApiServer(options: TestApiServerOptions = {}): Promise<TestApiServer> {
  return await startServerWithout([], options);
}

/**
 * Starts a server for controllers, with their generated admission policies. Like a cluster, it ignores the status of
 * applied objects of their own kinds.
 */
export async function startServerOf(
  controllers: readonly ControllerDefinition[],
  { crds = [], ...options }: TestApiServerOptions,
): Promise<TestApiServer & { /** The client of a controller's function. */ clientOf(controller: string): KubeClient }> {
  const own = controllers.map(({ declaration: { resource } }) => resource).filter(isCustomKind);
  const given = [...crds, ...controllers];
  const [first = given] = controllers;
  const known = installed.get(first);
  const isKnown = known?.given.length === given.length && known.given.every((one, index) => one === given[index]);
  const server = await startServerWithout(own, {
    ...options,
    ...(isKnown ? { snapshot: known.snapshot } : { crds: [...crds, ...policiesOf(controllers)] }),
    onInstalled: (snapshot) => void installed.set(first, { given, snapshot }),
  });
  const clients = new Map<string, KubeClient>();
  const close = async () => {
    for (const client of clients.values()) client.close();
    await server.close();
  };
  return {
    ...server,
    clientOf: (controller) => {
      const userAgent = functionUserAgent(controller);
      const client = clients.get(controller) ?? createClient({ server: new URL(server.url) }, { userAgent });
      clients.set(controller, client);
      return client;
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

type Snapshot = ReturnType<ApiServer['snapshot']>;

/** What the last server for a controller had before its objects: a battery starts hundreds of them. */
const installed = new WeakMap<object, { readonly given: readonly unknown[]; readonly snapshot: Snapshot }>();

async function startServerWithout(
  statusesOf: readonly Kind[],
  {
    crds = [],
    objects = [],
    onInstalled = () => undefined,
    ...options
  }: TestApiServerOptions & { readonly snapshot?: Snapshot; readonly onInstalled?: (snapshot: Snapshot) => void },
): Promise<TestApiServer> {
  const ignored = new Set(statusesOf.map(({ apiVersion, kind }) => `${apiVersion} ${kind}`));
  const server = await startServer({ ...options, identify: functionUser });
  const client = createClient({ server: new URL(server.url) });
  async function applyAll(manifests: readonly Manifest[]): Promise<void> {
    for (const manifest of manifests) {
      try {
        // This server serves a CRD at once. A wait would outlast the test of an object whose kind is misspelt.
        const signal = AbortSignal.timeout(startSeconds * 1000);
        for (const applied of await applyManifests(client, [manifest], { signal, attempts: 3 }))
          if (!ignored.has(`${manifest.apiVersion} ${manifest.kind}`))
            await applyGivenStatus(client, applied, manifest, signal);
      } catch (error) {
        if (error instanceof UserError) throw error;
        const { file, kind, object } = manifest;
        throw new UserError(`${file}: ${kind} ${object.metadata.name}: ${toError(error).message}`, { cause: error });
      }
    }
  }
  async function close(): Promise<void> {
    client.close();
    await server.close();
  }
  try {
    for (const [position, crd] of crds.entries()) await applyAll(await manifestsOf(crd, `crds[${position}]`));
    onInstalled(server.snapshot());
    for (const [position, object] of objects.entries())
      await applyAll(await manifestsOf(object, `objects[${position}]`));
  } catch (error) {
    await close();
    throw error;
  }
  return {
    ...server,
    client,
    apply: async (...given) => {
      for (const [position, object] of given.entries()) {
        await applyAll(await manifestsOf(object, `apply, argument ${position + 1}`));
      }
    },
    get: async (kind, key) => {
      const found = await getObject(client, kind, key);
      return found === undefined ? undefined : readAs(kind, found);
    },
    list: async (kind, { namespace } = {}) => {
      const all = [];
      for await (const page of listPages(client, kind, { namespace })) all.push(...page.items);
      return all.map((one) => readAs(kind, { apiVersion: kind.apiVersion, kind: kind.kind, ...one }));
    },
    patch: async (kind, key, change) => {
      const contentType = 'application/merge-patch+json';
      await client.request({ method: 'PATCH', path: objectPath(kind, key), contentType, body: change });
    },
    delete: async (kind, key) => void (await client.request({ method: 'DELETE', path: objectPath(kind, key) })),
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** Applies the status of a manifest, if it has one: the API server ignores it when the object itself is applied. */
async function applyGivenStatus(
  client: KubeClient,
  { resource, object: { metadata, status: stored } }: AppliedManifest,
  { apiVersion, kind, object: { status } }: Manifest,
  signal: AbortSignal,
): Promise<void> {
  // kubebuilder and kubectl write an empty one.
  const isEmpty = !isRecord(status) || Object.keys(status).length === 0;
  // A kind without a status subresource has stored it.
  if (isEmpty || kind === 'CustomResourceDefinition' || isDeepStrictEqual(status, stored)) return;
  // Of any version: a controller may write the object meanwhile.
  const target = { apiVersion, kind, key: metadata, uid: metadata.uid, resourceVersion: undefined };
  const options = { fieldManager: 'outrigger-test-status', signal };
  await applyStatus(client, resource, target, status, options).catch((error: unknown) => {
    // A kind without a status subresource may have added defaults.
    if (!isNotFound(error)) throw error;
  });
}

/** A kind's own `read` gives its objects; the compiler cannot see that it is that kind's. */
function readAs<K extends Kind>(kind: K, object: object): ObjectOf<K> {
  return kind.read(object) as ObjectOf<K>;
}

async function manifestsOf(given: AnyCustomKind | object | string, file: string): Promise<readonly Manifest[]> {
  if (typeof given === 'string') return await readManifests(given);
  const object = isCustomKind(given) ? crdOf(given) : given;
  const { apiVersion, kind } = { apiVersion: undefined, kind: undefined, ...object };
  if (typeof apiVersion !== 'string' || typeof kind !== 'string') {
    throw new TypeError(`${file}: apiVersion and kind are needed`);
  }
  return [{ file, apiVersion, kind, object: parseObject(object) }];
}

/** The kinds of defineKind that the controllers reconcile, own, read or watch, each once. */
export function ownKinds(controllers: readonly ControllerDefinition[]): readonly AnyCustomKind[] {
  const kinds: readonly Kind[] = controllers.flatMap(({ declaration: { resource, owns, reads, watches } }) => [
    resource,
    ...owns,
    ...reads.map(kindOfRead),
    ...watches.map(({ kind }) => kind),
  ]);
  return [...new Set(kinds)].filter(isCustomKind);
}
