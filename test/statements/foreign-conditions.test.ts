// Conditions of a controller on a kind that is not ours, against an API server: they are its only part of the status, have
// no observedGeneration, and are removed when the object leaves the selection.
import { beforeEach, expect, it } from 'vitest';
import * as z from 'zod';
import type { Kind } from '../../src/api/kind.ts';
import { applyObject } from '../../src/kube/apply/apply.ts';
import { objectPath } from '../../src/kube/client/path.ts';
import { getObject } from '../../src/kube/client/read.ts';
import { Deployment, Namespace } from '../../src/kubernetes.ts';
import { useReconciles } from './client-reconciles.ts';
import { owned, redundant } from './foreign-conditions.ts';

const { client, requests, run } = await useReconciles();
let name = '';
let count = 0;

beforeEach(async () => {
  count += 1;
  name = `slice-${process.pid}-${performance.now().toFixed(0)}-${count}`;
  await applyNamespace({ tenant: 'true' });
});

const applyNamespace = async (labels: Readonly<Record<string, string>>) =>
  await applyObject(
    client,
    Namespace,
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } },
    { fieldManager: 'user' },
  );
const applyDeployment = async (replicas: number) => {
  const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'web', image: 'nginx' }] } };
  const spec = { replicas, selector: { matchLabels: { app: 'web' } }, template };
  const metadata = { namespace: name, name: 'web' };
  await applyObject(
    client,
    Deployment,
    { apiVersion: 'apps/v1', kind: 'Deployment', metadata, spec },
    { fieldManager: 'user' },
  );
};
const patch = async (kind: Kind, key: object, body: object, subresource?: string) =>
  await client.request({
    method: 'PATCH',
    path: objectPath(kind, { name, ...key }, subresource),
    contentType: 'application/merge-patch+json',
    body,
  });
const conditionsOf = async (kind: Kind, key: { readonly namespace?: string; readonly name: string }) => {
  const status = Object((await getObject(client, kind, key))?.status);
  return z.array(z.looseObject({ type: z.string(), status: z.string() })).parse(status.conditions ?? []);
};
const web = () => ({ namespace: name, name: 'web' });

it('a Namespace gets the condition, and nothing else of it changes; the next reconcile is one GET', async () => {
  const before = await getObject(client, Namespace, { name });
  expect(await run(owned, { name })).toMatchObject({ outcome: { type: 'done' }, noops: 0 });
  const after = await getObject(client, Namespace, { name });
  // The API server leaves out an empty message.
  const [condition, ...others] = await conditionsOf(Namespace, { name });
  expect(others).toEqual([]);
  expect(condition).toMatchObject({ type: 'team.example.com/Owned', status: 'False', reason: 'NoOwner' });
  expect(condition).not.toHaveProperty('observedGeneration');
  expect({ ...Object(after?.status), conditions: undefined }).toEqual(before?.status);
  expect(after?.metadata.labels).toMatchObject({ 'outrigger.dev/managed-by-owned': 'true' });
  requests.length = 0;
  expect(await run(owned, { name })).toMatchObject({ writes: 0, noops: 0 });
  expect(requests).toHaveLength(1);
});

it('a Namespace that leaves the selection loses the condition and the mark', async () => {
  await patch(Namespace, {}, { metadata: { annotations: { 'team.example.com/owner': 'blue' } } });
  await run(owned, { name });
  expect(await conditionsOf(Namespace, { name })).toMatchObject([
    { status: 'True', reason: 'HasOwner', message: 'blue' },
  ]);
  await applyNamespace({});
  expect(await run(owned, { name })).toMatchObject({ outcome: { type: 'done' } });
  expect(await conditionsOf(Namespace, { name })).toEqual([]);
  const { labels = {} } = (await getObject(client, Namespace, { name }))?.metadata ?? {};
  expect(Object.keys(labels)).not.toContain('outrigger.dev/managed-by-owned');
});

it('the conditions of the kind’s own controller stay beside ours', async () => {
  await applyDeployment(1);
  const available = { type: 'Available', status: 'True', reason: 'MinimumReplicasAvailable', message: 'ok' };
  await patch(Deployment, web(), { status: { replicas: 1, conditions: [available] } }, 'status');
  await run(redundant, web());
  // The controllers of a real control plane add Progressing, and write Available by themselves.
  const types = async () =>
    (await conditionsOf(Deployment, web()))
      .filter(({ type }) => type !== 'Progressing')
      .map(({ type, status }) => (type === 'Available' ? type : `${type} ${status}`))
      .sort();
  expect(await types()).toEqual(['Available', 'team.example.com/Redundant False']);
  await applyDeployment(3);
  await run(redundant, web());
  expect(await types()).toEqual(['Available', 'team.example.com/Redundant True']);
});

it('an error that is retried makes the condition Unknown with its message', async () => {
  await applyDeployment(13);
  expect((await run(redundant, web())).outcome).toMatchObject({ type: 'failed' });
  expect(await conditionsOf(Deployment, web())).toContainEqual(
    expect.objectContaining({ status: 'Unknown', reason: 'Retrying', message: 'no luck' }),
  );
});

it('a status in the result is refused', async () => {
  const wrong = Namespace.statusSlice({ conditions: ['a.example.com/B'] }).controller('wrong', {
    reconcile: (async () => ({
      status: { phase: 'Gone' },
      conditions: { 'a.example.com/B': { status: 'True', reason: 'B' } },
    })) as never,
  });
  expect((await run(wrong, { name })).outcome).toMatchObject({ error: { message: expect.stringContaining('status') } });
  expect(Object((await getObject(client, Namespace, { name }))?.status).phase).toBe('Active');
});
