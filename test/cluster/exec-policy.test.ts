// Only the pods/exec permissions of the generated role and policy, on a real kube-apiserver: a controller runs the
// commands that it declared, from its context to the kubelet and back, and no others. The kubelet is the test's own and
// accepts every command.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { defineKind } from '../../src/api/custom-kind.ts';
import { foreignKind } from '../../src/api/foreign-kind.ts';
import { controllerIdentity, systemNamespace } from '../../src/core/names.ts';
import { rbacOf } from '../../src/generate/rbac/rbac.ts';
import { watchListOf } from '../../src/generate/watch-list.ts';
import { ApiError } from '../../src/kube/client/errors.ts';
import { exec } from '../../src/kube/client/exec.ts';
import { openExecServer } from '../kube/client/exec-server.ts';
import { grant, untilEffective, usePlane } from './plane.ts';

const group = 'tea.example.com';
const pot = defineKind({ group, version: 'v1', kind: 'Pot', conditions: [], spec: z.object({}), status: z.object({}) });
const awkward = `it's "5\\6" ü\n`;
const brewer = pot.controller('brewer', {
  reads: [foreignKind({ group: '', version: 'v1', kind: 'Pod' })],
  exec: {
    container: '-pot',
    commands: [['kettle', '-q', 'list'], { argv: ['kettle', 'heat'], mutates: true }, ['say', awkward]],
  },
  reconcile: async () => ({ status: {}, conditions: {} }),
});
const drinker = pot.controller('drinker', { reconcile: async () => ({ status: {}, conditions: {} }) });
const registry = [brewer, drinker];

// One acts as a user, the other as a group, as an EKS access entry assigns it.
const asUser = controllerIdentity('brewer');
const asGroup = 'arn:aws:iam::000000000000:role/brewer';
const undeclared = controllerIdentity('drinker');
const stranger = 'other-user';

// kubectl applies a list of one namespace at a time, and the generated objects have one.
const namespace = systemNamespace;

const kubelet = await openExecServer(
  ({ send, end }, { query }) => {
    const words = query.filter(([name]) => name === 'command').map(([, word]) => word);
    send(1, JSON.stringify(words));
    send(2, 'done');
    end(words.includes('cold') ? 23 : 0);
  },
  { tls: true },
);
afterAll(() => kubelet.close());
const { kubectl, clientOf } = await usePlane({
  users: [
    { name: asUser },
    { name: asGroup, groups: [controllerIdentity('brewer')] },
    ...[undeclared, stranger].map((name) => ({ name })),
  ],
  applies: [
    ...rbacOf(registry, watchListOf(registry)),
    // RBAC for exec, without a policy.
    ...grant('exec', { apiGroups: [''], resources: ['pods/exec'], verbs: ['get', 'create'] }, [stranger]),
    ...nodeAndPod(),
  ],
});
beforeAll(async () => {
  const status = {
    addresses: [{ type: 'InternalIP', address: '127.0.0.1' }],
    daemonEndpoints: { kubeletEndpoint: { Port: Number(kubelet.url.port) } },
  };
  await kubectl.output(['patch', 'node', 'here', '--subresource', 'status', '-p', JSON.stringify({ status })]);
  await untilEffective(async () => (await execStatus(asUser, { container: 'sidecar', command: 'sh' })) !== 101);
});

function nodeAndPod(): readonly object[] {
  // The generated namespace allows only restricted pods.
  const restricted = { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } };
  const containers = ['tea-pot', 'sidecar'].map((name) => ({ name, image: 'none', securityContext: restricted }));
  const securityContext = { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } };
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'tea', namespace } };
  return [
    { apiVersion: 'v1', kind: 'Node', metadata: { name: 'here' } },
    { ...pod, spec: { nodeName: 'here', securityContext, containers } },
  ];
}

type Options = Readonly<Record<string, string | boolean | readonly string[]>>;

/** Returns the status of the response to an exec request: 101 if it was forwarded to the kubelet. */
async function execStatus(user: string, query: Options, name = 'tea'): Promise<number> {
  const path = `/api/v1/namespaces/${namespace}/pods/${name}/exec`;
  try {
    await clientOf(user).webSocket({
      path,
      query: { stdout: true, ...query },
      protocol: 'v4.channel.k8s.io',
      maxMessageBytes: 100_000,
      receive: () => true,
    });
    return 101;
  } catch (error) {
    if (error instanceof ApiError) return error.status;
    throw error;
  }
}

const list = ['kettle', '-q', 'list'];
const container = 'tea-pot';

describe('exec of a controller that declares commands', () => {
  it.each([
    ['as a user', asUser],
    ['as a group', asGroup],
  ])('a declared command runs, %s, from the context’s client to the kubelet and back', async (_, user) => {
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
    ['a word before the command', { container, command: ['env', ...list] }],
    ['a word with a declared one as its prefix', { container, command: ['kettle', 'heater'] }],
    ['a part of a declared command', { container, command: ['kettle', '-q'] }],
    ['no command', { container }],
    ['another container', { container: 'sidecar', command: list }],
    ['the default container', { command: list }],
    ['stdin', { container, command: list, stdin: true }],
    ['a terminal', { container, command: list, tty: true }],
    // Control T17.
  ])('the policy rejects exec with %s', async (_, options) => {
    const before = kubelet.requests.length;
    // 422: without a command the policy cannot be evaluated, and fails closed.
    const expected = options.command === undefined ? 422 : 403;
    for (const user of [asUser, asGroup]) expect([403, expected]).toContain(await execStatus(user, options));
    expect(kubelet.requests.length).toBe(before);
  });

  it('the rejection of an exec names the controller and the rule, not the arguments', async () => {
    const pod = { namespace, name: 'tea' };
    const rejected = exec(clientOf(asUser), pod, { container, command: ['kettle', 'break', 'hunter2'] });
    await expect(rejected).rejects.toThrow('brewer may only run the commands that it declares');
    await expect(rejected).rejects.not.toThrow('hunter2');
  });

  it('exec returns 404 for an unknown pod, and 400 for an unknown container', async () => {
    expect(await execStatus(asUser, { container, command: list }, 'coffee')).toBe(404);
    expect(await execStatus(asUser, { container: 'milk-pot', command: list })).toBe(400);
  });

  // Control T18.
  it('attach, port forwarding and proxy are denied', async () => {
    for (const subresource of ['attach', 'portforward', 'proxy']) {
      const path = `/api/v1/namespaces/${namespace}/pods/tea/${subresource}`;
      await expect(clientOf(asUser).request({ method: 'GET', path })).rejects.toMatchObject({ status: 403 });
    }
  });
});

describe('exec of other users', () => {
  it('other users may exec what RBAC allows', async () => {
    expect(await execStatus(stranger, { container: 'sidecar', command: ['sh'], stdin: true, tty: true })).toBe(101);
    // The request passes admission; it fails because the pod has several containers and none was named.
    expect(await execStatus(stranger, { command: ['sh'] })).toBe(400);
  });

  it('a controller without declared commands has no access to exec', async () => {
    expect(await execStatus(undeclared, { container, command: list })).toBe(403);
  });
});
