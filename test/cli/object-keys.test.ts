// The objects in the plan of a controller: `outrigger replay --all --dry-run`. What the command prints is
// test/cli/replay.test.ts.

import { keysOf } from '@outrigger/cli/commands/object-keys';
import { expect, it } from 'vitest';
import { Foo, foo } from '../../src/controllers/foo.ts';
import { tenantNetwork } from '../../src/controllers/tenant-network.ts';
import type { KubeClient } from '../../src/kube/client/client.ts';
import type { ControllerDefinition } from '../../src/outrigger.ts';
import { startApiServer } from '../../src/testing.ts';

const aNamespace = (name: string, labels: Readonly<Record<string, string>> = {}) => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name, labels },
});
const aFoo = (namespace: string, name: string) => ({
  apiVersion: 'samples.example.com/v1',
  kind: 'Foo',
  metadata: { namespace, name },
  spec: { deploymentName: name },
});

async function planned(
  controller: ControllerDefinition,
  objects: readonly object[],
  options: { readonly namespaces?: readonly string[] } = {},
): Promise<readonly string[]> {
  await using server = await startApiServer({ crds: [Foo], objects });
  const names: string[] = [];
  const { signal } = new AbortController();
  // Each page has one object.
  const request: KubeClient['request'] = async (one) =>
    await server.client.request({ ...one, query: { ...one.query, limit: 1 } });
  const client = { ...server.client, request };
  for await (const { name } of keysOf(controller, { project: 'outrigger', ...options }, client, 'local', signal))
    names.push(name);
  return names;
}

it('TN4: the plan has the objects that the selector selects and those that are still held, of all pages, and no others', async () => {
  const held = 'outrigger.dev/managed-by-tenant-network';
  const both = aNamespace('both', { tenant: 'true', [held]: 'true' });
  const left = aNamespace('left', { [held]: 'true' });
  const all = [both, left, aNamespace('plain'), aNamespace('selected', { tenant: 'true' })];
  expect(await planned(tenantNetwork, all)).toEqual(['both', 'selected', 'left']);
});

it('the plan of a project with namespaces has only objects in these', async () => {
  const all = [aNamespace('one'), aNamespace('two'), aFoo('one', 'a'), aFoo('two', 'b')];
  expect(await planned(foo, all, { namespaces: ['two'] })).toEqual(['b']);
});
