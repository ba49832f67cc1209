// The evidence of a controller on a kind that is not ours, against an API server: an annotation with what its last finished
// reconcile has observed, by which the resync finds missed changes. The resync decides about the object of the server.
import { beforeEach, expect, it } from 'vitest';
import { hasEvidence } from '../../src/api/definition.ts';
import { observationOf } from '../../src/kube/apply/observation.ts';
import { listPages } from '../../src/kube/client/read.ts';
import { Deployment } from '../../src/kubernetes.ts';
import { planObject } from '../../src/resync/plan.ts';
import { useReconciles } from './client-reconciles.ts';

const annotation = 'observed.outrigger.dev/sized';
let fails = false;
const sized = Deployment.controller('sized', {
  evidence: 'annotation',
  selector: { matchLabels: { app: 'sized' } },
  sets: { labels: ['cost.example.com/size'] },
  async reconcile({ spec }, { setMetadata }) {
    await setMetadata({ labels: { 'cost.example.com/size': String(spec?.replicas) } });
    return fails ? { error: new Error('not yet') } : {};
  },
});
const { client, deployed, keyOf, patch, read, requests, run } = await useReconciles();
const selected = { app: 'sized' };

beforeEach(async () => {
  fails = false;
  await deployed(1, selected);
});

/** What the resync decides, about the object as it is in a list, an hour from now. */
async function decision(): Promise<string> {
  const observation = observationOf(sized);
  const evidence = { hasEvidence: hasEvidence(sized.declaration), isObserved: observation?.isObserved };
  const nowMs = Date.now() + 3_600_000;
  for await (const { items } of listPages(client, Deployment, { namespace: keyOf(Deployment).namespace })) {
    const [object] = items;
    if (object !== undefined)
      return planObject(object, { controller: 'sized', ...evidence, missedAfterSeconds: 240, nowMs });
  }
  throw new Error('not listed');
}

it('an object is unobserved until a reconcile has finished, and its next reconcile is one GET', async () => {
  expect(await decision()).toBe('unobserved');
  expect(await run(sized)).toMatchObject({ outcome: { type: 'done' }, noops: 0 });
  expect(await decision()).toBe('periodic');
  requests.length = 0;
  expect(await run(sized)).toMatchObject({ outcome: { type: 'done' }, writes: 0, observedBefore: true });
  expect(requests.map((one) => one.split(' ')[0])).toEqual(['GET']);
});

it.each([
  ['the spec', async () => await deployed(2, selected)],
  ['a label of a user', async () => await deployed(1, { ...selected, team: 'a' })],
  ['an annotation', async () => await patch(Deployment, { metadata: { annotations: { note: 'x' } } })],
  ['a finalizer of another', async () => await patch(Deployment, { metadata: { finalizers: ['example.com/other'] } })],
])('a missed change of %s is found', async (_, change) => {
  await run(sized);
  await change();
  expect(await decision()).toBe('unobserved');
  await run(sized);
  expect(await decision()).toBe('periodic');
  await patch(Deployment, { metadata: { finalizers: null } });
});

it('neither a status, nor what the controller writes itself, is a missed change', async () => {
  await run(sized);
  await patch(Deployment, { status: { replicas: 1, observedGeneration: 9 } }, 'status');
  await patch(Deployment, {
    metadata: { labels: { 'cost.example.com/size': 'x' }, annotations: { 'observed.outrigger.dev/other': 'x' } },
  });
  expect(await decision()).toBe('periodic');
});

it('a reconcile that fails has observed the change: it is retried or a dead letter, and the resync does not repeat that', async () => {
  fails = true;
  expect(await run(sized)).toMatchObject({ outcome: { type: 'failed', error: { message: 'not yet' } } });
  expect(await decision()).toBe('periodic');
});

it('an object that leaves the selection loses the annotation', async () => {
  await run(sized);
  expect((await read(Deployment))?.metadata.annotations).toHaveProperty([annotation]);
  await deployed(1, {});
  await run(sized);
  const { annotations = {}, labels = {} } = (await read(Deployment))?.metadata ?? {};
  expect(Object.keys({ ...annotations, ...labels }).filter((one) => one.includes('outrigger.dev'))).toEqual([]);
});
