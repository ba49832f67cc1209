// What becomes of a Deployment when its Foo goes (F6, C7), and of one whose owner reference is wrong (C, bad input), as cases for
// any API server with a garbage collector: kube-controller-manager's, or that of the in-memory server.

import { beforeEach, describe, expect, it } from 'vitest';
import type { Kind } from '../../src/api/kind.ts';
import { Foo as foos } from '../../src/controllers/foo.ts';
import { ApiError } from '../../src/kube/client/errors.ts';
import { collectionPath, objectPath } from '../../src/kube/client/path.ts';
import { readWatchLines } from '../../src/kube/watch/ndjson.ts';
import { Deployment } from '../../src/kubernetes.ts';
import { useApiServer } from '../harness/api-server.ts';
import { startNamespace, useSystem } from './harness.ts';
import { conditionOf } from './user.ts';

// The real collector learns of a new kind within 30 s.
const collectedWithinSeconds = 60;
const bare = {
  selector: { matchLabels: { app: 'bare' } },
  template: { metadata: { labels: { app: 'bare' } }, spec: { containers: [{ name: 'c', image: 'c' }] } },
};

const { connect } = await useApiServer();
const system = useSystem(connect);
beforeEach(async () => {
  await system.apply(foos, 'a', { deploymentName: 'web' });
  await system.reconcile(foos, 'a');
});

async function remove(propagationPolicy: 'Background' | 'Foreground' | 'Orphan'): Promise<void> {
  const path = objectPath(foos, { name: 'a', namespace: system.namespace });
  const body = { apiVersion: 'v1', kind: 'DeleteOptions', propagationPolicy };
  await system.client.request({ method: 'DELETE', path, body });
}
/** Resolves, on a watch, when an object is gone. */
async function gone(kind: Kind, name: string): Promise<void> {
  const { resourceVersion = '' } = (await system.get(kind, name))?.metadata ?? {};
  if (resourceVersion === '') return;
  const stream = await system.client.stream({
    method: 'GET',
    path: collectionPath(kind, system.namespace),
    query: { watch: true, fieldSelector: `metadata.name=${name}`, resourceVersion },
    signal: AbortSignal.timeout(collectedWithinSeconds * 1000),
  });
  try {
    for await (const frame of readWatchLines(stream)) if (/"DELETED"/.test(JSON.stringify(frame))) return;
  } finally {
    stream.close();
  }
  throw new Error(`${kind.kind} ${name} is still there`);
}
const reference = async (more: object = {}) => {
  const { uid } = (await system.read(foos, 'a')).metadata;
  return { apiVersion: foos.apiVersion, kind: 'Foo', name: 'a', uid, controller: true, ...more };
};
const missingUid = '00000000-0000-4000-8000-000000000000';

describe('what a Foo owns', { timeout: collectedWithinSeconds * 1000 }, () => {
  it('F6, C7: goes after it, when it is deleted in the background', async () => {
    await remove('Background');
    expect(await system.get(foos, 'a')).toBeUndefined();
    await gone(Deployment, 'web');
  });

  it('C7: goes before it, when it is deleted in the foreground, and is not made again meanwhile', async () => {
    await system.patch(Deployment, 'web', { metadata: { finalizers: ['example.com/hold'] } });
    await remove('Foreground');
    expect((await system.read(foos, 'a')).metadata.finalizers).toEqual(['foregroundDeletion']);
    await system.reconcile(foos, 'a');
    await system.patch(Deployment, 'web', { metadata: { finalizers: null } }).catch(() => undefined);
    await gone(foos, 'a');
    expect(await system.get(Deployment, 'web')).toBeUndefined();
  });

  it('C7: stays without the reference, when it is orphaned, and is not adopted by a Foo of that name', async () => {
    await remove('Orphan');
    await gone(foos, 'a');
    expect((await system.read(Deployment, 'web')).metadata.ownerReferences).toBeUndefined();
    await system.apply(foos, 'a', { deploymentName: 'web', replicas: 9 });
    await system.reconcile(foos, 'a');
    const after = await system.read(Deployment, 'web');
    expect(after.metadata.ownerReferences).toBeUndefined();
    expect(after.spec).toMatchObject({ replicas: 1 });
    expect(conditionOf(await system.read(foos, 'a'), 'Ready')).toMatchObject({ reason: 'NotOwned' });
  });

  it('C, bad input: a Deployment that names an owner of another uid goes, and its own stays', async () => {
    await system.apply(Deployment, 'stray', bare, { ownerReferences: [await reference({ uid: missingUid })] });
    await system.reconcile(foos, 'a');
    await gone(Deployment, 'stray');
    expect(await system.get(Deployment, 'web')).toBeDefined();
  });

  it('C, bad input: a Deployment that names an owner of another namespace goes', async () => {
    const elsewhere = await startNamespace(system.client);
    const owner = {
      apiVersion: foos.apiVersion,
      kind: 'Foo',
      metadata: { name: 'far' },
      spec: { deploymentName: 'x' },
    };
    const path = collectionPath(foos, elsewhere);
    const { body } = await system.client.request({ method: 'POST', path, body: owner });
    const { uid } = foos.read(Object(body)).metadata;
    await system.apply(Deployment, 'stray', bare, { ownerReferences: [await reference({ name: 'far', uid })] });
    await gone(Deployment, 'stray');
  });

  it('C, bad input: a Deployment with two controllers is 422', async () => {
    const ownerReferences = [await reference(), await reference({ name: 'b', uid: missingUid })];
    const made = system.apply(Deployment, 'stray', bare, { ownerReferences });
    const refused: unknown = await made.catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(ApiError);
    expect(refused).toMatchObject({ status: 422 });
  });
});
