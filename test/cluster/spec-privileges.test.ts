// Only what a person gets through the spec of a sample beyond his own permissions, on a real kube-apiserver: the Secret
// that a BitcoinNetwork names, and the privileges of the pods that the samples make.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { networkStatefulSet } from '../../src/controllers/bitcoin-network/children.ts';
import { BitcoinNetwork } from '../../src/controllers/bitcoin-network/kind.ts';
import { bitcoinNetwork } from '../../src/controllers/bitcoin-network.ts';
import { proxyDeployment } from '../../src/controllers/memcached-proxy/children.ts';
import { MemcachedProxy } from '../../src/controllers/memcached-proxy/kind.ts';
import { crdOf } from '../../src/generate/crd/crd.ts';
import { rbacOf } from '../../src/generate/rbac/rbac.ts';
import { watchListOf } from '../../src/generate/watch-list.ts';
import { createClient, type KubeClient, type KubeRequest } from '../../src/kube/client/client.ts';
import { ApiError } from '../../src/kube/client/errors.ts';
import { collectionPath, objectPath } from '../../src/kube/client/path.ts';
import type { ControlPlane } from '../../tools/control-plane/control-plane.ts';
import { startControlPlane } from '../../tools/control-plane/start.ts';
import { createKubectl } from './kubectl.ts';

const namespace = 'default';
const registry = [bitcoinNetwork];
let plane: ControlPlane;
const clients = new Map<string, KubeClient>();

function clientOf(user?: string): KubeClient {
  const client = clients.get(user ?? '') ?? createClient(plane.connection(user));
  clients.set(user ?? '', client);
  return client;
}

beforeAll(async () => {
  plane = await startControlPlane({
    apiServerFlags: ['--allow-privileged=true'],
    users: [{ name: 'reader' }, { name: 'stranger' }],
  });
  const apiVersion = 'rbac.authorization.k8s.io/v1';
  const grant = (name: string, rule: object, users: readonly string[]) => [
    { apiVersion, kind: 'ClusterRole', metadata: { name }, rules: [rule] },
    {
      ...{ apiVersion, kind: 'ClusterRoleBinding', metadata: { name } },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
      subjects: users.map((one) => ({ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: one })),
    },
  ];
  const networks = { apiGroups: [BitcoinNetwork.group], resources: [BitcoinNetwork.plural], verbs: ['*'] };
  const secret = { apiGroups: [''], resources: ['secrets'], resourceNames: ['mine'], verbs: ['get'] };
  const items = [
    ...rbacOf(registry, watchListOf(registry)),
    ...grant('networks', networks, ['reader', 'stranger']),
    ...grant('secret', secret, ['reader']),
    crdOf(BitcoinNetwork),
    restrictedNamespace,
  ];
  const kubectl = await createKubectl(plane.kubectlPath, plane.kubeconfig(), 'outrigger-system');
  await kubectl.output(['apply', '--server-side', '-f', '-'], { manifest: { apiVersion: 'v1', kind: 'List', items } });
  await kubectl.close();
  // The kind and the policy become effective after a while, which only their effect shows.
  for (const deadline = Date.now() + 30_000; ; ) {
    const found = await answer('stranger', post(network('probe', 'any'), { dryRun: 'All' }));
    if (found.includes('names a Secret')) break;
    if (Date.now() > deadline) throw new Error(`the policy did not become effective: ${found}`);
  }
});
afterAll(async () => {
  for (const client of clients.values()) client.close();
  await plane.stop();
});

const restrictedNamespace = {
  ...{ apiVersion: 'v1', kind: 'Namespace' },
  metadata: { name: 'restricted', labels: { 'pod-security.kubernetes.io/enforce': 'restricted' } },
};
const network = (name: string, secret?: string) => ({
  ...{ apiVersion: BitcoinNetwork.apiVersion, kind: BitcoinNetwork.kind, metadata: { name, namespace } },
  spec: { nodes: 1, ...(secret === undefined ? {} : { secret }) },
});
const post = (body: object, query: Readonly<Record<string, string>> = {}): KubeRequest => ({
  ...{ method: 'POST', path: collectionPath(BitcoinNetwork, namespace), body, query },
});
const patch = (name: string, body: object): KubeRequest => ({
  ...{ method: 'PATCH', path: objectPath(BitcoinNetwork, { namespace, name }), body },
  contentType: 'application/merge-patch+json',
});
const apply = (body: ReturnType<typeof network>): KubeRequest => ({
  ...patch(body.metadata.name, body),
  ...{ contentType: 'application/apply-patch+yaml', query: { fieldManager: 'user', force: 'true' } },
});

async function answer(user: string | undefined, request: KubeRequest): Promise<string> {
  try {
    await clientOf(user).request(request);
    return 'allowed';
  } catch (error) {
    if (error instanceof ApiError) return error.message;
    throw error;
  }
}

const refused = 'spec.secret names a Secret: only a user who may get that Secret may set it';

describe('the Secret that a BitcoinNetwork names', () => {
  it('a user who may get the Secret creates a network with it, by POST and by apply', async () => {
    expect(await answer('reader', post(network('a', 'mine')))).toBe('allowed');
    expect(await answer('reader', apply(network('b', 'mine')))).toBe('allowed');
  });

  it('a user who may not get the Secret neither creates a network with it nor sets it', async () => {
    await clientOf().request(post(network('c')));
    for (const [user, secret] of [
      ['stranger', 'mine'],
      ['reader', 'other'],
    ] as const) {
      expect(await answer(user, post(network('d', secret)))).toContain(refused);
      expect(await answer(user, post(network('d', secret), { dryRun: 'All' }))).toContain(refused);
      expect(await answer(user, apply(network('d', secret)))).toContain(refused);
      expect(await answer(user, patch('c', { spec: { secret } }))).toContain(refused);
    }
  });

  it('a user without access to the Secret changes other fields, removes it, and deletes the network', async () => {
    await clientOf().request(post(network('e', 'mine')));
    expect(await answer('stranger', patch('e', { spec: { nodes: 2 } }))).toBe('allowed');
    expect(await answer('stranger', patch('e', { metadata: { finalizers: ['example.com/f'] } }))).toBe('allowed');
    expect(await answer('stranger', patch('e', { metadata: { finalizers: null } }))).toBe('allowed');
    expect(await answer('stranger', patch('e', { spec: { secret: null } }))).toBe('allowed');
    expect(await answer('stranger', post(network('f')))).toBe('allowed');
    expect(await answer('stranger', { method: 'DELETE', path: patch('f', {}).path })).toBe('allowed');
  });
});

describe('the pods of the samples', () => {
  const metadata = { name: 'p', namespace, uid: 'u', resourceVersion: '1', generation: 1 };
  const proxy = MemcachedProxy.read({ metadata, spec: { rules: { service: { name: 's', port: 1 } } } });
  const templates = [
    ['a MemcachedProxy', proxyDeployment(proxy, 'c').spec.template.spec],
    ['a BitcoinNetwork', networkStatefulSet('n', { nodes: 1, secret: 's' }).spec.template.spec],
  ] as const;
  const pod = (spec: object): KubeRequest => ({
    ...{ method: 'POST', path: '/api/v1/namespaces/restricted/pods', query: { dryRun: 'All' } },
    body: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, spec },
  });

  it.each(
    templates,
  )('a pod of %s runs in a namespace with Pod Security restricted, without a token', async (_, spec) => {
    expect(spec.automountServiceAccountToken).toBe(false);
    expect(await answer(undefined, pod(spec))).toBe('allowed');
    expect(await answer(undefined, pod({ ...spec, securityContext: {} }))).toContain('violates PodSecurity');
  });

  it('a MemcachedProxy has no field for the privileges of its container', () => {
    expect(JSON.stringify(crdOf(MemcachedProxy))).not.toContain('securityContext');
  });
});
