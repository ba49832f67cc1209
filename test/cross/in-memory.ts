// The API server of this repository, one for each stage: it starts in milliseconds, and each run of a stage is like every other.
import { registry } from '../../src/controllers/registry.ts';
import type { Registered } from '../../src/core/controller.ts';
import { existingKind } from '../../src/core/kind.ts';
import { crdOf } from '../../src/generate/crd/crd.ts';
import { ownKinds } from '../../src/generate/rbac/rbac.ts';
import { applyObject } from '../../src/kube/apply/apply.ts';
import { createClient } from '../../src/kube/client/client.ts';
import { parseObject } from '../../src/kube/client/object.ts';
import { startApiServer } from '../../src/apiserver/server.ts';
import { createBitcoinNodes } from '../../src/simulators/bitcoin.ts';
import { established } from '../support/established.ts';
import type { Platform } from './system.ts';
import { createTheatre, type Theatre } from './theatre.ts';

const definitionKind = existingKind<object>({
  group: 'apiextensions.k8s.io',
  version: 'v1',
  kind: 'CustomResourceDefinition',
  scope: 'Cluster',
});
const namespaceKind = existingKind<object>({ group: '', version: 'v1', kind: 'Namespace', scope: 'Cluster' });
/** The same in every run, so that nothing depends on when it runs. */
const beginning = Date.parse('2026-01-01T00:00:00Z');

/** The controllers on servers of their own. */
export const inMemory: Theatre = createTheatre(registry, startPlatform);

/** Starts a server with the kinds of a registry. */
async function startPlatform(controllers: readonly Registered[]): Promise<Platform> {
  const clock = { ms: beginning };
  const server = await startApiServer({ now: () => new Date(clock.ms), execute: createBitcoinNodes().execute });
  const connection = { server: new URL(server.url) };
  const client = createClient(connection);
  const options = { fieldManager: 'cross' };
  await Promise.all(
    ownKinds(controllers).map(async (kind) => {
      const definition = parseObject(crdOf(kind));
      await applyObject(client, definitionKind, definition, options);
      await established(client, definition.metadata.name);
    }),
  );
  const inNamespace = async (name: string): Promise<Omit<Platform, 'end'>> => {
    const object = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
    await applyObject(client, namespaceKind, object, options);
    return {
      connection,
      connectionOf: () => connection,
      namespace: name,
      clock,
      elsewhere: async () => ({ ...(await inNamespace('elsewhere')), end: async () => undefined }),
    };
  };
  return {
    ...(await inNamespace('cross')),
    end: async () => {
      client.close();
      await server.close();
    },
  };
}
