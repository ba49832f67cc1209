// Only what a person gets through the spec of a sample beyond his own permissions, on a real kube-apiserver: the Secret
// that a BitcoinNetwork names, and the privileges of the pods that the samples make.
import { beforeAll, describe, expect, it } from 'vitest';
import { networkStatefulSet } from '../../src/controllers/bitcoin-network/children.ts';
import { BitcoinNetwork } from '../../src/controllers/bitcoin-network/kind.ts';
import { bitcoinNetwork } from '../../src/controllers/bitcoin-network.ts';
import { proxyDeployment } from '../../src/controllers/memcached-proxy/children.ts';
import { MemcachedProxy } from '../../src/controllers/memcached-proxy/kind.ts';
import { crdOf } from '../../src/generate/crd/crd.ts';
import { rbacOf } from '../../src/generate/rbac/rbac.ts';
import { watchListOf } from '../../src/generate/watch-list.ts';
import type { KubeRequest } from '../../src/kube/client/client.ts';
import { collectionPath, objectPath } from '../../src/kube/client/path.ts';
import { answerTo, grant, untilEffective, usePlane } from './plane.ts';

const namespace = 'default';
const registry = [bitcoinNetwork];
const networks = { apiGroups: [BitcoinNetwork.group], resources: [BitcoinNetwork.plural], verbs: ['*'] };
const secret = { apiGroups: [''], resources: ['secrets'], resourceNames: ['mine'], verbs: ['get'] };
const restrictedNamespace = {
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name: 'restricted', labels: { 'pod-security.kubernetes.io/enforce': 'restricted' } },
};
const { clientOf } = await usePlane({
  apiServerFlags: ['--allow-privileged=true'],
  users: [{ name: 'reader' }, { name: 'stranger' }],
  applies: [
    ...rbacOf(registry, watchListOf(registry)),
    ...grant('networks', networks, ['reader', 'stranger']),
    ...grant('secret', secret, ['reader']),
    ...[crdOf(BitcoinNetwork), restrictedNamespace],
  ],
});
const answer = (user: string | undefined, request: KubeRequest) => answerTo(clientOf(user), request);
beforeAll(async () => {
  const probe = post(network('probe', 'any'), { dryRun: 'All' });
  await untilEffective(async () => (await answer('stranger', probe)).includes('names a Secret'));
});

const network = (name: string, secret?: string) => ({
  apiVersion: BitcoinNetwork.apiVersion,
  kind: BitcoinNetwork.kind,
  metadata: { name, namespace },
  spec: { nodes: 1, ...(secret === undefined ? {} : { secret }) },
});
const post = (body: object, query: Readonly<Record<string, string>> = {}): KubeRequest => ({
  method: 'POST',
  path: collectionPath(BitcoinNetwork, namespace),
  body,
  query,
});
const patch = (name: string, body: object): KubeRequest => ({
  method: 'PATCH',
  path: objectPath(BitcoinNetwork, { namespace, name }),
  body,
  contentType: 'application/merge-patch+json',
});
const apply = (body: ReturnType<typeof network>): KubeRequest => ({
  ...patch(body.metadata.name, body),
  contentType: 'application/apply-patch+yaml',
  query: { fieldManager: 'user', force: 'true' },
});

const refused = 'spec.secret names a Secret: only a user who may get that Secret may set it';

describe('the Secret that a BitcoinNetwork names', () => {
  // Control T28.
  it('a user who may get the Secret creates a network with it, by POST and by apply', async () => {
    expect(await answer('reader', post(network('a', 'mine')))).toBe('allowed');
    expect(await answer('reader', apply(network('b', 'mine')))).toBe('allowed');
  });

  // Control T29.
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
    method: 'POST',
    path: '/api/v1/namespaces/restricted/pods',
    query: { dryRun: 'All' },
    body: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, spec },
  });

  it.each(
    templates,
    // Control T30.
  )('a pod of %s runs in a namespace with Pod Security restricted, without a token', async (_, spec) => {
    expect(spec.automountServiceAccountToken).toBe(false);
    expect(await answer(undefined, pod(spec))).toBe('allowed');
    expect(await answer(undefined, pod({ ...spec, securityContext: {} }))).toContain('violates PodSecurity');
  });

  // Control T31.
  it('a MemcachedProxy has no field for the privileges of its container', () => {
    expect(JSON.stringify(crdOf(MemcachedProxy))).not.toContain('securityContext');
  });
});
