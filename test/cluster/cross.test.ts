// The cross-cutting statements that the server decides (X5, X7, X8, X15, X16, X17), on a real kube-apiserver that enforces owner
// references: each controller comes as the user that its generated role is for, and the role is bound in the stage's namespace alone.
import { afterAll, describe } from 'vitest';
import { registry } from '../../src/controllers/registry.ts';
import { existingKind } from '../../src/core/kind.ts';
import { controllerIdentity, systemNamespace } from '../../src/core/words.ts';
import { applyObject } from '../../src/kube/apply.ts';
import { createClient } from '../../src/kube/client.ts';
import { parseObject } from '../../src/kube/object.ts';
import { getObject } from '../../src/kube/read.ts';
import { pods } from '../../src/local/workloads/objects.ts';
import { createBitcoinNodes } from '../../src/local/worlds/bitcoin.ts';
import { startControlPlane } from '../control-plane/start.ts';
import { namespaceCases } from '../cross/border-cases.ts';
import { deletionCases } from '../cross/deletion-cases.ts';
import { damageCases, takenCases } from '../cross/ownership-cases.ts';
import type { Platform } from '../cross/stage.ts';
import { steadyCases } from '../cross/steady-cases.ts';
import { createTheatre } from '../cross/theatre.ts';
import { writesCases } from '../cross/writes-cases.ts';
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
describe('a steady world', () => steadyCases(theatre));
describe('writes', () => writesCases(theatre));
describe('children', () => {
  takenCases(theatre);
  damageCases(theatre);
});
describe('deletions', () => deletionCases(theatre));
describe('namespaces', () => namespaceCases(theatre));
