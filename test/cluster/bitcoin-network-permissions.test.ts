// BitcoinNetwork with real nodes: kube-apiserver with OwnerReferencesPermissionEnforcement, kube-controller-manager,
// and a kubelet that runs btcd in its Pods. Each controller acts as the user of its generated roles. Also: the
// commands that the user of bitcoin-peers may run, and no others.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bitcoinCli } from '../../src/controllers/bitcoin-network/children.ts';
import { controllerIdentity } from '../../src/core/names.ts';
import { ApiError } from '../../src/kube/client/errors.ts';
import { exec } from '../../src/kube/client/exec.ts';
import { getObject } from '../../src/kube/client/read.ts';
import { Pod } from '../../src/kubernetes.ts';
import { bitcoinPrograms } from '../../tools/bitcoin-node/bitcoin-programs.ts';
import { startKubelet } from '../../tools/kubelet/kubelet.ts';
import { bitcoinNetworkWorkloadCases } from '../statements/bitcoin-network-workload-cases.ts';
import { generated, usePlane } from './plane.ts';

const names = ['bitcoin-network', 'bitcoin-peers'];
const { plane, clientOf } = await usePlane({
  users: names.map((name) => ({ name: controllerIdentity(name) })),
  enableAdmission: ['OwnerReferencesPermissionEnforcement'],
  controllerManager: true,
  applies: generated,
});
const admin = clientOf();
const programs = await bitcoinPrograms();
const namespaces = new Set<string>();
const kubelet = await startKubelet(admin, { acceptsNamespace: (namespace) => namespaces.has(namespace), programs });
afterAll(() => kubelet.close());

const connections = new Map(names.map((name) => [name, plane.connection(controllerIdentity(name))]));
const connection = plane.connection();

bitcoinNetworkWorkloadCases({
  connect: () => connection,
  controllers: (name) => connections.get(name) ?? connection,
  open: (namespace) => namespaces.add(namespace),
  setReady: kubelet.setReady,
  async forget(pod) {
    const { status } = Pod.read((await getObject(admin, Pod, pod)) ?? {});
    const before = programs.pid(status?.podIP ?? '');
    if (before === undefined) throw new Error(`no btcd runs for ${pod.name}`);
    process.kill(before, 'SIGKILL');
    await expect.poll(() => (programs.pid(status?.podIP ?? '') ?? before) !== before, { timeout: 60_000 }).toBe(true);
  },
});

describe('B30: the permissions of BitcoinNetwork’s controllers', () => {
  describe('exec in a pod with a node', () => {
    const pod = { namespace: 'default', name: 'lone-sts-0' };
    const container = 'lone-sts-ctr';
    beforeAll(async () => {
      namespaces.add(pod.namespace);
      const containers = [container, 'sidecar'].map((name) => ({ name, image: 'christianb93/bitcoind:v1.0' }));
      const body = { apiVersion: 'v1', kind: 'Pod', metadata: { name: pod.name }, spec: { containers } };
      await admin.request({ method: 'POST', path: '/api/v1/namespaces/default/pods', body });
      const info = { container, command: [...bitcoinCli, 'getnetworkinfo'] };
      const exitStatus = async () => (await exec(admin, pod, info)).exitCode;
      for (const deadline = Date.now() + 60_000; (await exitStatus().catch(() => 1)) !== 0; ) {
        if (Date.now() > deadline) throw new Error('the node did not respond');
      }
    });
    /** Returns the exit status, or the status of the API server's error. */
    async function run(into: string, command: readonly string[]): Promise<string> {
      const client = clientOf(controllerIdentity('bitcoin-peers'));
      try {
        return `exit status ${(await exec(client, pod, { container: into, command })).exitCode}`;
      } catch (error) {
        if (error instanceof ApiError) return `rejected with ${error.status}`;
        throw error;
      }
    }

    it.each([
      ['the list', container, [...bitcoinCli, 'getaddednodeinfo'], 'exit status 0'],
      ['an address', container, [...bitcoinCli, 'addnode', '127.0.0.9', 'add'], 'exit status 0'],
      ['a shell', container, ['sh', '-c', 'env'], 'rejected with 403'],
      ['the credentials', container, ['cat', '/bitcoin.conf'], 'rejected with 403'],
      ['the end of the node', container, [...bitcoinCli, 'stop'], 'rejected with 403'],
      ['another configuration', container, [bitcoinCli[0], '-conf=/x', 'getaddednodeinfo'], 'rejected with 403'],
      ['another container', 'sidecar', [...bitcoinCli, 'getaddednodeinfo'], 'rejected with 403'],
    ])('B30: exec of bitcoin-peers for %s in %s: %j ends with %s', async (_, into, command, expected) => {
      expect(await run(into, command)).toBe(expected);
    });

    it.each([
      'not an address',
      '10.1.0.3:18444',
      '-rpcconnect=203.0.113.1',
      '010.1.0.3',
    ])('the API server rejects pod.status.podIP %s', async (ip) => {
      const path = `/api/v1/namespaces/default/pods/${pod.name}/status`;
      const contentType = 'application/merge-patch+json';
      const body = { status: { podIP: ip, podIPs: [{ ip }] } };
      await expect(admin.request({ method: 'PATCH', path, contentType, body })).rejects.toMatchObject({ status: 422 });
    });
  });
});
