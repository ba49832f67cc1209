// Only the move of stored objects to another version of their kind: on a real server they are in etcd, and cannot be read
// any more after their version was removed.

import { migrateVersions } from '@outrigger/cli/operations/migrate-versions';
import { expect, it } from 'vitest';
import * as z from 'zod';
import { defineKind } from '../../src/api/custom-kind.ts';
import { crdOf } from '../../src/generate/crd/crd.ts';
import { applyObject } from '../../src/kube/apply/apply.ts';
import { parseObject } from '../../src/kube/client/object.ts';
import { getObject, listPages } from '../../src/kube/client/read.ts';
import { CustomResourceDefinition } from '../../src/kubernetes.ts';
import { useClient } from '../harness/api-server.ts';
import { applyDefinition } from '../support/established.ts';
import { interceptRequests } from '../support/intercept-requests.ts';

const { signal } = new AbortController();
const kindOf = (version: string, formerVersions: string[] = []) =>
  defineKind({
    group: 'moved.example.com',
    version,
    formerVersions,
    kind: 'Crate',
    conditions: [],
    spec: z.object({ size: z.int() }),
    status: z.object({}),
  });
const [before, both, after] = [kindOf('v1alpha1'), kindOf('v1', ['v1alpha1']), kindOf('v1')];
const definitionOf = (kind: typeof before) => parseObject(crdOf(kind));
const client = await useClient(definitionOf(before));
const key = { name: 'crates.moved.example.com' };
const storedVersions = async () => {
  const { status } = (await getObject(client, CustomResourceDefinition, key)) ?? {};
  return z.object({ storedVersions: z.array(z.string()) }).parse(status).storedVersions;
};
const sizes = async () => {
  const found: unknown[] = [];
  for await (const { items } of listPages(client, after, {})) found.push(...items.map(({ spec }) => spec));
  return found;
};

it('U17: a move that was killed is repeated, and the objects can be read without the former version', async () => {
  for (const size of [1, 2, 3]) {
    const metadata = { namespace: 'default', name: `crate-${size}` };
    const crate = { apiVersion: before.apiVersion, kind: 'Crate', metadata, spec: { size } };
    await applyObject(client, before, crate, { fieldManager: 'test' });
  }
  await applyDefinition(client, definitionOf(both));
  expect((await storedVersions()).toSorted()).toEqual(['v1', 'v1alpha1']);
  await expect(applyDefinition(client, definitionOf(after))).rejects.toThrow('storedVersions');

  const killed = interceptRequests(client, ({ path, method }) => {
    if (method === 'PATCH' && path.endsWith('crate-2')) throw new Error('killed');
  });
  await expect(migrateVersions(killed, both, { signal })).rejects.toThrow('killed');
  expect(await storedVersions()).toContain('v1alpha1');

  const moved = await migrateVersions(client, both, { signal });
  expect(moved).toEqual({ version: 'v1', former: ['v1alpha1'], objects: 3 });
  expect(await storedVersions()).toEqual(['v1']);
  expect(await migrateVersions(client, both, { signal })).toMatchObject({ former: [], objects: 0 });
  await applyDefinition(client, definitionOf(after));
  await expect.poll(sizes).toEqual([{ size: 1 }, { size: 2 }, { size: 3 }]);
});
