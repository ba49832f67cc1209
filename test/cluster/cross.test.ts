// The cross-cutting statements that the server decides (X5, X7, X8, X15, X16, X17), on a real kube-apiserver that enforces owner
// references: each controller comes as the user that its generated role is for, and the role is bound in the stage's namespace alone.
import { afterAll, describe, expect, it } from 'vitest';
import { registry } from '../../src/controllers/registry.ts';
import { existingKind } from '../../src/core/kind.ts';
import { controllerIdentity, systemNamespace } from '../../src/core/words.ts';
import { applyObject } from '../../src/kube/apply.ts';
import { createClient, type KubeRequest } from '../../src/kube/client.ts';
import { ApiError } from '../../src/kube/errors.ts';
import { parseObject } from '../../src/kube/object.ts';
import { objectPath } from '../../src/kube/path.ts';
import { getObject } from '../../src/kube/read.ts';
import { pods } from '../../src/local/workloads/objects.ts';
import { createBitcoinNodes } from '../../src/local/worlds/bitcoin.ts';
import { startControlPlane } from '../control-plane/start.ts';
import { namespaceCases } from '../cross/border-cases.ts';
import { deletionCases } from '../cross/deletion-cases.ts';
import { damageCases, ownersCases, takenCases } from '../cross/ownership-cases.ts';
import type { Platform } from '../cross/stage.ts';
import { idleCases } from '../cross/steady-cases.ts';
import { createTheatre } from '../cross/theatre.ts';
import { raceCases } from '../cross/writes-cases.ts';
import { serveExec } from '../kubelet/exec-server.ts';
import { registerNode } from '../kubelet/node.ts';
import { install, startNamespace } from '../statements/harness.ts';
import { createKubectl } from './kubectl.ts';

const plane = await startControlPlane({
  users: registry.map(({ name }) => ({ name: controllerIdentity(name) })),
  enableAdmission: ['OwnerReferencesPermissionEnforcement'],
});
const admin = createClient(plane.connection());
const group = 'rbac.authorization.k8s.io';
const bindingKind = existingKind<object>({ group, version: 'v1', kind: 'RoleBinding' });
const kubectl = await createKubectl(plane.kubectlPath, plane.kubeconfig(), systemNamespace);
await kubectl.say(['apply', '--server-side', '-k', 'infra/kubernetes/generated']);
// A namespace of one's own is enough for a controller.
await kubectl.say(['delete', 'clusterrolebinding', ...registry.map(({ name }) => `outrigger-${name}`)]);
await kubectl.close();
await install(plane.connection());
afterAll(async () => {
  await registered.close();
  await commands.close();
  admin.close();
  await plane.stop();
});

// Commands in pods come to a node, which has the stand-in of the nodes' own world.
const node = 'cross';
const world = createBitcoinNodes();
const commands = await serveExec(
  () => ({ ip: '', image: '' }),
  async (request) => {
    const pod = pods.parse(await getObject(admin, pods.resource, { name: request.pod, namespace: request.namespace }));
    const image = pod.spec.containers.find(({ name }) => name === request.container)?.image ?? '';
    return await world.execute({ ...request, ip: pod.status?.podIP ?? '', image });
  },
);
const registered = await registerNode(admin, node, commands.port);

/** A namespace, and the controllers' roles there. */
async function openPlatform(): Promise<Platform> {
  const namespace = await startNamespace(admin);
  for (const { name } of registry) {
    const role = `outrigger-${name}`;
    const subjects = [{ kind: 'User', apiGroup: group, name: controllerIdentity(name) }];
    const roleRef = { apiGroup: group, kind: 'ClusterRole', name: role };
    const metadata = { name: role, namespace };
    const binding = parseObject({
      apiVersion: bindingKind.apiVersion,
      kind: 'RoleBinding',
      metadata,
      roleRef,
      subjects,
    });
    await applyObject(admin, bindingKind, binding, { fieldManager: 'cross' });
  }
  return {
    connection: plane.connection(),
    connectionOf: (controller) => plane.connection(controllerIdentity(controller)),
    namespace,
    clock: { ms: Date.now() },
    node,
    elsewhere: async () => {
      const beside = await startNamespace(admin);
      const connectionOf = () => plane.connection();
      return { ...(await openPlatform()), namespace: beside, connectionOf };
    },
    end: async () => undefined,
  };
}

const theatre = createTheatre(registry, openPlatform);
describe('a steady world', () => idleCases(theatre));
describe('writes', () => {
  raceCases(theatre);
  it.each(
    registry,
  )('X8: $name: its role’s user changes nothing of its object but the status and its finalizer', async (controller) => {
    await using stage = await theatre.open(controller);
    const { resource } = controller.declares;
    const { metadata } = await stage.create();
    const own = objectPath(resource, metadata);
    const user = createClient(plane.connection(controllerIdentity(controller.name)));
    /** The status of the answer to a write. */
    const answer = async (request: Pick<KubeRequest, 'method' | 'path' | 'body' | 'contentType'>): Promise<number> => {
      try {
        return (await user.request(request)).status;
      } catch (error) {
        if (error instanceof ApiError) return error.status;
        throw error;
      }
    };
    const contentType = 'application/merge-patch+json';
    const body = { metadata: { labels: { 'example.com/by': 'its-own-controller' } } };
    const whole = await stage.subject();
    expect(await answer({ method: 'PUT', path: own, body: whole })).toBe(403);
    expect(await answer({ method: 'PUT', path: `${own}/status`, body: whole })).toBe(403);
    expect(await answer({ method: 'DELETE', path: own })).toBe(403);
    // RBAC refuses what has no finalizer, the policy the rest; it takes a moment to be in force.
    const giveUpAt = Date.now() + 30_000;
    let patched = await answer({ method: 'PATCH', path: own, contentType, body });
    while (patched === 200 && Date.now() < giveUpAt) {
      const other = { metadata: { labels: { 'example.com/by': `its-own-controller-${Date.now()}` } } };
      patched = await answer({ method: 'PATCH', path: own, contentType, body: other });
    }
    expect(patched).toBe(controller.declares.finalizes ? 422 : 403);
    user.close();
  });
});
describe('children', () => {
  takenCases(theatre);
  ownersCases(theatre);
  damageCases(theatre);
});
describe('deletions', () => deletionCases(theatre));
describe('namespaces', () => namespaceCases(theatre));
