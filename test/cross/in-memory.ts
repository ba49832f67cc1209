// One in-memory API server for each system: it starts in milliseconds, and every run of a system is the same.

import { startApiServer } from '@outrigger/apiserver';
import { createBitcoinNodes } from '@outrigger/cli/simulators/bitcoin';
import type { ControllerDefinition } from '../../src/api/definition.ts';
import { registry } from '../../src/controllers/registry.ts';
import { crdOf } from '../../src/generate/crd/crd.ts';
import { ownKinds } from '../../src/generate/rbac/rbac.ts';
import { applyObject } from '../../src/kube/apply/apply.ts';
import { createClient } from '../../src/kube/client/client.ts';
import { parseObject } from '../../src/kube/client/object.ts';
import { CustomResourceDefinition, Namespace } from '../../src/kubernetes.ts';
import { untilEstablished } from '../support/established.ts';
import { createHarness, type Harness } from './harness.ts';
import type { Platform } from './system.ts';

/** The same in every run, so that nothing depends on the time of day. */
const beginning = Date.parse('2026-01-01T00:00:00Z');

/** The controllers, each on a server of its own. */
export const inMemory: Harness = createHarness(registry, startPlatform);

/** Starts a server with the kinds of a registry. */
async function startPlatform(controllers: readonly ControllerDefinition[]): Promise<Platform> {
  const clock = { ms: beginning };
  const server = await startApiServer({ now: () => new Date(clock.ms), execute: createBitcoinNodes().execute });
  const connection = { server: new URL(server.url) };
  const client = createClient(connection);
  const options = { fieldManager: 'cross' };
  await Promise.all(
    ownKinds(controllers).map(async (kind) => {
      const definition = parseObject(crdOf(kind));
      await applyObject(client, CustomResourceDefinition, definition, options);
      await untilEstablished(client, definition.metadata.name);
    }),
  );
  const inNamespace = async (name: string): Promise<Omit<Platform, 'end'>> => {
    const object = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
    await applyObject(client, Namespace, object, options);
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
