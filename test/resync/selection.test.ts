// The lists of a controller with a selector, of a kind that is not ours: what they select, and the objects that were left
// behind. What the function then does is test/statements/tenant-network.test.ts.
import { expect, it } from 'vitest';
import { tenantNetwork } from '../../src/controllers/tenant-network.ts';
import { metricNames } from '../../src/core/metrics.ts';
import { ConfigMap } from '../../src/kubernetes.ts';
import { sendJson } from '../kube/wire-server.ts';
import { names, resyncFixture, serving } from './resync-harness.ts';

const { aResync } = resyncFixture();
const held = 'outrigger.dev/managed-by-tenant-network';

const aNamespace = (name: string, labels: Readonly<Record<string, string>>) => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name, uid: `uid-of-${name}`, resourceVersion: '5', creationTimestamp: '2026-11-21T10:00:00Z', labels },
});
const byLabel: Readonly<Record<string, readonly object[]>> = {
  'tenant=true': [aNamespace('green', { tenant: 'true', [held]: 'true' })],
  [held]: [aNamespace('green', { tenant: 'true', [held]: 'true' }), aNamespace('blue', { [held]: 'true' })],
};

it('TN4: an object that left the selection while no watcher ran is found by its mark, and the others are not', async () => {
  const { alpha, server } = await serving(({ query }, response) =>
    sendJson(response, 200, {
      apiVersion: 'v1',
      kind: 'NamespaceList',
      metadata: { resourceVersion: '9' },
      items: byLabel[query.labelSelector ?? ''] ?? [],
    }),
  );
  const resync = aResync({ clusters: { alpha }, periodSeconds: 36_000, more: [tenantNetwork] });
  expect(await resync.run({ controller: 'tenant-network' })).toEqual([]);
  expect(names(resync.timed)).toEqual(['blue']);
  expect(
    server.arrived.filter(({ path }) => path.endsWith('/namespaces')).map(({ query }) => query.labelSelector),
  ).toEqual([held, 'tenant=true']);
  expect(resync.counts.has(metricNames.missedChanges)).toBe(false);
});

it('an object that the API server lists and the selector does not select is not sent', async () => {
  const { alpha } = await serving(({ query }, response) =>
    sendJson(response, 200, {
      apiVersion: 'v1',
      kind: 'NamespaceList',
      metadata: { resourceVersion: '9' },
      items: (query.labelSelector === held ? [] : ['green', 'kube-system']).map((name) =>
        aNamespace(name, { tenant: 'true' }),
      ),
    }),
  );
  const resync = aResync({ clusters: { alpha }, periodSeconds: 1, more: [tenantNetwork] });
  expect(await resync.run({ controller: 'tenant-network' })).toEqual([]);
  expect(names(resync.timed)).toEqual(['green']);
});

it('objects that left the selection are looked for in the namespace of the message alone', async () => {
  const { alpha } = await serving(({ path, query }, response) => {
    const [, inPath] = /namespaces\/(\w+)/.exec(path) ?? [];
    const isHeld = query.labelSelector === 'outrigger.dev/managed-by-chosen';
    const listed = ['shop', 'office'].filter((one) => isHeld && one === (inPath ?? one));
    sendJson(response, 200, {
      metadata: { resourceVersion: '9' },
      items: listed.map((namespace) => ({ metadata: { name: `of-${namespace}`, namespace, uid: namespace } })),
    });
  });
  const selector = { matchLabels: { chosen: 'true' } };
  const chosen = ConfigMap.controller('chosen', { selector, reconcile: async () => undefined });
  const resync = aResync({ clusters: { alpha }, more: [chosen] });
  expect(await resync.run({ controller: 'chosen', namespace: 'shop' })).toEqual([]);
  expect(names(resync.timed)).toEqual(['of-shop']);
});
