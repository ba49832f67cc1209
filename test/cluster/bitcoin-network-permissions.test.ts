// BitcoinNetwork with real nodes: kube-apiserver with OwnerReferencesPermissionEnforcement, kube-controller-manager, and a kubelet that
// runs btcd in its pods. Each controller comes as the user that the generated roles make of it; and what these may not.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bitcoinCli } from '../../src/controllers/bitcoin-network/children.ts';
import { existingKind } from '../../src/core/kind.ts';
import { controllerIdentity, systemNamespace } from '../../src/core/names.ts';
import { createClient } from '../../src/kube/client/client.ts';
import type { Connection } from '../../src/kube/connection.ts';
import { ApiError } from '../../src/kube/client/errors.ts';
import { exec } from '../../src/kube/exec.ts';
import { getObject } from '../../src/kube/client/read.ts';
import { bitcoinPrograms } from '../../tools/bitcoin-node/bitcoin-programs.ts';
import { startControlPlane } from '../../tools/control-plane/start.ts';
import { startKubelet } from '../../tools/kubelet/kubelet.ts';
import { bitcoinNetworkWorkloadCases } from '../statements/bitcoin-network-workload-cases.ts';
import { createKubectl } from './kubectl.ts';
import { may } from './can-i.ts';

const names = ['bitcoin-network', 'bitcoin-peers'];
const plane = await startControlPlane({
  users: names.map((name) => ({ name: controllerIdentity(name) })),
  enableAdmission: ['OwnerReferencesPermissionEnforcement'],
  controllerManager: true,
});
const admin = createClient(plane.connection());
const programs = await bitcoinPrograms();
const namespaces = new Set<string>();
const kubelet = await startKubelet(admin, { takes: (namespace) => namespaces.has(namespace), programs });
afterAll(async () => {
  await kubelet.close();
  admin.close();
  await plane.stop();
});
beforeAll(async () => {
  const kubectl = await createKubectl(plane.kubectlPath, plane.kubeconfig(), systemNamespace);
  await kubectl.say(['apply', '--server-side', '-k', 'infra/kubernetes/generated']);
  await kubectl.close();
});

const connections = new Map(names.map((name) => [name, plane.connection(controllerIdentity(name))]));
const connection = plane.connection();
const pods = existingKind<{ readonly status?: { readonly podIP?: string } }>({ group: '', version: 'v1', kind: 'Pod' });

bitcoinNetworkWorkloadCases({
  connect: () => connection,
  controllers: (name) => connections.get(name) ?? connection,
  open: (namespace) => namespaces.add(namespace),
  setReady: kubelet.setReady,
  async forget(pod) {
    const { status } = pods.read((await getObject(admin, pods, pod)) ?? {});
    const before = programs.pid(status?.podIP ?? '');
    if (before === undefined) throw new Error(`no btcd runs for ${pod.name}`);
    process.kill(before, 'SIGKILL');
    await expect.poll(() => (programs.pid(status?.podIP ?? '') ?? before) !== before, { timeout: 60_000 }).toBe(true);
  },
});

describe('B30: the rights of BitcoinNetwork’s controllers', () => {
  const as = (name: string): Connection => connections.get(name) ?? connection;
  const workloads = { group: 'apps', resource: 'statefulsets' };
  const status = { group: 'bitcoin.example.com', resource: 'bitcoinnetworks', subresource: 'status' };

  it.each([
    ['bitcoin-network', { verb: 'patch', ...workloads }, true],
    ['bitcoin-network', { verb: 'patch', ...status }, true],
    ['bitcoin-network', { verb: 'get', resource: 'secrets' }, false],
    ['bitcoin-network', { verb: 'list', resource: 'secrets' }, false],
    ['bitcoin-network', { verb: 'get', resource: 'pods' }, false],
    ['bitcoin-network', { verb: 'create', resource: 'pods', subresource: 'exec' }, false],
    ['bitcoin-peers', { verb: 'patch', ...status }, true],
    ['bitcoin-peers', { verb: 'create', resource: 'pods', subresource: 'exec' }, true],
    ['bitcoin-peers', { verb: 'get', resource: 'secrets' }, false],
    ['bitcoin-peers', { verb: 'list', resource: 'secrets' }, false],
    ['bitcoin-peers', { verb: 'watch', resource: 'secrets' }, false],
    ['bitcoin-peers', { verb: 'patch', ...workloads }, false],
    ['bitcoin-peers', { verb: 'delete', resource: 'pods' }, false],
    ['bitcoin-peers', { verb: 'get', resource: 'pods', subresource: 'log' }, false],
    ['bitcoin-peers', { verb: 'create', resource: 'pods', subresource: 'proxy' }, false],
  ])('B22, B30: %s: %o is %s', async (name, attributes, expected) => {
    expect(await may(as(name), attributes)).toBe(expected);
  });

  describe('in a pod with a node', () => {
    const pod = { namespace: 'default', name: 'lone-sts-0' };
    const container = 'lone-sts-ctr';
    beforeAll(async () => {
      namespaces.add(pod.namespace);
      const containers = [container, 'sidecar'].map((name) => ({ name, image: 'christianb93/bitcoind:v1.0' }));
      const body = { apiVersion: 'v1', kind: 'Pod', metadata: { name: pod.name }, spec: { containers } };
      await admin.request({ method: 'POST', path: '/api/v1/namespaces/default/pods', body });
      const info = { container, command: [...bitcoinCli, 'getnetworkinfo'] };
      const answers = async () => (await exec(admin, pod, info)).exitCode;
      for (const giveUpAt = Date.now() + 60_000; (await answers().catch(() => 1)) !== 0; ) {
        if (Date.now() > giveUpAt) throw new Error('the node never answered');
      }
    });
    /** The exit code, or what the API server answered. */
    async function run(into: string, command: readonly string[]): Promise<string> {
      const client = createClient(as('bitcoin-peers'));
      try {
        return `exit status ${(await exec(client, pod, { container: into, command })).exitCode}`;
      } catch (error) {
        if (error instanceof ApiError) return `refused with ${error.status}`;
        throw error;
      } finally {
        client.close();
      }
    }

    it.each([
      ['the list', container, [...bitcoinCli, 'getaddednodeinfo'], 'exit status 0'],
      ['an address', container, [...bitcoinCli, 'addnode', '127.0.0.9', 'add'], 'exit status 0'],
      ['a shell', container, ['sh', '-c', 'env'], 'refused with 422'],
      ['the credentials', container, ['cat', '/bitcoin.conf'], 'refused with 422'],
      ['the end of the node', container, [...bitcoinCli, 'stop'], 'refused with 422'],
      ['another configuration', container, [bitcoinCli[0], '-conf=/x', 'getaddednodeinfo'], 'refused with 422'],
      ['another container', 'sidecar', [...bitcoinCli, 'getaddednodeinfo'], 'refused with 422'],
    ])('B30: bitcoin-peers that asks for %s in %s: %j is %s', async (_, into, command, expected) => {
      expect(await run(into, command)).toBe(expected);
    });
  });
});
