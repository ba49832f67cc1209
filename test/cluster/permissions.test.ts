// That the generated roles and policies suffice, on a real kube-apiserver with OwnerReferencesPermissionEnforcement: the
// checkpoint, a finalizer, and a whole life. That they permit nothing else is least-privilege.test.ts.
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { createWatchCheckpoint } from '../../src/checkpoint/checkpoint.ts';
import { recordWatcherDown } from '../../src/checkpoint/watcher-status.ts';
import { MemcachedProxy as proxies } from '../../src/controllers/memcached-proxy/kind.ts';
import {
  controllerIdentity,
  finalizerOf,
  resyncIdentity,
  systemNamespace,
  watcherAccount,
} from '../../src/core/names.ts';
import { sleep } from '../../src/core/time.ts';
import { createClient, type KubeClient } from '../../src/kube/client/client.ts';
import { ApiError } from '../../src/kube/client/errors.ts';
import { Deployment, ReplicaSet, Service } from '../../src/kubernetes.ts';
import type { ControlPlane } from '../../tools/control-plane/control-plane.ts';
import { startControlPlane } from '../../tools/control-plane/start.ts';
import { install, startSystem } from '../statements/harness.ts';
import { createMemcached } from '../statements/memcached.ts';
import { conditionOf } from '../statements/user.ts';
import { createRecorder } from '../support/recorder.ts';
import { createKubectl } from './kubectl.ts';

const watcher = `system:serviceaccount:${systemNamespace}:${watcherAccount}`;
// One acts as a group, as an EKS access entry assigns it, the other as a user.
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
      { name: controllerIdentity('memcached-proxy') },
    ],
    enableAdmission: ['OwnerReferencesPermissionEnforcement'],
  });
  admin = createClient(plane.connection());
  const kubectl = await createKubectl(plane.kubectlPath, plane.kubeconfig(), systemNamespace);
  await kubectl.output(['apply', '--server-side', '-k', 'infra/kubernetes/generated']);
  await kubectl.close();
});
afterAll(async () => {
  admin.close();
  await plane.stop();
});

const plant = 'plant.example.com';

describe('permissions of an identity', () => {});

describe('the watch checkpoint', () => {
  it('the watcher may write and read the checkpoint, the resync may only read it', async () => {
    const [writer, reader] = [watcher, resyncIdentity].map((user) => createClient(plane.connection(user)));
    if (writer === undefined || reader === undefined) throw new Error('no clients');
    const { log, metrics, counts, lines } = createRecorder();
    const deps = { client: writer, log, now: () => Date.now(), wait: sleep };
    const { signal } = new AbortController();
    try {
      const [first, second] = [createWatchCheckpoint(deps), createWatchCheckpoint(deps)];
      expect(await first.start('tanks', { signal })).toBeUndefined();
      first.accepted('tanks', '17');
      await first.flush();
      expect(await second.start('tanks', { signal })).toBe('17');
      await recordWatcherDown('test', reader, { log, metrics, now: () => Date.now() }, { signal });
      // It can be read, and shows that no watcher has received an event yet.
      expect(lines).toMatchObject([
        { message: 'watcher down', fields: { reason: 'no watcher has received an event yet' } },
      ]);
      expect(counts.get('WatcherDown')).toBe(1);
    } finally {
      writer.close();
      reader.close();
    }
  });
});

describe('permissions of a controller with a finalizer', () => {
  const path = `/apis/${plant}/v1/namespaces/default/watertanks`;
  const ours = finalizerOf('water-tank');

  async function tank(name: string, metadata: object = {}): Promise<void> {
    const spec = { targetLevel: 1, capacity: 2 };
    const body = { apiVersion: `${plant}/v1`, kind: 'WaterTank', metadata: { name, ...metadata }, spec };
    await admin.request({ method: 'POST', path, body });
  }

  /** Returns the status of the response to a merge patch by the controller. */
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

  /** Resolves when a new policy is effective, which only its effect shows. */
  async function untilEnforced(): Promise<void> {
    for (
      const deadline = Date.now() + 30_000;
      (await patch('probe', { metadata: { labels: { a: String(Date.now()) } } })) === 200;
    ) {
      if (Date.now() > deadline) throw new Error('the policy did not become effective');
    }
  }

  beforeAll(async () => {
    await tank('probe');
    await untilEnforced();
  });

  it('a controller may add its own finalizer to an object and remove it', async () => {
    await tank('own');
    expect(await patch('own', { metadata: { finalizers: [ours] } })).toBe(200);
    expect(await patch('own', { metadata: { finalizers: null } })).toBe(200);
  });

  it('a controller may not add or remove other finalizers', async () => {
    await tank('foreign', { finalizers: ['example.com/other'] });
    expect(await patch('foreign', { metadata: { finalizers: ['example.com/other', ours] } })).toBe(200);
    expect(await patch('foreign', { metadata: { finalizers: [ours] } })).toBe(403);
    expect(await patch('foreign', { metadata: { finalizers: ['example.com/other', 'example.com/more', ours] } })).toBe(
      403,
    );
    expect(await patch('foreign', { metadata: { finalizers: ['example.com/other'] } })).toBe(200);
  });

  it('other users may still change the object', async () => {
    await tank('free', { finalizers: ['example.com/other'] });
    const contentType = 'application/merge-patch+json';
    const body = { metadata: { finalizers: null, labels: { a: 'b' } }, spec: { targetLevel: 2 } };
    expect((await admin.request({ method: 'PATCH', path: `${path}/free`, contentType, body })).status).toBe(200);
  });
});

it('X8, M1, M6, M8, M16, M21: MemcachedProxy creates, repairs, prunes and reports with its declared permissions', async () => {
  const proxyUser = plane.connection(controllerIdentity('memcached-proxy'));
  await install(plane.connection());
  const system = await startSystem(plane.connection(), { controllers: () => proxyUser });
  onTestFinished(() => system.end());
  const name = 'sharded-example';
  const front = 'sharded-example-memcached-043e0';
  const memcached = createMemcached(system);
  await memcached.service('sharded-memcached');
  await memcached.endpoints('sharded-memcached', ['10.0.2.17', '10.0.2.18']);
  await memcached.proxy(name);
  await system.reconcile(proxies, name);
  const old = await memcached.rollOut(name);
  expect(await memcached.events('SuccessfulCreate')).toHaveLength(3);

  await memcached.endpoints('sharded-memcached', ['10.0.2.17']);
  await system.patch(Service, front, { spec: { ports: [{ name: 'mcrouter', port: 9999 }] } });
  const { metadata, spec } = await system.read(Deployment, `${name}-mcrouter`);
  const { labels, annotations, ownerReferences } = metadata;
  await memcached.put(Deployment, `${name}-mcrouter-old`, { spec }, { labels, annotations, ownerReferences });
  await system.reconcile(proxies, name);
  await memcached.rollOut(name);
  await system.delete(ReplicaSet, old);
  await system.reconcile(proxies, name);

  expect(Service.read(await system.read(Service, front)).spec?.ports).toMatchObject([{ port: 11_211 }]);
  expect(await system.list(Deployment)).toHaveLength(1);
  expect(await memcached.configMaps(name)).toHaveLength(1);
  expect(await memcached.events('SuccessfulDelete')).toHaveLength(2);
  expect(conditionOf(await system.read(proxies, name), 'Ready')?.status).toBe('True');
  expect(system.lines.filter((line) => /\b403\b|forbidden/i.test(line))).toEqual([]);
});
