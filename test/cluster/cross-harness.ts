// A real kube-apiserver for the cross-cutting statements. It enforces owner references; each controller acts as the
// user of its generated role, and the role is bound only in the system's namespace.

import { pods } from '@outrigger/apiserver/workloads/objects';
import { createBitcoinNodes } from '@outrigger/cli/simulators/bitcoin';
import { afterAll } from 'vitest';
import type { ControllerDefinition } from '../../src/api/definition.ts';
import { foreignKind } from '../../src/api/foreign-kind.ts';
import { registry } from '../../src/controllers/registry.ts';
import { controllerIdentity } from '../../src/core/names.ts';
import { applyObject } from '../../src/kube/apply/apply.ts';
import type { KubeClient } from '../../src/kube/client/client.ts';
import { parseObject } from '../../src/kube/client/object.ts';
import { getObject } from '../../src/kube/client/read.ts';
import type { ControlPlane } from '../../tools/control-plane/control-plane.ts';
import { serveExec } from '../../tools/kubelet/exec-server.ts';
import { registerNode } from '../../tools/kubelet/node.ts';
import { createHarness, type Harness } from '../cross/harness.ts';
import type { Platform } from '../cross/system.ts';
import { install, startNamespace } from '../statements/harness.ts';
import { generated, usePlane } from './plane.ts';

const group = 'rbac.authorization.k8s.io';
const bindingKind = foreignKind({ group, version: 'v1', kind: 'RoleBinding' });
const node = 'cross';

/** Starts a control plane until the end of the file's tests, with a harness of every controller. */
export async function useClusterHarness(): Promise<Harness> {
  const { plane, kubectl, clientOf } = await usePlane({
    users: registry.map(({ name }) => ({ name: controllerIdentity(name) })),
    enableAdmission: ['OwnerReferencesPermissionEnforcement'],
    applies: generated,
  });
  const admin = clientOf();
  // A namespace of its own is enough for a controller.
  await kubectl.output(['delete', 'clusterrolebinding', ...registry.map(({ name }) => `outrigger-${name}`)]);
  await install(plane.connection());
  await serveCommands(admin);
  return createHarness(registry, (controllers) => openPlatform(plane, admin, controllers));
}

/** Runs commands in pods on a node with the Bitcoin simulator. */
async function serveCommands(admin: KubeClient): Promise<void> {
  const bitcoinNodes = createBitcoinNodes();
  const commands = await serveExec(
    () => ({ ip: '', image: '' }),
    async (request) => {
      const key = { name: request.pod, namespace: request.namespace };
      const { spec, status } = pods.parse(await getObject(admin, pods.resource, key));
      const image = spec.containers.find(({ name }) => name === request.container)?.image ?? '';
      return await bitcoinNodes.execute({ ...request, ip: status?.podIP ?? '', image });
    },
  );
  const registeredNode = await registerNode(admin, node, commands.port);
  afterAll(async () => {
    await registeredNode.close();
    await commands.close();
  });
}

/** Creates a namespace with the roles of these controllers. */
async function openPlatform(
  plane: ControlPlane,
  admin: KubeClient,
  controllers: readonly ControllerDefinition[],
): Promise<Platform> {
  const namespace = await startNamespace(admin);
  for (const { name: controller } of controllers) {
    const name = `outrigger-${controller}`;
    const binding = {
      ...{ apiVersion: bindingKind.apiVersion, kind: 'RoleBinding', metadata: { name, namespace } },
      roleRef: { apiGroup: group, kind: 'ClusterRole', name },
      subjects: [{ kind: 'User', apiGroup: group, name: controllerIdentity(controller) }],
    };
    await applyObject(admin, bindingKind, parseObject(binding), { fieldManager: 'cross' });
  }
  return {
    ...{ connection: plane.connection(), namespace, clock: { ms: Date.now() }, node, end: async () => undefined },
    connectionOf: (controller) => plane.connection(controllerIdentity(controller)),
    elsewhere: () => openPlatform(plane, admin, controllers),
  };
}
