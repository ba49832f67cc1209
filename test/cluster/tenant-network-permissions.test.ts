// What TenantNetwork's generated role and policy permit on a real kube-apiserver: its reconcile, and of a Namespace only
// its own label. Its life is test/statements/tenant-network.test.ts.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { tenantNetwork } from '../../src/controllers/tenant-network.ts';
import { controllerIdentity, heldLabelOf, systemNamespace } from '../../src/core/names.ts';
import { rbacOf } from '../../src/generate/rbac/rbac.ts';
import { watchListOf } from '../../src/generate/watch-list.ts';
import { applyObject } from '../../src/kube/apply/apply.ts';
import { createClient, type KubeClient } from '../../src/kube/client/client.ts';
import { ApiError } from '../../src/kube/client/errors.ts';
import { objectPath } from '../../src/kube/client/path.ts';
import { getObject } from '../../src/kube/client/read.ts';
import { Namespace, NetworkPolicy } from '../../src/kubernetes.ts';
import { createReconcile } from '../../src/reconciling/reconcile.ts';
import type { ControlPlane } from '../../tools/control-plane/control-plane.ts';
import { startControlPlane } from '../../tools/control-plane/start.ts';
import { silent } from '../reconciling/widgets.ts';
import { asChange } from '../sqs/messages.ts';
import { createKubectl } from './kubectl.ts';

const identity = controllerIdentity('tenant-network');
const key = { name: 'blue' };
let plane: ControlPlane;
let admin: KubeClient;
let client: KubeClient;

beforeAll(async () => {
  plane = await startControlPlane({ users: [{ name: identity }] });
  admin = createClient(plane.connection());
  client = createClient(plane.connection(identity));
  const kubectl = await createKubectl(plane.kubectlPath, plane.kubeconfig(), systemNamespace);
  const items = rbacOf([tenantNetwork], watchListOf([tenantNetwork]));
  await kubectl.output(['apply', '--server-side', '-f', '-'], { manifest: { apiVersion: 'v1', kind: 'List', items } });
  await kubectl.close();
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { ...key, labels: { tenant: 'true' } } };
  await applyObject(admin, Namespace, namespace, { fieldManager: 'user' });
}, 300_000);
afterAll(async () => {
  admin.close();
  client.close();
  await plane.stop();
});

const patch = async (metadata: object) =>
  await client
    .request({
      method: 'PATCH',
      path: objectPath(Namespace, key),
      contentType: 'application/merge-patch+json',
      body: { metadata },
    })
    .then(
      () => 'accepted',
      (error: unknown) => (error instanceof ApiError ? error.status : error),
    );

/** A policy is enforced some time after it was created. */
async function untilEnforced(): Promise<void> {
  for (const deadline = Date.now() + 60_000; Date.now() < deadline; ) {
    if ((await patch({ annotations: { probe: `${Date.now()}` } })) !== 'accepted') return;
  }
  throw new Error('the policy is not enforced');
}

it('TN5: the controller changes its own label, and no other label, annotation or finalizer', async () => {
  await untilEnforced();
  expect(await patch({ labels: { 'pod-security.kubernetes.io/enforce': 'privileged' } })).toBe(403);
  expect(await patch({ labels: { tenant: null } })).toBe(403);
  expect(await patch({ labels: { [heldLabelOf('other')]: 'true' } })).toBe(403);
  expect(await patch({ annotations: { note: 'a' } })).toBe(403);
  expect(await patch({ finalizers: ['example.com/stays'] })).toBe(403);
  expect(await patch({ labels: { [heldLabelOf('tenant-network')]: 'true' } })).toBe('accepted');
  expect(await patch({ labels: { [heldLabelOf('tenant-network')]: null } })).toBe('accepted');
});

it('TN5: the role permits the whole reconcile, from the first one to the one after the selection was left', async () => {
  const { name, declaration, start } = tenantNetwork;
  const reconcile = createReconcile({ name, declaration, instance: start({}), now: () => new Date() });
  const run = async () =>
    await reconcile({
      ...{ client, messageId: 'm', log: silent, signal: AbortSignal.timeout(30_000) },
      message: {
        ...{ controller: name, cluster: 'test', group: '', resource: 'namespaces', ...key },
        ...asChange({ observedAt: 0 }),
      },
    });
  expect((await run()).outcome).toEqual({ type: 'done' });
  const policy = async () => await getObject(admin, NetworkPolicy, { namespace: key.name, name: 'default-deny' });
  expect(await policy()).toBeDefined();
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: key };
  await applyObject(admin, Namespace, namespace, { fieldManager: 'user' });
  expect((await run()).outcome).toEqual({ type: 'done' });
  expect(await policy()).toBeUndefined();
});
