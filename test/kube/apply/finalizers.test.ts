// Our finalizer on and off, and statuses, as requests on the wire. Excluded: what a server makes of them (test/conformance, test/cluster).
import { describe, expect, it } from 'vitest';
import { applyObject, applyStatus } from '../../../src/kube/apply/apply.ts';
import { isConflict } from '../../../src/kube/client/errors.ts';
import { ensureFinalizer, removeFinalizer } from '../../../src/kube/apply/finalizers.ts';
import { isRecord } from '../../../src/kube/record.ts';
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

/** Answers a patch of metadata with the object as patched. */
const patching = () =>
  startWireServer(({ body }, response) => {
    const metadata = isRecord(body) && isRecord(body.metadata) ? body.metadata : {};
    sendJson(response, 200, { metadata: { ...tank().metadata, ...metadata, resourceVersion: '8' } });
  });

describe('a finalizer', () => {
  it('is put behind those of others, at the version that was read', async () => {
    const server = await patching();
    const after = await ensureFinalizer(server.client(), tanks, tank(['theirs']), ours, { fieldManager: 'm' });
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

  it('is never put on an object that is being deleted, nor twice', async () => {
    const server = await patching();
    const deleting = tank(['theirs'], true);
    const done = tank([ours]);
    expect(await ensureFinalizer(server.client(), tanks, deleting, ours)).toBe(deleting);
    expect(await ensureFinalizer(server.client(), tanks, done, ours)).toBe(done);
    expect(server.arrived).toEqual([]);
  });

  it('is taken off alone', async () => {
    const server = await patching();
    const after = await removeFinalizer(server.client(), tanks, tank(['a', ours, 'b'], true), ours);
    expect(after?.metadata.finalizers).toEqual(['a', 'b']);
  });

  it('that is not there is not taken off: nothing is written', async () => {
    const server = await patching();
    const object = tank(['theirs'], true);
    expect(await removeFinalizer(server.client(), tanks, object, ours)).toBe(object);
    expect(server.arrived).toEqual([]);
  });

  it('taken off last, or off an object that has gone, leaves no object', async () => {
    const server = await patching();
    const keeping = { ...tank([ours]), metadata: { ...tank([ours], true).metadata } };
    expect(await removeFinalizer(server.client(), tanks, { ...keeping }, ours)).toBeUndefined();
    const gone = await startWireServer((_, response) => sendJson(response, 404, statusOf(404, 'NotFound')));
    expect(await removeFinalizer(gone.client(), tanks, tank([ours], true), ours)).toBeUndefined();
  });

  it('on an object that has changed since it was read is a conflict', async () => {
    const server = await startWireServer((_, response) => sendJson(response, 409, statusOf(409, 'Conflict')));
    await expect(ensureFinalizer(server.client(), tanks, tank(), ours)).rejects.toSatisfy(isConflict);
    await expect(removeFinalizer(server.client(), tanks, tank([ours]), ours)).rejects.toSatisfy(isConflict);
  });
});

describe('an apply', () => {
  it('of an object is forced, by its manager', async () => {
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

  it('of a status carries the version and uid of the last read, and nothing but the status', async () => {
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
