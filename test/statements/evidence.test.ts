// The evidence of a controller on a kind that is not ours, against an API server: an annotation with what its last finished
// reconcile has observed, by which the resync finds missed changes. The resync decides about the object of the server.
import { beforeEach, expect, it } from 'vitest';
import { hasEvidence } from '../../src/api/definition.ts';
import { applyObject } from '../../src/kube/apply/apply.ts';
import { observationOf } from '../../src/kube/apply/observation.ts';
import { objectPath } from '../../src/kube/client/path.ts';
import { getObject, listPages } from '../../src/kube/client/read.ts';
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
const { client, requests, run } = await useReconciles();
let key = { namespace: 'default', name: '' };
let count = 0;

beforeEach(async () => {
  fails = false;
  count += 1;
  key = { namespace: 'default', name: `sized-${process.pid}-${count}` };
  await apply(1);
});

async function apply(replicas: number, labels: Readonly<Record<string, string>> = { app: 'sized' }) {
  const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'web', image: 'nginx' }] } };
  const spec = { replicas, selector: { matchLabels: { app: 'web' } }, template };
  const body = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { ...key, labels }, spec };
  await applyObject(client, Deployment, body, { fieldManager: 'user' });
}
const patch = async (body: object, subresource?: string) =>
  await client.request({
    method: 'PATCH',
    path: objectPath(Deployment, key, subresource),
    query: { fieldManager: 'another' },
    contentType: 'application/merge-patch+json',
    body,
  });

/** What the resync decides, about the object as it is in a list, an hour from now. */
async function decision(): Promise<string> {
  const observation = observationOf(sized);
  for await (const { items } of listPages(client, Deployment, { namespace: key.namespace })) {
    for (const object of items) {
      if (object.metadata.name !== key.name) continue;
      const evidence = { hasEvidence: hasEvidence(sized.declaration), isObserved: observation?.isObserved };
      const nowMs = Date.now() + 3_600_000;
      return planObject(object, { controller: 'sized', ...evidence, missedAfterSeconds: 240, nowMs });
    }
  }
  throw new Error('not listed');
}

it('an object is unobserved until a reconcile has finished, and its next reconcile is one GET', async () => {
  expect(await decision()).toBe('unobserved');
  expect(await run(sized, key)).toMatchObject({ outcome: { type: 'done' }, noops: 0 });
  expect(await decision()).toBe('periodic');
  requests.length = 0;
  expect(await run(sized, key)).toMatchObject({ outcome: { type: 'done' }, writes: 0, observedBefore: true });
  expect(requests.map((one) => one.split(' ')[0])).toEqual(['GET']);
});

it.each([
  ['the spec', async () => await apply(2)],
  ['a label of a user', async () => await apply(1, { app: 'sized', team: 'a' })],
  ['an annotation', async () => await patch({ metadata: { annotations: { note: 'x' } } })],
  ['a finalizer of another', async () => await patch({ metadata: { finalizers: ['example.com/other'] } })],
])('a missed change of %s is found', async (_, change) => {
  await run(sized, key);
  await change();
  expect(await decision()).toBe('unobserved');
  await run(sized, key);
  expect(await decision()).toBe('periodic');
  await patch({ metadata: { finalizers: null } });
});

it('neither a status, nor what the controller writes itself, is a missed change', async () => {
  await run(sized, key);
  await patch({ status: { replicas: 1, observedGeneration: 9 } }, 'status');
  await patch({
    metadata: { labels: { 'cost.example.com/size': 'x' }, annotations: { 'observed.outrigger.dev/other': 'x' } },
  });
  expect(await decision()).toBe('periodic');
});

it('a reconcile that fails notes nothing', async () => {
  fails = true;
  await run(sized, key);
  expect(await decision()).toBe('unobserved');
});

it('an object that leaves the selection loses the annotation', async () => {
  await run(sized, key);
  expect((await getObject(client, Deployment, key))?.metadata.annotations).toHaveProperty([annotation]);
  await apply(1, {});
  await run(sized, key);
  const { annotations = {}, labels = {} } = (await getObject(client, Deployment, key))?.metadata ?? {};
  expect(Object.keys({ ...annotations, ...labels }).filter((one) => one.includes('outrigger.dev'))).toEqual([]);
});
