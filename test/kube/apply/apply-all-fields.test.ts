// Fields of children that the API server stores in another form, or that other clients change: applyAll writes them
// once, and nothing the second time. As test cases for any API server.
import { expect, it } from 'vitest';
import * as z from 'zod';
import { defineKind } from '../../../src/api/custom-kind.ts';
import { crdOf } from '../../../src/generate/crd/crd.ts';
import type { ApplyAllRequest } from '../../../src/kube/apply/apply-all.ts';
import { parseObject, type ResourceName } from '../../../src/kube/client/object.ts';
import { collectionPath, objectPath } from '../../../src/kube/client/path.ts';
import { useApiServer } from '../../harness/api-server.ts';
import { applyDefinition } from '../../support/established.ts';
import { configMaps, deployments } from '../namespace.ts';
import { useChildren } from './apply-all-harness.ts';

const services: ResourceName = { group: '', version: 'v1', plural: 'services', namespaced: true };

const { connect } = await useApiServer();
const { fixture, children } = useChildren(connect);
const { patch } = fixture;
/** Applies the one Service `s`. */
const applyService = (ports: readonly object[], change: Partial<ApplyAllRequest> = {}, spec: object = {}) =>
  children([{ metadata: { name: 's' }, spec: { ...spec, ports } }], { resource: services, kind: 'Service', ...change });

it('applyAll stores null in a nullable field of a custom kind, also where its default or a zero value is, and back', async () => {
  const names = { group: 'nulls.example.com', version: 'v1' };
  const spec = z.object({ limit: z.int().nullable().default(5) });
  const kind = defineKind({ ...names, kind: 'Nullable', spec, status: z.object({}), conditions: [] });
  await applyDefinition(fixture.client, parseObject(crdOf(kind)));
  const { apiVersion } = kind;
  const limits: unknown[] = [];
  const resource = { ...names, plural: kind.plural, namespaced: true };
  // A real server responds with 429 while the cache of the kind fills.
  const path = collectionPath(resource, fixture.namespace);
  const isServed = () =>
    fixture.client.request({ method: 'GET', path }).then(
      () => true,
      () => false,
    );
  await expect.poll(isServed).toBe(true);
  const nullable = { resource, apiVersion, kind: 'Nullable' };
  for (const change of [{}, { limit: null }, { limit: null }, { limit: 0 }, { limit: null }]) {
    const desired = [{ metadata: { name: 'a' }, spec: change }];
    const { objects, writes } = await children(desired, { ...nullable, keepsNull: true });
    limits.push([objects[0]?.spec, writes]);
  }
  const [none, zero] = [{ limit: null }, { limit: 0 }];
  expect(limits).toEqual([
    [{ limit: 5 }, 1],
    [none, 1],
    [none, 0],
    [zero, 1],
    [none, 1],
  ]);
  // In the kind of another project null leaves the field to others: it may be one that an autoscaler sets.
  await fixture.client.request({
    method: 'PATCH',
    path: objectPath(resource, { name: 'a', namespace: fixture.namespace }),
    contentType: 'application/merge-patch+json',
    body: { spec: { limit: 3 } },
  });
  const { objects } = await children([{ metadata: { name: 'a' }, spec: { limit: null } }], nullable);
  expect(objects[0]?.spec).toEqual({ limit: 3 });
});

it('applyAll with an exact list removes items of others from it, and keeps the server’s defaults', async () => {
  const apply = (port: number) => applyService([{ name: 'main', port }], { exact: ['spec.ports'] });
  const [created] = (await apply(80)).objects;
  expect(await apply(80)).toMatchObject({ writes: 0, noops: 0 });
  const foreignPorts = [
    // Renumbered under the same name. The server would reject an apply, because of the repeated name.
    [{ name: 'main', port: 81 }],
    [
      { name: 'more', port: 82 },
      { name: 'main', port: 80 },
    ],
  ];
  for (const ports of foreignPorts) {
    await patch(services, 's', { spec: { ports } });
    const after = await apply(80);
    expect(after.objects).toMatchObject([{ spec: created?.spec }]);
    expect(await apply(80)).toMatchObject({ writes: 0, noops: 0 });
  }
  expect((await apply(90)).objects).toMatchObject([{ spec: { ports: [{ name: 'main', port: 90 }] } }]);
  expect(await apply(90)).toMatchObject({ writes: 0, noops: 0 });
});

it('applyAll removes an item of others from a list only if the server rejects the apply because of it', async () => {
  const ports = [{ name: 'main', port: 80 }];
  const apply = () => applyService(ports);
  const [created] = (await apply()).objects;
  await patch(services, 's', { spec: { ports: [...ports, { name: 'guest', port: 82 }] } });
  expect(await apply()).toMatchObject({ writes: 0 });
  // Renumbered under the same name. The server would reject an apply, because of the repeated name.
  await patch(services, 's', { spec: { ports: [{ name: 'main', port: 81 }] } });
  expect(await apply()).toMatchObject({ writes: 1, objects: [{ spec: created?.spec }] });
  expect(await apply()).toMatchObject({ writes: 0, noops: 0 });
});

it('applyAll of a Secret with stringData writes once, corrects drift, and removes a key that is no longer desired', async () => {
  const secrets = { resource: { ...configMaps, plural: 'secrets' }, kind: 'Secret' };
  const secret = (stringData: Record<string, string>) => [
    { metadata: { name: 's' }, data: { raw: 'Yg==' }, stringData },
  ];
  await children(secret({ user: 'ä', password: 'p' }), secrets);
  expect(await children(secret({ user: 'ä', password: 'p' }), secrets)).toMatchObject({ writes: 0, noops: 0 });
  await patch(secrets.resource, 's', { data: { user: 'YQ==' } });
  expect(await children(secret({ user: 'ä', password: 'p' }), secrets)).toMatchObject({ writes: 1 });
  const { objects } = await children(secret({ user: 'ä' }), secrets);
  expect(objects[0]?.data).toEqual({ raw: 'Yg==', user: 'w6Q=' });
});

it.each([
  [{ data: { pin: 1234567 } }, 'data.pin of a Secret is not a string'],
  [{ stringData: { pin: { inner: '1234567' } } }, 'stringData.pin of a Secret is not a string'],
  [{ data: '1234567' }, 'data of a Secret is not an object'],
  [{ data: { ok: 'YQ==\n', pin: '1234567' } }, 'data.pin of a Secret is not base64; give it as stringData'],
])('applyAll of a Secret with a value that the server refuses shows the value in no error (row %#)', async (fields, error) => {
  const secrets = { resource: { ...configMaps, plural: 'secrets' }, kind: 'Secret' };
  const applied = await children([{ metadata: { name: 's' }, ...fields }], secrets).catch(String);
  expect(applied).toBe(`TypeError: ${error}`);
});

it('applyAll converges for a workload with quantities, zero values, defaults and another’s scale', async () => {
  const template = {
    metadata: { labels: { app: 'a' } },
    spec: {
      hostNetwork: false,
      containers: [
        {
          name: 'c',
          image: 'i',
          env: [{ name: 'A', value: '' }],
          ports: [{ containerPort: 80 }],
          resources: { limits: { cpu: '0.5', memory: '1024Mi' } },
        },
      ],
    },
  };
  const workload = {
    metadata: { name: 'w' },
    spec: { paused: false, selector: { matchLabels: { app: 'a' } }, template },
  };
  const apply = () => children([workload], { resource: deployments, apiVersion: 'apps/v1', kind: 'Deployment' });
  expect(await apply()).toMatchObject({ writes: 1 });
  await patch(deployments, 'w', { spec: { replicas: 3 } });
  expect(await apply()).toMatchObject({ writes: 0, noops: 0, objects: [{ spec: { replicas: 3 } }] });
});

it('K11: an apply whose result the server changes is not repeated, but by a cold process, periodically or for another cluster', async () => {
  // The server fills the empty map with defaults, which the manager does not own.
  const spec = { sessionAffinity: 'ClientIP', sessionAffinityConfig: {} };
  const apply = (port: number, change: Partial<ApplyAllRequest> = {}) =>
    applyService([{ name: 'a', port }], change, spec);
  expect(await apply(80)).toMatchObject({ writes: 1 });
  expect(await apply(80)).toMatchObject({ writes: 0, noops: 0 });
  const note = {
    type: 'unchanged',
    child: `${fixture.namespace}/s`,
    field: expect.stringMatching(/^spec\.sessionAffinityConfig/),
  };
  const changedNothing = { writes: 0, noops: 1, notes: [note] };
  expect(await apply(80, { isThorough: true })).toMatchObject(changedNothing);
  // One that has the same object, as a copy of an etcd, may do more with the apply.
  expect(await apply(80, { cluster: 'other' })).toMatchObject(changedNothing);
  expect(await apply(90)).toMatchObject({ writes: 1 });
  await patch(services, 's', { spec: { publishNotReadyAddresses: true } });
  expect(await apply(90)).toMatchObject({ writes: 0, noops: 0 });
});

it('applyAll writes empty lists once, and again where another client has added to one that it does not merge', async () => {
  const container = { name: 'c', image: 'i', env: [], args: [] };
  const template = { metadata: { labels: { app: 'a' } }, spec: { containers: [container], volumes: [] } };
  const workload = { metadata: { name: 'w' }, spec: { selector: { matchLabels: { app: 'a' } }, template } };
  const apply = () => children([workload], { resource: deployments, apiVersion: 'apps/v1', kind: 'Deployment' });
  expect(await apply()).toMatchObject({ writes: 1 });
  expect(await apply()).toMatchObject({ writes: 0, noops: 0 });
  const containers = [{ name: 'c', image: 'i', args: ['--theirs'] }];
  await patch(deployments, 'w', { spec: { template: { spec: { containers } } } });
  const { objects, ...rest } = await apply();
  expect(rest).toMatchObject({ writes: 1 });
  expect(JSON.stringify(objects)).not.toContain('"--theirs"');
});
