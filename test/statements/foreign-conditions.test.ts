// Conditions of a controller on a kind that is not ours, against an API server: they are its only part of the status, have
// no observedGeneration, and are removed when the object leaves the selection.
import { expect, it } from 'vitest';
import * as z from 'zod';
import type { Kind } from '../../src/api/kind.ts';
import { Deployment, Namespace } from '../../src/kubernetes.ts';
import { useReconciles } from './client-reconciles.ts';
import { owned, redundant } from './foreign-conditions.ts';

const { deployed, patch, read, requests, run } = await useReconciles();
const conditionsOf = async (kind: Kind) => {
  const status = Object((await read(kind))?.status);
  return z.array(z.looseObject({ type: z.string(), status: z.string() })).parse(status.conditions ?? []);
};

it('a Namespace gets the condition, and nothing else of it changes; the next reconcile is one GET', async () => {
  const before = await read(Namespace);
  expect(await run(owned)).toMatchObject({ outcome: { type: 'done' }, noops: 0 });
  const after = await read(Namespace);
  // The API server leaves out an empty message.
  const [condition, ...others] = await conditionsOf(Namespace);
  expect(others).toEqual([]);
  expect(condition).toMatchObject({ type: 'team.example.com/Owned', status: 'False', reason: 'NoOwner' });
  expect(condition).not.toHaveProperty('observedGeneration');
  expect({ ...Object(after?.status), conditions: undefined }).toEqual(before?.status);
  expect(after?.metadata.labels).toMatchObject({ 'outrigger.dev/managed-by-owned': 'true' });
  requests.length = 0;
  expect(await run(owned)).toMatchObject({ writes: 0, noops: 0 });
  expect(requests).toHaveLength(1);
});

it.each([
  ['a Namespace that leaves the selection', async () => undefined],
  [
    'K18: a Namespace whose managed fields are cleared before it leaves the selection',
    async () => await patch(Namespace, { metadata: { managedFields: [{}] } }),
  ],
  [
    'K18: a Namespace in which another client has written the condition, too',
    async () => {
      const { conditions } = Object((await read(Namespace))?.status);
      await patch(Namespace, { status: { conditions: [] } }, 'status');
      await patch(Namespace, { status: { conditions } }, 'status');
      await run(owned);
    },
  ],
])('%s loses the condition and the mark', async (_, share) => {
  await patch(Namespace, { metadata: { annotations: { 'team.example.com/owner': 'blue' } } });
  await run(owned);
  await share();
  expect(await conditionsOf(Namespace)).toMatchObject([{ status: 'True', reason: 'HasOwner', message: 'blue' }]);
  await patch(Namespace, { metadata: { labels: { tenant: null } } });
  expect(await run(owned)).toMatchObject({ outcome: { type: 'done' } });
  expect(await conditionsOf(Namespace)).toEqual([]);
  expect(Object.keys((await read(Namespace))?.metadata.labels ?? {})).not.toContain('outrigger.dev/managed-by-owned');
});

it('the conditions of the kind’s own controller stay beside ours', async () => {
  await deployed(1);
  const available = { type: 'Available', status: 'True', reason: 'MinimumReplicasAvailable', message: 'ok' };
  await patch(Deployment, { status: { replicas: 1, conditions: [available] } }, 'status');
  await run(redundant);
  // The controllers of a real control plane add Progressing, and write Available by themselves.
  const types = async () =>
    (await conditionsOf(Deployment))
      .filter(({ type }) => type !== 'Progressing')
      .map(({ type, status }) => (type === 'Available' ? type : `${type} ${status}`))
      .sort();
  expect(await types()).toEqual(['Available', 'team.example.com/Redundant False']);
  await deployed(3);
  await run(redundant);
  expect(await types()).toEqual(['Available', 'team.example.com/Redundant True']);
});

it('an error that is retried makes the condition Unknown with its message', async () => {
  await deployed(13);
  expect((await run(redundant)).outcome).toMatchObject({ type: 'failed' });
  expect(await conditionsOf(Deployment)).toContainEqual(
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
  expect((await run(wrong)).outcome).toMatchObject({ error: { message: expect.stringContaining('status') } });
  expect(Object((await read(Namespace))?.status).phase).toBe('Active');
});
