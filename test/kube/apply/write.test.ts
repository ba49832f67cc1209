// Applies of objects and statuses, as test cases for any API server. Excluded: children (apply-all.test.ts).
import { expect, inject, it } from 'vitest';
import { applyObject, applyStatus, type StatusTarget } from '../../../src/kube/apply/apply.ts';
import { holdObject } from '../../../src/kube/apply/finalizers.ts';
import { isConflict, isInvalidAt, ResponseError } from '../../../src/kube/client/errors.ts';
import { getObject } from '../../../src/kube/client/read.ts';
import { useApiServer } from '../../harness/api-server.ts';
import { configMaps, deployments, useNamespace } from '../namespace.ts';

// Another controller's write of the status would be a conflict.
const { connect } = await useApiServer({ controllers: 'none' });
const fixture = useNamespace(connect);
const { patch } = fixture;

it('applyObject takes a field of another manager over', async () => {
  await patch(configMaps, 'owner', { data: { a: '2' } });
  const data = { a: '3' };
  const object = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'owner', namespace: fixture.namespace },
    data,
  };
  const applied = await applyObject(fixture.client, configMaps, object, { fieldManager: 'm' });
  expect(applied).toMatchObject({ data });
  expect(applied.metadata.managedFields).toMatchObject([{ manager: 'm', operation: 'Apply' }]);
});

it('applyObject throws a ResponseError for a response of 200 that is no Kubernetes object', async () => {
  const client = {
    ...fixture.client,
    request: async () => ({ status: 200, headers: {}, body: { login: 'secret' } }),
  };
  const applied = applyObject(client, configMaps, fixture.owner, { fieldManager: 'm' });
  await expect(applied).rejects.toThrow(ResponseError);
  await expect(applied).rejects.toThrow(/^PATCH \/api\S+: the response is not that of an API server$/);
});

it('a write throws a ResponseError for a response of 200 that is another object of the same name', async () => {
  const client = { ...fixture.client, request: async () => ({ status: 200, headers: {}, body: fixture.owner }) };
  const read = { ...fixture.owner, metadata: { ...fixture.owner.metadata, uid: 'before' } };
  const { metadata } = read;
  const target = { apiVersion: 'v1', kind: 'ConfigMap', key: metadata, resourceVersion: '1', uid: metadata.uid };
  const writes = [
    applyObject(client, configMaps, read, { fieldManager: 'm' }),
    applyStatus(client, configMaps, target, {}, { fieldManager: 'm' }),
    holdObject(client, configMaps, read, { finalizer: 'example.com/m' }),
  ];
  for (const write of await Promise.allSettled(writes))
    expect(write).toMatchObject({ reason: expect.any(ResponseError) });
});

const date = '2026-01-01T00:00:00Z';
const ours = { type: 'Ours', status: 'True', reason: 'R', message: 'm', lastTransitionTime: date };
const statusOf = (target: Omit<StatusTarget, 'apiVersion' | 'kind'>) =>
  applyStatus(
    fixture.client,
    deployments,
    { apiVersion: 'apps/v1', kind: 'Deployment', ...target },
    { conditions: [{ ...ours, lastUpdateTime: date }] },
    { fieldManager: 'ours' },
  );
const workload = () => {
  const template = { metadata: { labels: { app: 'a' } }, spec: { containers: [{ name: 'c', image: 'i' }] } };
  const spec = { replicas: 0, selector: { matchLabels: { app: 'a' } }, template };
  const metadata = { name: 'w', namespace: fixture.namespace };
  const object = { apiVersion: 'apps/v1', kind: 'Deployment', metadata, spec };
  return applyObject(fixture.client, deployments, object, { fieldManager: 'test' });
};

it('applyStatus writes the status alone, at the version and uid that were read', async () => {
  const { metadata } = await workload();
  const { uid = '', resourceVersion = '' } = metadata;
  const applied = await statusOf({ key: metadata, resourceVersion, uid });
  expect(applied).toMatchObject({ metadata: { generation: 1 }, status: { conditions: [ours] } });
  const mine = applied.metadata.managedFields?.filter(({ manager }) => manager === 'ours');
  expect(mine).toMatchObject([{ operation: 'Apply', subresource: 'status' }]);
  expect(Object.keys(Object(mine?.[0]?.fieldsV1))).toEqual(['f:status']);
});

// The in-memory server accepts this write.
it.runIf(inject('apiServer') === 'real')(
  'applyStatus is rejected for a stale resourceVersion, and for another object of the same name',
  async () => {
    const { metadata } = await workload();
    await patch(deployments, 'w', { metadata: { labels: { changed: '1' } } });
    const { uid = '', resourceVersion = '' } = metadata;
    await expect(statusOf({ key: metadata, resourceVersion, uid })).rejects.toSatisfy(isConflict);
    const now = (await getObject(fixture.client, deployments, metadata))?.metadata.resourceVersion ?? '';
    const otherUid = '00000000-0000-4000-8000-000000000000';
    const other = statusOf({ key: metadata, resourceVersion: now, uid: otherUid });
    await expect(other).rejects.toSatisfy((error) => isConflict(error) || isInvalidAt(error, 'metadata.uid'));
  },
);
