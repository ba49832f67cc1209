// The requests that add and remove finalizers and apply statuses. Excluded: the server's behavior (test/conformance,
// test/cluster).
import { describe, expect, it } from 'vitest';
import { isRecord } from '../../../src/core/json.ts';
import { applyObject, applyStatus } from '../../../src/kube/apply/apply.ts';
import { holdObject, removeFinalizer } from '../../../src/kube/apply/finalizers.ts';
import { isConflict } from '../../../src/kube/client/errors.ts';
import { sendJson, startWireServer, statusOf } from '../wire-server.ts';

const tanks = { group: 'plant.example.com', version: 'v1', plural: 'watertanks', namespaced: true };
const path = '/apis/plant.example.com/v1/namespaces/plant/watertanks/a';
const tank = (finalizers?: string[], deleting = false) => ({
  metadata: {
    name: 'a',
    namespace: 'plant',
    uid: 'u',
    resourceVersion: '7',
    ...(finalizers && { finalizers }),
    ...(deleting && { deletionTimestamp: 'now' }),
  },
});
const ours = 'outrigger.dev/tank';

/** Starts a server that responds to a patch of metadata with the patched object. */
const startPatchServer = () =>
  startWireServer(({ body }, response) => {
    const metadata = isRecord(body) && isRecord(body.metadata) ? body.metadata : {};
    sendJson(response, 200, { metadata: { ...tank().metadata, ...metadata, resourceVersion: '8' } });
  });

describe('finalizers', () => {
  it('holdObject appends the finalizer to others, at the resourceVersion that was read', async () => {
    const server = await startPatchServer();
    const after = await holdObject(
      server.client(),
      tanks,
      tank(['theirs']),
      { finalizer: ours },
      { fieldManager: 'm' },
    );
    expect(after.metadata).toMatchObject({ finalizers: ['theirs', ours], resourceVersion: '8' });
    expect(server.arrived).toMatchObject([
      {
        method: 'PATCH',
        path,
        query: { fieldManager: 'm' },
        headers: { 'content-type': 'application/merge-patch+json' },
        body: { metadata: { resourceVersion: '7', finalizers: ['theirs', ours] } },
      },
    ]);
  });

  it('holdObject writes nothing if the object is being deleted or has the finalizer', async () => {
    const server = await startPatchServer();
    const deleting = tank(['theirs'], true);
    const done = tank([ours]);
    expect(await holdObject(server.client(), tanks, deleting, { finalizer: ours })).toBe(deleting);
    expect(await holdObject(server.client(), tanks, done, { finalizer: ours })).toBe(done);
    expect(server.arrived).toEqual([]);
  });

  it('removeFinalizer keeps the finalizers of others', async () => {
    const server = await startPatchServer();
    const after = await removeFinalizer(server.client(), tanks, tank(['a', ours, 'b'], true), ours);
    expect(after?.metadata.finalizers).toEqual(['a', 'b']);
  });

  it('removeFinalizer writes nothing if the object does not have the finalizer', async () => {
    const server = await startPatchServer();
    const object = tank(['theirs'], true);
    expect(await removeFinalizer(server.client(), tanks, object, ours)).toBe(object);
    expect(server.arrived).toEqual([]);
  });

  it('removeFinalizer returns undefined if the object is missing or its last finalizer was removed', async () => {
    const server = await startPatchServer();
    const keeping = { ...tank([ours]), metadata: { ...tank([ours], true).metadata } };
    expect(await removeFinalizer(server.client(), tanks, { ...keeping }, ours)).toBeUndefined();
    const gone = await startWireServer((_, response) => sendJson(response, 404, statusOf(404, 'NotFound')));
    expect(await removeFinalizer(gone.client(), tanks, tank([ours], true), ours)).toBeUndefined();
  });

  it('holdObject and removeFinalizer throw a conflict if the object has changed since the read', async () => {
    const server = await startWireServer((_, response) => sendJson(response, 409, statusOf(409, 'Conflict')));
    await expect(holdObject(server.client(), tanks, tank(), { finalizer: ours })).rejects.toSatisfy(isConflict);
    await expect(removeFinalizer(server.client(), tanks, tank([ours]), ours)).rejects.toSatisfy(isConflict);
  });
});

describe('applies', () => {
  it('applyObject applies with force and the field manager', async () => {
    const server = await startWireServer(({ body }, response) => sendJson(response, 200, body));
    await applyObject(server.client(), tanks, { ...tank(), spec: { level: 1 } }, { fieldManager: 'm' });
    expect(server.arrived).toMatchObject([
      {
        method: 'PATCH',
        path,
        query: { fieldManager: 'm', force: 'true' },
        headers: { 'content-type': 'application/apply-patch+yaml' },
        body: { spec: { level: 1 } },
      },
    ]);
  });

  it('applyStatus sends the resourceVersion and uid of the last read, and only the status', async () => {
    const server = await startWireServer(({ body }, response) => sendJson(response, 200, body));
    const target = {
      apiVersion: 'plant.example.com/v1',
      kind: 'WaterTank',
      key: { namespace: 'plant', name: 'a' },
      resourceVersion: '7',
      uid: 'u',
    };
    await applyStatus(server.client(), tanks, target, { level: 1 }, { fieldManager: 'm' });
    expect(server.arrived[0]).toMatchObject({ path: `${path}/status`, query: { fieldManager: 'm', force: 'true' } });
    expect(server.arrived[0]?.body).toEqual({
      apiVersion: 'plant.example.com/v1',
      kind: 'WaterTank',
      metadata: { name: 'a', namespace: 'plant', resourceVersion: '7', uid: 'u' },
      status: { level: 1 },
    });
  });
});
