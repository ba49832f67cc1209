// A namespace for each test case, with an owner in it, and writes to it as another field manager.
import { afterAll, beforeAll, beforeEach } from 'vitest';
import { applyObject } from '../../src/kube/apply/apply.ts';
import { createClient, type KubeClient, type KubeResponse } from '../../src/kube/client/client.ts';
import type { Connection } from '../../src/kube/client/connection.ts';
import type { KubeObject, ResourceName } from '../../src/kube/client/object.ts';
import { objectPath } from '../../src/kube/client/path.ts';
import { getObject } from '../../src/kube/client/read.ts';

export const configMaps: ResourceName = { group: '', version: 'v1', plural: 'configmaps', namespaced: true };
export const deployments: ResourceName = { group: 'apps', version: 'v1', plural: 'deployments', namespaced: true };
const namespaces: ResourceName = { group: '', version: 'v1', plural: 'namespaces', namespaced: false };

/** The fixture of a test case. */
export type NamespaceFixture = {
  readonly client: KubeClient;
  readonly namespace: string;
  /** A ConfigMap that was just created. */
  readonly owner: KubeObject;
  /** Requests since the start of the case, as `GET /path`. */
  readonly requests: string[];
  /** Applies a ConfigMap as another manager. */
  put(name: string, values: Record<string, string>): Promise<KubeObject>;
  read(name: string): Promise<KubeObject | undefined>;
  patch(resource: ResourceName, name: string, body: object): Promise<KubeResponse>;
  remove(name: string): Promise<KubeResponse>;
};

/** Creates a namespace on a server for each case of a suite. */
export function useNamespace(connect: () => Connection): NamespaceFixture {
  const requests: string[] = [];
  let client: KubeClient;
  let owner: KubeObject;
  let count = 0;
  const suite = `${process.pid}-${Math.random().toString(36).slice(2, 8)}`;
  const namespace = () => `writes-${suite}-${count}`;
  const fieldManager = 'test';
  const key = (name: string) => ({ namespace: namespace(), name });
  const put = (name: string, values: Record<string, string>) =>
    applyObject(
      client,
      configMaps,
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: key(name), data: values },
      { fieldManager },
    );

  beforeAll(() => {
    client = createClient(connect(), { onRequest: (method, path) => requests.push(`${method} ${path}`) });
  });
  afterAll(() => client.close());
  beforeEach(async () => {
    count += 1;
    await applyObject(
      client,
      namespaces,
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace() } },
      { fieldManager },
    );
    owner = await put('owner', { a: '1' });
    requests.length = 0;
  });

  return {
    get client() {
      return client;
    },
    get namespace() {
      return namespace();
    },
    get owner() {
      return owner;
    },
    requests,
    put,
    read: (name) => getObject(client, configMaps, key(name)),
    patch: (resource, name, body) =>
      client.request({
        method: 'PATCH',
        path: objectPath(resource, key(name)),
        contentType: 'application/merge-patch+json',
        body,
      }),
    remove: (name) => client.request({ method: 'DELETE', path: objectPath(configMaps, key(name)) }),
  };
}
