// What becomes of a Deployment when its Foo goes (F6, C7), and of one whose owner reference is wrong (C, bad input), as cases for
// any API server with a garbage collector: kube-controller-manager's, or that of the in-memory server.

import { beforeEach, describe, expect, it } from 'vitest';
import type { Kind } from '../../src/api/kind.ts';
import { Foo as foos } from '../../src/controllers/foo.ts';
import { collectionPath, objectPath } from '../../src/kube/client/path.ts';
import { readWatchLines } from '../../src/kube/watch/ndjson.ts';
import { Deployment } from '../../src/kubernetes.ts';
import { useApiServer } from '../harness/api-server.ts';
import { useSystem } from './harness.ts';
import { conditionOf } from './user.ts';

// The real collector learns of a new kind within 30 s.
const collectedWithinSeconds = 60;

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
});
