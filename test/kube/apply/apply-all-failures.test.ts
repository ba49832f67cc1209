// Children that the API server refuses, and errors of the server itself: which other children applyAll applies. As test
// cases for any API server.
import { expect, it, onTestFinished, vi } from 'vitest';
import { ApiError } from '../../../src/kube/client/errors.ts';
import { RoleBinding, Secret, Service, StatefulSet } from '../../../src/kubernetes.ts';
import { useApiServer } from '../../harness/api-server.ts';
import { child, useChildren } from './apply-all-harness.ts';
import { binding, service, statefulSet } from './situations/objects.ts';

const { connect } = await useApiServer();
const { fixture, children, beforeRequest } = useChildren(connect);
const { read } = fixture;

it('applyAll applies the other children of refused ones, deletes none, and names each refused one', async () => {
  await children([child('old', {})]);
  const refused = (name: string) => ({ metadata: { name, labels: { a: 'b c' } } });
  const desired = [refused('a'), child('b', {}), refused('c')];
  await expect(children(desired)).rejects.toThrow(/configmaps\/a returned 422: .*configmaps\/c returned 422: /);
  await expect(children([child('d', {}), refused('a')])).rejects.toMatchObject({ status: 422 });
  const left = await Promise.all(['a', 'b', 'c', 'd', 'old'].map(read));
  expect(left.map((one) => one?.metadata.name)).toEqual([undefined, 'b', undefined, 'd', 'old']);
});

it('applyAll stops at an error that concerns the server, and at no number of refused children', async () => {
  let requests = 0;
  const failing = beforeRequest('PATCH', async () => {
    requests += 1;
    throw new ApiError('PATCH', 500, {});
  });
  await expect(children([child('a', {}), child('b', {})], {}, failing)).rejects.toMatchObject({ status: 500 });
  expect(requests).toBe(1);
  const refused = Array.from({ length: 12 }, (_, at) => ({ metadata: { name: `n${at}`, labels: { a: 'b c' } } }));
  const all = [...refused, child('good', {})];
  await expect(children(all)).rejects.toThrow(/n0 returned 422.*n9 returned 422[^;]*; and 2 more$/);
  expect(await read('good')).toBeDefined();
});

it.each([401, 429, 500])('applyAll goes on after a webhook’s %i for a child, and ends at the third', async (status) => {
  const answered: string[] = [];
  const failing = beforeRequest('PATCH', async ({ path }) => {
    const [, name = ''] = /configmaps\/(.*)/.exec(path) ?? [];
    answered.push(name);
    if (name !== 'good') throw new ApiError(path, status, { kind: 'Status', message: 'denied' });
  });
  await children([child('old', {})]);
  await expect(children([child('a', {}), child('good', {})], {}, failing)).rejects.toMatchObject({ status });
  expect([await read('good'), await read('old')]).not.toContain(undefined);
  answered.length = 0;
  const desired = ['a', 'b', 'c', 'd'].map((name) => child(name, {}));
  await expect(children(desired, {}, failing)).rejects.toThrow(/configmaps\/a .*configmaps\/c /);
  expect(answered).toEqual(['a', 'b', 'c']);
});

it('applyAll ends after the first child whose webhook hangs, not after a slow refusal, and the error names the webhook', async () => {
  let nowMs = 0;
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => nowMs);
  onTestFinished(() => clock.mockRestore());
  const hanging = beforeRequest('PATCH', async ({ path }) => {
    nowMs += 10_000;
    if (path.endsWith('/refused')) throw new ApiError(path, 422, { kind: 'Status', message: 'invalid' });
    throw new ApiError(path, 500, { kind: 'Status', message: 'failed calling webhook "w.example.com"' });
  });
  await expect(children([child('refused', {}), child('a', {}), child('b', {})], {}, hanging)).rejects.toThrow(
    /configmaps\/a .*w\.example\.com/,
  );
  expect(nowMs).toBe(20_000);
});

it.each([429, 503])('applyAll stops at once at a %i that names a delay: it is the API server’s', async (status) => {
  const throttling = beforeRequest('PATCH', async ({ path }) => {
    if (path.endsWith('/a')) throw new ApiError(path, status, { kind: 'Status' }, 1);
  });
  await expect(children([child('a', {}), child('b', {})], {}, throttling)).rejects.toMatchObject({ status });
  expect(await read('b')).toBeUndefined();
});

it.each([
  [Secret, { type: 'Opaque' }, { type: 'example.com/t' }],
  [Service, service({ http: 80 }), service({ http: 80 }, { clusterIP: 'None' })],
  [RoleBinding, binding('view'), binding('edit')],
  [StatefulSet, statefulSet(), statefulSet({ serviceName: 't' })],
])('R7: the refusal of a change that no update can make says what the author can do (row %#)', async (kind, a, b) => {
  const { apiVersion } = kind;
  const apply = async (fields: object, more: object = {}) =>
    await children([{ ...fields, metadata: { name: 'c' } }], { resource: kind, apiVersion, kind: kind.kind, ...more });
  const advice = /; an update cannot change this field; give the child another name, or apply it with `recreate: true`/;
  await apply(a);
  await expect(apply(b)).rejects.toThrow(advice);
  // A first one deletes the child. It ends with a conflict where a controller of the cluster has written a status since.
  await vi.waitFor(async () => {
    expect(await apply(b, { recreate: true })).toMatchObject({ objects: [b] });
  });
});
