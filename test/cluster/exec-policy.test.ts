// Only what the generated role and policy leave of pods/exec, on a real kube-apiserver: a controller runs what it declared, from
// its context to the kubelet and back, and nothing beside it. The kubelet is the tests' own; it answers whatever it is asked.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { bitcoinPeers } from '../../src/controllers/bitcoin-network/bitcoin-peers.ts';
import { defineController } from '../../src/core/controller.ts';
import { existingKind } from '../../src/core/kind.ts';
import { defineResource } from '../../src/core/resource.ts';
import { controllerIdentity, systemNamespace } from '../../src/core/names.ts';
import { rbacOf } from '../../src/generate/rbac/rbac.ts';
import { watchListOf } from '../../src/generate/watch-list.ts';
import { createClient, type KubeClient } from '../../src/kube/client/client.ts';
import { ApiError } from '../../src/kube/client/errors.ts';
import { exec } from '../../src/kube/exec.ts';
import type { ControlPlane } from '../../tools/control-plane/control-plane.ts';
import { startControlPlane } from '../../tools/control-plane/start.ts';
import { openExecServer } from '../kube/client/exec-server.ts';
import { createKubectl, type Kubectl } from './kubectl.ts';

const group = 'tea.example.com';
const pot = defineResource({
  ...{ group, version: 'v1', kind: 'Pot', conditions: [] },
  ...{ spec: z.object({}), status: z.object({}) },
});
const awkward = `it's "5\\6" ü\n`;
const brewer = defineController(pot)({
  name: 'brewer',
  reads: [existingKind<object>({ group: '', version: 'v1', kind: 'Pod' })],
  exec: {
    container: '-pot',
    commands: [['kettle', '-q', 'list'], { argv: ['kettle', 'heat'], changes: true }, ['say', awkward]],
  },
  reconcile: async () => ({ status: {}, conditions: {} }),
});
const drinker = defineController(pot)({ name: 'drinker', reconcile: async () => ({ status: {}, conditions: {} }) });
const registry = [brewer, drinker, bitcoinPeers];

// One comes as a user, the other as a group, as an EKS access entry gives it.
const asUser = controllerIdentity('brewer');
const asGroup = 'arn:aws:iam::000000000000:role/brewer';
const undeclared = controllerIdentity('drinker');
const peers = controllerIdentity('bitcoin-peers');
const stranger = 'somebody';

// kubectl applies a list of one namespace at a time, and the generated objects have one.
const namespace = systemNamespace;

let plane: ControlPlane;
let kubectl: Kubectl;
let kubelet: Awaited<ReturnType<typeof openExecServer>>;
const clients = new Map<string, KubeClient>();

function clientOf(user: string): KubeClient {
  const client = clients.get(user) ?? createClient(plane.connection(user));
  clients.set(user, client);
  return client;
}

beforeAll(async () => {
  kubelet = await openExecServer(
    ({ say, end }, { query }) => {
      const words = query.filter(([name]) => name === 'command').map(([, word]) => word);
      say(1, JSON.stringify(words));
      say(2, 'done');
      end(words.includes('cold') ? 23 : 0);
    },
    { tls: true },
  );
  plane = await startControlPlane({
    users: [
      { name: asUser },
      { name: asGroup, groups: [controllerIdentity('brewer')] },
      { name: undeclared },
      { name: peers },
      { name: stranger },
    ],
  });
  kubectl = await createKubectl(plane.kubectlPath, plane.kubeconfig(), namespace);
  const items = [...rbacOf(registry, watchListOf(registry)), ...whoeverMayExec(stranger), ...nodeAndPod()];
  await kubectl.say(['apply', '--server-side', '-f', '-'], { manifest: { apiVersion: 'v1', kind: 'List', items } });
  const status = {
    addresses: [{ type: 'InternalIP', address: '127.0.0.1' }],
    daemonEndpoints: { kubeletEndpoint: { Port: Number(kubelet.url.port) } },
  };
  await kubectl.say(['patch', 'node', 'here', '--subresource', 'status', '-p', JSON.stringify({ status })]);
  await enforced();
});
afterAll(async () => {
  for (const client of clients.values()) client.close();
  await kubectl.close();
  await plane.stop();
  await kubelet.close();
});

/** RBAC for exec, and no policy. */
function whoeverMayExec(name: string): readonly object[] {
  const rbac = 'rbac.authorization.k8s.io';
  const role = { apiVersion: `${rbac}/v1`, metadata: { name: 'exec' } };
  return [
    { ...role, kind: 'ClusterRole', rules: [{ apiGroups: [''], resources: ['pods/exec'], verbs: ['get', 'create'] }] },
    {
      ...role,
      kind: 'ClusterRoleBinding',
      roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: 'exec' },
      subjects: [{ kind: 'User', apiGroup: rbac, name }],
    },
  ];
}

function nodeAndPod(): readonly object[] {
  // The generated namespace takes restricted pods alone.
  const restricted = { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } };
  const containers = ['tea-pot', 'sidecar', 'net-sts-ctr'].map((name) => ({
    ...{ name, image: 'none', securityContext: restricted },
  }));
  const securityContext = { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } };
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'tea', namespace } };
  return [
    { apiVersion: 'v1', kind: 'Node', metadata: { name: 'here' } },
    { ...pod, spec: { nodeName: 'here', securityContext, containers } },
  ];
}

type Options = Readonly<Record<string, string | boolean | readonly string[]>>;

/** The status of the answer to a request for exec: 101 where it was let through to the kubelet. */
async function asks(user: string, query: Options, name = 'tea'): Promise<number> {
  const path = `/api/v1/namespaces/${namespace}/pods/${name}/exec`;
  try {
    await clientOf(user).webSocket({
      ...{ path, query: { stdout: true, ...query }, protocol: 'v4.channel.k8s.io', maxMessageBytes: 100_000 },
      receive: () => true,
    });
    return 101;
  } catch (error) {
    if (error instanceof ApiError) return error.status;
    throw error;
  }
}

/** Resolves when the new policy has taken effect, of which nothing but its effect tells. */
async function enforced(): Promise<void> {
  for (const giveUpAt = Date.now() + 30_000; (await asks(asUser, { container: 'tea-pot', command: 'sh' })) === 101; ) {
    if (Date.now() > giveUpAt) throw new Error('the policy never took effect');
  }
}

const list = ['kettle', '-q', 'list'];
const container = 'tea-pot';

describe('a controller that declares commands', () => {
  it.each([
    ['as a user', asUser],
    ['as a group', asGroup],
  ])('runs them, %s, from its context’s client to the kubelet and back', async (_, user) => {
    const pod = { namespace, name: 'tea' };
    const run = (...command: string[]) => exec(clientOf(user), pod, { container, command });
    expect(await run(...list)).toEqual({ exitCode: 0, stdout: JSON.stringify(list), stderr: 'done' });
    expect(await run('kettle', 'heat', 'cold')).toMatchObject({ exitCode: 23 });
    const odd = ['say', awkward, '$(reboot)', '', '\u{1f600}'];
    expect((await run(...odd)).stdout).toBe(JSON.stringify(odd));
  });

  it.each<[string, Options]>([
    ['a shell', { container, command: ['sh', '-c', 'kettle -q list'] }],
    ['another sub-command', { container, command: ['kettle', 'break'] }],
    ['the words of a command in another order', { container, command: ['kettle', 'list', '-q'] }],
    ['something before the command', { container, command: ['env', ...list] }],
    ['a word that only begins like a declared one', { container, command: ['kettle', 'heater'] }],
    ['less than a declared command', { container, command: ['kettle', '-q'] }],
    ['no command', { container }],
    ['another container', { container: 'sidecar', command: list }],
    ['whichever container comes first', { command: list }],
    ['stdin', { container, command: list, stdin: true }],
    ['a terminal', { container, command: list, tty: true }],
  ])('is refused %s', async (_, options) => {
    const before = kubelet.asked.length;
    for (const user of [asUser, asGroup]) expect(await asks(user, options)).toBe(422);
    expect(kubelet.asked.length).toBe(before);
  });

  it('is told in its refusal what is the matter, by whom', async () => {
    const pod = { namespace, name: 'tea' };
    const refused = exec(clientOf(asUser), pod, { container, command: ['kettle', 'break', 'hunter2'] });
    await expect(refused).rejects.toThrow('brewer may run nothing but the commands that it declares');
    await expect(refused).rejects.not.toThrow('hunter2');
  });

  it('is told of a pod that is not there, and of a container that the pod does not have', async () => {
    expect(await asks(asUser, { container, command: list }, 'coffee')).toBe(404);
    expect(await asks(asUser, { container: 'milk-pot', command: list })).toBe(400);
  });

  it('may not attach, forward ports or reach through a proxy instead', async () => {
    for (const subresource of ['attach', 'portforward', 'proxy']) {
      const path = `/api/v1/namespaces/${namespace}/pods/tea/${subresource}`;
      await expect(clientOf(asUser).request({ method: 'GET', path })).rejects.toMatchObject({ status: 403 });
    }
  });
});

describe('bitcoin-peers', () => {
  const cli = ['/usr/local/bin/bitcoin-cli', '-regtest', '-conf=/bitcoin.conf'];
  const node = 'net-sts-ctr';

  it.each<[string, readonly string[]]>([
    ['reads the list of added nodes', ['getaddednodeinfo']],
    ['adds a node', ['addnode', '10.0.0.1', 'add']],
    ['removes a node', ['addnode', '10.0.0.1', 'remove']],
  ])('%s', async (_, words) => {
    expect(await asks(peers, { container: node, command: [...cli, ...words] })).toBe(101);
  });

  it.each<[string, Options]>([
    ['stop the node', { container: node, command: [...cli, 'stop'] }],
    ['use the wallet', { container: node, command: [...cli, 'sendtoaddress', 'a', '1'] }],
    ['read another configuration', { container: node, command: [cli[0] ?? '', '-conf=/etc/passwd', 'addnode'] }],
    ['run a shell', { container: node, command: ['/bin/sh', '-c', [...cli, 'getaddednodeinfo'].join(' ')] }],
    ['run a shell with a declared command behind it', { container: node, command: ['/bin/sh', '-c', 'id', ...cli] }],
    ['type', { container: node, command: [...cli, 'getaddednodeinfo'], stdin: true }],
    ['speak to another container', { container: 'sidecar', command: [...cli, 'getaddednodeinfo'] }],
  ])('may not %s', async (_, options) => {
    expect(await asks(peers, options)).toBe(422);
  });
});

describe('everybody else', () => {
  it('runs what RBAC lets them', async () => {
    expect(await asks(stranger, { container: 'sidecar', command: ['sh'], stdin: true, tty: true })).toBe(101);
    // Past admission: the pod has several containers, and which is meant was not said.
    expect(await asks(stranger, { command: ['sh'] })).toBe(400);
  });

  it('of the controllers has no exec at all', async () => {
    expect(await asks(undeclared, { container, command: list })).toBe(403);
  });
});
