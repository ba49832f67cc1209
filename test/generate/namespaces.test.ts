// Only what is generated for a project with some namespaces: Roles, the watch list and the resync function, and the list
// in package.json. The lists and watches are test/resync/namespaces.test.ts and test/forwarding/watch-loops.test.ts.

import { generatedFiles } from '@outrigger/cli/project/manifests';
import { readNamespaces } from '@outrigger/cli/project/project';
import { expect, it } from 'vitest';
import * as z from 'zod';
import { memcachedProxy } from '../../src/controllers/memcached-proxy.ts';
import { tenantNetwork } from '../../src/controllers/tenant-network.ts';
import { rbacOf } from '../../src/generate/rbac/rbac.ts';
import { watchListOf } from '../../src/generate/watch-list.ts';
import { Namespace } from '../../src/kubernetes.ts';
import { useFolder } from '../support/folder.ts';

const folder = useFolder();
const namespaces = ['shop', 'office'];
const placeReporter = Namespace.controller('place-reporter', { reconcile: async () => undefined });
const registry = [memcachedProxy, placeReporter];
const watchList = watchListOf(registry, undefined, namespaces);
const rules = z.array(z.object({ apiGroups: z.array(z.string()), resources: z.array(z.string()) }));
const role = z.object({
  kind: z.enum(['Role', 'ClusterRole']),
  metadata: z.object({ name: z.string(), namespace: z.string().optional() }),
  rules,
});
const roles = rbacOf(registry, watchList).flatMap((one) => role.safeParse(one).data ?? []);

/** The resources that a role permits, by namespace; '' for a ClusterRole. */
function permitted(name: string): Readonly<Record<string, readonly string[]>> {
  const own = roles.filter(({ metadata }) => metadata.name === name);
  return Object.fromEntries(
    own.map(({ metadata, rules: some }) => [
      metadata.namespace ?? '',
      some.flatMap(({ resources }) => resources).sort(),
    ]),
  );
}

it('a project with namespaces has a Role in each, and a ClusterRole only for resources outside of namespaces', () => {
  for (const namespace of namespaces)
    expect(permitted('outrigger-memcached-proxy')[namespace]).toEqual(
      expect.arrayContaining(['configmaps', 'deployments', 'services']),
    );
  expect(Object.keys(permitted('outrigger-memcached-proxy')).sort()).toEqual(['', 'office', 'shop']);
  // The identity of the cluster.
  expect(permitted('outrigger-memcached-proxy')['']).toEqual(['namespaces']);
  expect(permitted('outrigger-place-reporter')).toEqual({
    '': ['namespaces', 'namespaces'],
    shop: ['events'],
    office: ['events'],
    default: ['events'],
  });
  expect(permitted('outrigger-watcher')['']).toEqual(['namespaces', 'namespaces']);
  expect(permitted('outrigger-watcher').shop).toContain('memcachedproxies');
  expect(permitted('outrigger-resync')).toMatchObject({ '': ['namespaces'], shop: ['memcachedproxies'] });
});

it('children in all namespaces are refused where a project has only some', () => {
  expect(() => generatedFiles([tenantNetwork], [], undefined, namespaces)).toThrow(
    'Namespace has no namespace, so its networkpolicies are listed in all namespaces',
  );
});

it('the watch list has the namespaces', () => {
  expect(watchList.namespaces).toEqual(namespaces);
});

it.each<[string, unknown, string | undefined]>([
  ['a list', ['shop', 'office'], undefined],
  ['an empty list', [], 'namespaces'],
  ['a name that is none', ['shop/office'], 'must be the name of a namespace'],
  ['the namespace of a watcher', ['outrigger-system'], 'is the namespace of a watcher'],
  ['a namespace twice', ['shop', 'shop'], 'twice'],
  ['more than 20', Array.from({ length: 21 }, (_, index) => `n${index}`), 'more than 20'],
])('package.json may have %s of namespaces', async (_, given, problem) => {
  await folder.write('package.json', JSON.stringify({ outrigger: { namespaces: given } }));
  const reading = readNamespaces(folder.path);
  if (problem === undefined) expect(await reading).toEqual(given);
  else await expect(reading).rejects.toThrow(problem);
});
