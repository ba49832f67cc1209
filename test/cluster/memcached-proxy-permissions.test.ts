// MemcachedProxy as the user of its controller's generated roles, with OwnerReferencesPermissionEnforcement: every kind
// of write that it makes succeeds. What these users are not allowed to do is in permissions.test.ts.

import { afterAll, beforeAll, expect, it } from 'vitest';
import { MemcachedProxy as proxies } from '../../src/controllers/memcached-proxy/kind.ts';
import { controllerIdentity, systemNamespace } from '../../src/core/names.ts';
import { Deployment, ReplicaSet, Service } from '../../src/kubernetes.ts';
import type { ControlPlane } from '../../tools/control-plane/control-plane.ts';
import { startControlPlane } from '../../tools/control-plane/start.ts';
import { install, type System, startSystem } from '../statements/harness.ts';
import { createMemcached } from '../statements/memcached.ts';
import { conditionOf } from '../statements/user.ts';
import { createKubectl } from './kubectl.ts';

const name = 'sharded-example';
const front = 'sharded-example-memcached-043e0';
const user = controllerIdentity('memcached-proxy');
let plane: ControlPlane;
let system: System;

beforeAll(async () => {
  plane = await startControlPlane({
    users: [{ name: user }],
    enableAdmission: ['OwnerReferencesPermissionEnforcement'],
  });
  const kubectl = await createKubectl(plane.kubectlPath, plane.kubeconfig(), systemNamespace);
  await kubectl.output(['apply', '--server-side', '-k', 'infra/kubernetes/generated']);
  await kubectl.close();
  await install(plane.connection());
  system = await startSystem(plane.connection(), { controllers: () => plane.connection(user) });
});
afterAll(async () => {
  await system.end();
  await plane.stop();
});

it('X8, M1, M6, M8, M16, M21: MemcachedProxy creates, repairs, prunes and reports with its declared permissions', async () => {
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
