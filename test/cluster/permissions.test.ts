// Only what the generated roles and policies allow, on a real kube-apiserver with OwnerReferencesPermissionEnforcement: each
// identity does what it declared, and nothing beside it.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  controllerIdentity,
  cursorName,
  finalizerOf,
  resyncIdentity,
  systemNamespace,
  watcherAccount,
} from '../../src/core/names.ts';
import { createClient, type KubeClient } from '../../src/kube/client/client.ts';
import { ApiError } from '../../src/kube/client/errors.ts';
import { waitReally } from '../../src/core/time.ts';
import { countSilence } from '../../src/runtime/watchers-silent.ts';
import { createCursor } from '../../src/watcher/cursor.ts';
import type { ControlPlane } from '../../tools/control-plane/control-plane.ts';
import { startControlPlane } from '../../tools/control-plane/start.ts';
import { createWitness } from '../support/recorder.ts';
import { createKubectl } from './kubectl.ts';
import { type Access, may } from './can-i.ts';

const watcher = `system:serviceaccount:${systemNamespace}:${watcherAccount}`;
// One comes as a group, as an EKS access entry gives it, the other as a user.
const tanks = 'arn:aws:iam::000000000000:role/water-tank';
const dinners = controllerIdentity('dinner');
let plane: ControlPlane;
let admin: KubeClient;

beforeAll(async () => {
  plane = await startControlPlane({
    users: [
      { name: watcher },
      { name: resyncIdentity },
      { name: tanks, groups: [controllerIdentity('water-tank')] },
      { name: dinners },
    ],
    enableAdmission: ['OwnerReferencesPermissionEnforcement'],
  });
  admin = createClient(plane.connection());
  const kubectl = await createKubectl(plane.kubectlPath, plane.kubeconfig(), systemNamespace);
  await kubectl.say(['apply', '--server-side', '-k', 'infra/kubernetes/generated']);
  await kubectl.close();
});
afterAll(async () => {
  admin.close();
  await plane.stop();
});

const plant = 'plant.example.com';
const kitchen = 'kitchen.example.com';
const cursor = { resource: 'configmaps', namespace: systemNamespace, name: cursorName };

describe('an identity', () => {
  it.each<[string, string, Access, boolean]>([
    ['the watcher', watcher, { verb: 'list', group: plant, resource: 'watertanks', namespace: '' }, true],
    ['the watcher', watcher, { verb: 'watch', group: kitchen, resource: 'ingredients', namespace: '' }, true],
    ['the watcher', watcher, { verb: 'get', group: plant, resource: 'watertanks' }, false],
    ['the watcher', watcher, { verb: 'list', resource: 'secrets' }, false],
    ['the watcher', watcher, { verb: 'get', resource: 'namespaces', namespace: '', name: 'kube-system' }, true],
    ['the watcher', watcher, { verb: 'get', resource: 'namespaces', namespace: '', name: 'default' }, false],
    ['the watcher', watcher, { verb: 'get', ...cursor }, true],
    ['the watcher', watcher, { verb: 'patch', ...cursor }, true],
    ['the watcher', watcher, { verb: 'patch', ...cursor, name: 'other' }, false],
    ['the watcher', watcher, { verb: 'delete', ...cursor }, false],
    ['the resync', resyncIdentity, { verb: 'list', group: kitchen, resource: 'dinners', namespace: '' }, true],
    ['the resync', resyncIdentity, { verb: 'watch', group: kitchen, resource: 'dinners', namespace: '' }, false],
    ['the resync', resyncIdentity, { verb: 'get', ...cursor }, true],
    ['the resync', resyncIdentity, { verb: 'patch', ...cursor }, false],
    ['water-tank', tanks, { verb: 'get', group: plant, resource: 'watertanks' }, true],
    ['water-tank', tanks, { verb: 'patch', group: plant, resource: 'watertanks', subresource: 'status' }, true],
    ['water-tank', tanks, { verb: 'patch', group: plant, resource: 'watertanks' }, true],
    ['water-tank', tanks, { verb: 'update', group: plant, resource: 'watertanks' }, false],
    ['water-tank', tanks, { verb: 'update', group: plant, resource: 'watertanks', subresource: 'status' }, false],
    ['water-tank', tanks, { verb: 'delete', group: plant, resource: 'watertanks' }, false],
    ['water-tank', tanks, { verb: 'create', group: plant, resource: 'watertanks' }, false],
    ['water-tank', tanks, { verb: 'get', group: kitchen, resource: 'dinners' }, false],
    ['water-tank', tanks, { verb: 'create', resource: 'events' }, true],
    ['water-tank', tanks, { verb: 'get', resource: 'secrets' }, false],
    ['dinner', dinners, { verb: 'patch', group: kitchen, resource: 'dinners' }, false],
    ['dinner', dinners, { verb: 'update', group: kitchen, resource: 'dinners', subresource: 'finalizers' }, true],
    ['dinner', dinners, { verb: 'create', group: kitchen, resource: 'ingredients' }, true],
    ['dinner', dinners, { verb: 'patch', group: kitchen, resource: 'ingredients' }, true],
    ['dinner', dinners, { verb: 'delete', group: kitchen, resource: 'ingredients' }, true],
    ['dinner', dinners, { verb: 'patch', group: kitchen, resource: 'ingredients', subresource: 'status' }, false],
    ['dinner', dinners, { verb: 'update', group: kitchen, resource: 'ingredients', subresource: 'finalizers' }, false],
  ])('%s (%s): %o is %s', async (_, user, access, expected) => {
    expect(await may(plane.connection(user), access)).toBe(expected);
  });
});

describe('the cursor', () => {
  it('is written and read again by the watcher’s rights, and by the resync’s it is only read', async () => {
    const [writer, reader] = [watcher, resyncIdentity].map((user) => createClient(plane.connection(user)));
    if (writer === undefined || reader === undefined) throw new Error('no clients');
    const { log, meter, counts, lines } = createWitness();
    const parts = { client: writer, log, now: () => Date.now(), wait: waitReally };
    const { signal } = new AbortController();
    try {
      const [first, second] = [createCursor(parts), createCursor(parts)];
      expect(await first.start('tanks', { signal })).toBeUndefined();
      first.accepted('tanks', '17');
      await first.flush();
      expect(await second.start('tanks', { signal })).toBe('17');
      await countSilence('test', reader, { log, meter, now: () => Date.now() }, { signal });
      // It may be read, and says that no watcher has heard anything yet.
      expect(lines).toMatchObject([
        { message: 'the watchers are silent', fields: { why: 'they have never heard anything' } },
      ]);
      expect(counts.get('WatchersSilent')).toBe(1);
    } finally {
      writer.close();
      reader.close();
    }
  });
});

describe('a controller with a finalizer', () => {
  const path = `/apis/${plant}/v1/namespaces/default/watertanks`;
  const ours = finalizerOf('water-tank');

  async function tank(name: string, metadata: object = {}): Promise<void> {
    const spec = { targetLevel: 1, capacity: 2 };
    const body = { apiVersion: `${plant}/v1`, kind: 'WaterTank', metadata: { name, ...metadata }, spec };
    await admin.request({ method: 'POST', path, body });
  }

  /** The status of the answer to a merge patch by the controller. */
  async function patch(name: string, body: object): Promise<number> {
    const client = createClient(plane.connection(tanks));
    const contentType = 'application/merge-patch+json';
    try {
      return (await client.request({ method: 'PATCH', path: `${path}/${name}`, contentType, body })).status;
    } catch (error) {
      if (error instanceof ApiError) return error.status;
      throw error;
    } finally {
      client.close();
    }
  }

  /** Resolves when a new policy has taken effect, of which nothing but its effect tells. */
  async function enforced(): Promise<void> {
    for (
      const giveUpAt = Date.now() + 30_000;
      (await patch('probe', { metadata: { labels: { a: String(Date.now()) } } })) === 200;
    ) {
      if (Date.now() > giveUpAt) throw new Error('the policy never took effect');
    }
  }

  beforeAll(async () => {
    await tank('probe');
    await enforced();
  });

  it('puts its own entry on an object and takes it off again', async () => {
    await tank('own');
    expect(await patch('own', { metadata: { finalizers: [ours] } })).toBe(200);
    expect(await patch('own', { metadata: { finalizers: null } })).toBe(200);
  });

  it('leaves the entries of others where they are', async () => {
    await tank('foreign', { finalizers: ['example.com/other'] });
    expect(await patch('foreign', { metadata: { finalizers: ['example.com/other', ours] } })).toBe(200);
    expect(await patch('foreign', { metadata: { finalizers: [ours] } })).toBe(422);
    expect(await patch('foreign', { metadata: { finalizers: ['example.com/other', 'example.com/more', ours] } })).toBe(
      422,
    );
    expect(await patch('foreign', { metadata: { finalizers: ['example.com/other'] } })).toBe(200);
  });

  it.each([
    ['spec', { spec: { targetLevel: 0 } }],
    ['labels', { metadata: { labels: { a: 'b' } } }],
    ['annotations', { metadata: { annotations: { a: 'b' } } }],
    ['owner references', { metadata: { ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'p', uid: '1' }] } }],
  ])('may not change %s', async (_, change) => {
    expect([403, 422]).toContain(await patch('probe', change));
  });

  it('lets everybody else change what they may', async () => {
    await tank('free', { finalizers: ['example.com/other'] });
    const contentType = 'application/merge-patch+json';
    const body = { metadata: { finalizers: null, labels: { a: 'b' } }, spec: { targetLevel: 2 } };
    expect((await admin.request({ method: 'PATCH', path: `${path}/free`, contentType, body })).status).toBe(200);
  });

  it('cannot make a tank with an apply', async () => {
    const client = createClient(plane.connection(tanks));
    const body = {
      apiVersion: `${plant}/v1`,
      kind: 'WaterTank',
      metadata: { name: 'new' },
      spec: { targetLevel: 1, capacity: 2 },
    };
    const query = { fieldManager: 'x' };
    const contentType = 'application/apply-patch+yaml';
    await expect(client.request({ method: 'PATCH', path: `${path}/new`, contentType, query, body })).rejects.toThrow(
      '403',
    );
    client.close();
  });
});
