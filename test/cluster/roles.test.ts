// The generated permissions suffice: the life of each controller's sample on a real kube-apiserver that enforces owner
// references, as the user of its role, which is bound in the namespace of the objects alone (X7, X14, X17). That they
// grant nothing more is least-privilege.test.ts.
import { expect, it, onTestFinished } from 'vitest';
import { observedGenerationOf } from '../../src/api/status-slice.ts';
import { registry } from '../../src/controllers/registry.ts';
import { controllerIdentity } from '../../src/core/names.ts';
import { RoleBinding } from '../../src/kubernetes.ts';
import { applyManifests } from '../../src/testing/manifests.ts';
import { install, startSystem } from '../statements/harness.ts';
import { readSamples, sampleOf } from '../support/sample.ts';
import { generated, usePlane } from './plane.ts';

const apiGroup = 'rbac.authorization.k8s.io';
const { plane, kubectl } = await usePlane({
  users: registry.map(({ name }) => ({ name: controllerIdentity(name) })),
  enableAdmission: ['OwnerReferencesPermissionEnforcement'],
  applies: generated,
});
await kubectl.output(['delete', 'clusterrolebinding', ...registry.map(({ name }) => `outrigger-${name}`)]);
await install(plane.connection());
const manifests = await readSamples();

it.each(
  registry,
)('X7, X14, X17: $name: its sample is reconciled, costs no write then, and is finalized', async (controller) => {
  const controllers = (name: string) => plane.connection(controllerIdentity(name));
  const system = await startSystem(plane.connection(), { controllers });
  onTestFinished(async ({ task }) => await system.end({ failed: task.result?.state === 'fail' }));
  const { namespace } = system;
  for (const { name } of registry) {
    const roleRef = { apiGroup, kind: 'ClusterRole', name: `outrigger-${name}` };
    const subjects = [{ kind: 'User', apiGroup, name: controllerIdentity(name) }];
    await system.put(RoleBinding, name, { roleRef, subjects });
  }
  const { subject, beside } = sampleOf(controller, manifests);
  const placed = beside.map(({ object, ...rest }) => ({
    ...rest,
    object: { ...object, metadata: { ...object.metadata, namespace } },
  }));
  await applyManifests(system.client, placed, { signal: AbortSignal.timeout(15_000) });

  const { resource, statusSlice } = controller.declaration;
  const { name } = subject.object.metadata;
  await system.apply(resource, name, Object(subject.object.spec));
  await system.reconcile(resource, name);
  await system.pass(60);
  expect(observedGenerationOf((await system.read(resource, name)).status, statusSlice)).toBe(1);
  system.requests.length = 0;
  await system.reconcile(controller, name);
  expect(system.requests).not.toEqual([]);
  expect(system.writes()).toEqual([]);

  await system.delete(resource, name);
  await system.reconcile(resource, name);
  await system.pass(60);
  expect(await system.get(resource, name)).toBeUndefined();
  expect(await system.deadLetters(controller.name)).toEqual([]);
});
