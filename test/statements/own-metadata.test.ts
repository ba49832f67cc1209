// The labels and annotations that a controller sets on objects of others, here on Deployments, against an API server:
// under its own field manager, only the declared ones, and never against another client.
import { beforeEach, expect, it } from 'vitest';
import { Deployment } from '../../src/kubernetes.ts';
import { useReconciles } from './client-reconciles.ts';
import { sizeLabel } from './size-label.ts';

const { deployed, events, patch, read: readObject, requests, run } = await useReconciles();
const read = async () => await readObject(Deployment);
const labels = async () => (await read())?.metadata.labels ?? {};
const label = async (value: Readonly<Record<string, string | null>>) =>
  await patch(Deployment, { metadata: { labels: value } });

beforeEach(async () => await deployed(1));

it('a controller on Deployments sets its label and annotation, and nothing else of the object changes', async () => {
  const before = await read();
  expect(await run(sizeLabel)).toMatchObject({ outcome: { type: 'done' }, writes: 1, noops: 0 });
  const after = await read();
  expect(after?.metadata.labels).toEqual({ app: 'web', 'cost.example.com/size': 'small' });
  expect(after?.metadata.annotations).toMatchObject({ 'cost.example.com/replicas': '1' });
  expect([after?.spec, after?.metadata.finalizers, after?.metadata.ownerReferences]).toEqual([
    ...[before?.spec, before?.metadata.finalizers, before?.metadata.ownerReferences],
  ]);
  const manager = after?.metadata.managedFields?.find((one) => one.manager === 'outrigger-size-label');
  expect(manager).toMatchObject({
    operation: 'Apply',
    fieldsV1: { 'f:metadata': { 'f:labels': {}, 'f:annotations': {} } },
  });
  expect(Object.keys(manager?.fieldsV1 ?? {})).toEqual(['f:metadata']);
});

it('a converged reconcile is one GET; a change of what it follows, and a label that was removed, are one write', async () => {
  await run(sizeLabel);
  requests.length = 0;
  expect(await run(sizeLabel)).toMatchObject({ outcome: { type: 'done' }, writes: 0, noops: 0 });
  expect(requests.map((request) => request.split(' ')[0])).toEqual(['GET']);
  await deployed(9);
  expect(await run(sizeLabel)).toMatchObject({ writes: 1 });
  expect(await labels()).toMatchObject({ 'cost.example.com/size': 'large' });
  await label({ 'cost.example.com/size': null });
  expect(await run(sizeLabel)).toMatchObject({ writes: 1 });
  expect(await labels()).toMatchObject({ 'cost.example.com/size': 'large' });
  // It is removed when there is no size any more.
  await deployed(0);
  await run(sizeLabel);
  expect(await labels()).toEqual({ app: 'web' });
});

it('a label that another client has set stays, however often: an Event names it, and nothing is retried', async () => {
  await label({ 'cost.example.com/size': 'huge' });
  for (let time = 0; time < 3; time += 1) {
    const { outcome, writes } = await run(sizeLabel);
    expect([outcome.type, writes]).toEqual(['terminal', 0]);
  }
  expect(await labels()).toMatchObject({ 'cost.example.com/size': 'huge' });
  // A real control plane records Events of the Deployment, too.
  const own = (await events()).filter((one) => one.type === 'Warning' && JSON.stringify(one).includes('"web"'));
  expect(own).toEqual([
    expect.objectContaining({
      type: 'Warning',
      count: 3,
      message: expect.stringMatching(
        /^another client has set metadata\.labels\.cost\.example\.com\/size \(.*"other-client"/,
      ),
    }),
  ]);
  // The other client gives it up.
  await label({ 'cost.example.com/size': null });
  expect(await run(sizeLabel)).toMatchObject({ outcome: { type: 'done' }, writes: 1 });
  expect(await labels()).toMatchObject({ 'cost.example.com/size': 'small' });
});

it('a value that another client has set as well is kept by both, and stays when one gives it up', async () => {
  await deployed(1, { app: 'web', 'cost.example.com/size': 'small' });
  expect(await run(sizeLabel)).toMatchObject({ outcome: { type: 'done' } });
  await deployed(1);
  expect(await labels()).toMatchObject({ 'cost.example.com/size': 'small' });
});

it('an object that leaves the selection loses the labels, the annotations and the mark', async () => {
  const selecting = Deployment.controller('selecting', {
    selector: { matchLabels: { app: 'web' } },
    sets: { labels: ['cost.example.com/size'] },
    reconcile: async (_, { setMetadata }) => await setMetadata({ labels: { 'cost.example.com/size': 'any' } }),
  });
  await run(selecting);
  expect(await labels()).toEqual({
    app: 'web',
    'cost.example.com/size': 'any',
    'outrigger.dev/managed-by-selecting': 'true',
  });
  await label({ app: 'other' });
  expect(await run(selecting)).toMatchObject({ outcome: { type: 'done' } });
  expect(await labels()).toEqual({ app: 'other' });
});

it('an undeclared label is a TypeError before any write', async () => {
  const wrong = Deployment.controller('wrong', {
    sets: { labels: ['example.com/a'] },
    reconcile: async (_, { setMetadata }) => await setMetadata({ labels: { 'example.com/b': 'x' } as never }),
  });
  const { outcome, writes } = await run(wrong);
  expect(outcome).toMatchObject({
    error: { message: expect.stringContaining('example.com/b; add it to sets.labels') },
  });
  expect(writes).toBe(0);
});
