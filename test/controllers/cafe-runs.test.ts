// The README's cafe in the whole system: its definition on the in-memory API server, the watcher, queues and timers of the product,
// and the stand-in that makes a Deployment's pods. Calling it by hand is cafe.test.ts.
import { afterEach, beforeEach, expect, it } from 'vitest';
import { startApiServer } from '../../src/apiserver/server.ts';
import { cafe, Cafe as cafes } from '../../src/controllers/cafe.ts';
import { crdOf } from '../../src/generate/crd/crd.ts';
import { applyObject } from '../../src/kube/apply/apply.ts';
import { createClient, type KubeClient } from '../../src/kube/client/client.ts';
import { type KubeObject, parseObject } from '../../src/kube/client/object.ts';
import { objectPath } from '../../src/kube/client/path.ts';
import { CustomResourceDefinition, Deployment } from '../../src/kubernetes.ts';
import { startWorkloads } from '../../src/simulators/workloads/workloads.ts';
import { type QueueRunner, startQueueRunner } from '../statements/drain.ts';
import { startNamespace } from '../statements/harness.ts';
import { conditionOf, createUser, type User } from '../statements/user.ts';
import { startWatch, type Watch } from '../statements/watch.ts';
import { untilEstablished } from '../support/established.ts';

const clock = { ms: Date.now() };
let parts: AsyncDisposableStack;
let client: KubeClient;
let pump: QueueRunner;
let user: User;
let watch: Watch;

beforeEach(async () => {
  parts = new AsyncDisposableStack();
  const server = await startApiServer();
  parts.defer(() => server.close());
  client = createClient({ server: new URL(server.url) });
  parts.defer(() => client.close());
  const definition = parseObject(crdOf(cafes));
  await applyObject(client, CustomResourceDefinition, definition, { fieldManager: 'user' });
  await untilEstablished(client, definition.metadata.name);
  const workloads = await startWorkloads(client);
  parts.defer(() => workloads.close());
  user = createUser(client, await startNamespace(client));
  pump = await startQueueRunner({ registry: [cafe], environment: {}, client, clock });
  parts.defer(() => pump.stop());
  watch = startWatch(client, user.namespace, pump.send, { controllers: [cafe] });
  parts.defer(() => watch.stop());
});
afterEach(() => parts.disposeAsync());

/** Lets the system run, from one forwarded key to the next, until the cafe is as wanted. */
async function until(isSo: (cafe: KubeObject | undefined) => boolean): Promise<void> {
  for (;;) {
    clock.ms = Math.max(clock.ms, Date.now());
    await pump.deliver();
    if (isSo(await user.get(cafes, 'central'))) return;
    await watch.next();
  }
}
const isReady = (object: KubeObject | undefined) => conditionOf(object, 'Ready')?.status === 'True';

it('is Ready when its Deployment is available, and follows its seats', async () => {
  await user.apply(cafes, 'central', { seats: 25 });
  await until(isReady);
  expect((await user.read(cafes, 'central')).status).toMatchObject({ waiters: 3 });
  expect((await user.read(Deployment, 'central')).status).toMatchObject({ availableReplicas: 3 });
  await user.apply(cafes, 'central', { seats: 5 });
  await until((object) => isReady(object) && conditionOf(object, 'Ready')?.observedGeneration === 2);
  expect((await user.read(Deployment, 'central')).spec).toMatchObject({ replicas: 1 });
});

it('a deleted Cafe stays while a waiter is left, reports it, and is removed after the last one', async () => {
  await user.apply(cafes, 'central', { seats: 10 });
  await until(isReady);
  await user.patch(Deployment, 'central', { metadata: { finalizers: ['example.com/tips'] } });
  await user.delete(cafes, 'central');
  await until((object) => conditionOf(object, 'Finalized')?.reason === 'WaitersLeaving');
  await client.request({
    method: 'PATCH',
    path: objectPath(Deployment, { name: 'central', namespace: user.namespace }),
    contentType: 'application/merge-patch+json',
    body: { metadata: { finalizers: [] } },
  });
  await until((object) => object === undefined);
  expect(await user.get(Deployment, 'central')).toBeUndefined();
});
