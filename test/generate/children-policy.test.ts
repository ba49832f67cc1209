// Only the generated policy on the children of a controller, on both servers; the real one allows privileged pods. The
// controller's identities may do everything by RBAC, so that only the policy refuses; each case asserts its message.
import { beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { defineKind } from '../../src/api/custom-kind.ts';
import { controllerIdentity, fieldManagerOf, ownerUidLabel } from '../../src/core/names.ts';
import { crdOf } from '../../src/generate/crd/crd.ts';
import { rbacOf } from '../../src/generate/rbac/rbac.ts';
import { watchListOf } from '../../src/generate/watch-list.ts';
import type { KubeRequest } from '../../src/kube/client/client.ts';
import { isPolicyDenied } from '../../src/kube/client/errors.ts';
import { parseObject } from '../../src/kube/client/object.ts';
import { ConfigMap, CronJob, Deployment, Pod, Secret, Service, StatefulSet } from '../../src/kubernetes.ts';
import { inAnyNamespace } from '../../src/outrigger.ts';
import { answerTo, grant, untilEffective } from '../cluster/plane.ts';
import { useUsers } from '../harness/users.ts';
import {
  apply,
  childrenOf,
  configMap,
  container,
  type Item,
  label,
  type Metadata,
  merge,
  pathOf,
  post,
  privileged,
  remove,
  service,
  strategic,
  templates,
  workload,
} from './policy-children.ts';

const farm = defineKind({
  group: 'farm.example.com',
  version: 'v1',
  kind: 'Farm',
  conditions: [],
  spec: z.object({}),
  status: z.object({}),
});
const owns = [ConfigMap, Service, Deployment, StatefulSet, CronJob, Secret, Pod];
const reconcile = async () => ({ status: {}, conditions: {} });
const farmer = farm.controller('farmer', { owns, reconcile });
const baron = farm.controller('baron', {
  owns,
  allows: {
    serviceAccountName: true,
    hostNamespaces: true,
    hostPorts: true,
    privileged: true,
    secrets: true,
    nodeName: true,
    priorityClassName: true,
    externalIPs: true,
    volumes: ['hostPath', 'nfs', 'projected'],
    serviceTypes: ['NodePort', 'LoadBalancer', 'ExternalName'],
  },
  reconcile,
});
const clerk = farm.controller('clerk', {
  owns,
  allows: { volumes: ['projected'], automountServiceAccountToken: true },
  reconcile,
});
const hermit = farm.controller('hermit', {
  owns: [inAnyNamespace(ConfigMap), Secret],
  finalize: async () => 'done',
  reconcile,
});
const shepherd = farm.controller('shepherd', { owns, allows: { adoption: true }, reconcile });
const registry = [farmer, baron, clerk, hermit, shepherd];

const asUser = controllerIdentity('farmer');
const asGroup = 'arn:aws:sts::000000000000:assumed-role/farmer/session';
const open = controllerIdentity('baron');
const projecting = controllerIdentity('clerk');
const far = controllerIdentity('hermit');
const adopting = controllerIdentity('shepherd');
const other = 'other-user';

const all = { apiGroups: ['', 'apps', 'batch'], resources: ['*'], verbs: ['*'] };
const generated = rbacOf(registry, watchListOf(registry));
const { clientOf } = await useUsers({
  apiServerFlags: ['--allow-privileged=true'],
  users: [
    ...[asUser, open, projecting, far, adopting, other].map((name) => ({ name })),
    { name: asGroup, groups: [controllerIdentity('farmer')] },
  ],
  applies: [...generated, ...grant('all', all, [asUser, asGroup, open, projecting, far, adopting, other]), crdOf(farm)],
});
/** Returns `allowed`, or the message of a denial by a policy. Any other error fails the test. */
const answer = (user: string | undefined, request: KubeRequest) => answerTo(clientOf(user), request, isPolicyDenied);
const { body: owner } = await clientOf().request({
  method: 'POST',
  path: '/apis/farm.example.com/v1/namespaces/default/farms',
  body: { apiVersion: farm.apiVersion, kind: farm.kind, metadata: { name: 'f' }, spec: {} },
});
const { own, ownerReference } = childrenOf(parseObject(owner).metadata.uid ?? '');
beforeAll(async () => {
  const probe = post(configMap({ name: 'probe', labels: {} }), { dryRun: 'All' });
  for (const user of [asUser, open, projecting, far, adopting])
    await untilEffective(async () => (await answer(user, probe)) !== 'allowed');
});

// openshift/cluster-ingress-operator#1560, argo-cd#17643: what compares files with the cluster applies them for ever.
it('a policy is stored as it is in the file, without defaults that the API server adds', async () => {
  const policies = generated.filter(({ kind }) => kind === 'ValidatingAdmissionPolicy');
  expect(policies.length).toBeGreaterThan(0);
  const path = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies';
  for (const { metadata, spec } of policies) {
    const { name } = z.object({ name: z.string() }).parse(metadata);
    const { body } = await clientOf().request({ method: 'GET', path: `${path}/${name}` });
    expect(body).toHaveProperty('spec', spec);
  }
});

let names = 0;
const fresh = () => {
  names += 1;
  return `n${names}`;
};
/** An object as the administrator creates it. */
async function existing(item: Item): Promise<Item> {
  await clientOf().request(post(item));
  return item;
}

const foreign = 'its own children';
const bodies = { noLabel: { metadata: { labels: null } }, noOwner: { metadata: { ownerReferences: null } } };

describe.each([
  ['as a user', asUser],
  ['as a group', asGroup],
])('children of a controller, %s', (_, user) => {
  it('own children are created, changed, repaired and deleted', async () => {
    const child = configMap(own(fresh()));
    expect(await answer(user, post(child, { dryRun: 'All' }))).toBe('allowed');
    expect(await answer(user, apply(child, { dryRun: 'All' }))).toBe('allowed');
    expect(await answer(user, post(child))).toBe('allowed');
    expect(await answer(user, merge(child, { data: { a: '2' } }))).toBe('allowed');
    expect(await answer(user, apply({ ...child, data: { a: '3' } }))).toBe('allowed');
    await clientOf().request(merge(child, bodies.noLabel));
    expect(await answer(user, apply(child))).toBe('allowed');
    expect(await answer(user, remove(child, { dryRun: 'All' }))).toBe('allowed');
    expect(await answer(user, remove(child))).toBe('allowed');
    const applied = configMap(own(fresh()));
    expect(await answer(user, apply(applied))).toBe('allowed');
    expect(await answer(user, remove(applied, { propagationPolicy: 'Foreground' }))).toBe('allowed');
  });

  it('a child without its controller reference gets that of the owner in its label back, or is deleted, if the controller has applied it', async () => {
    const withUid = (name: string) => {
      const { labels, ...metadata } = own(name);
      return configMap({ ...metadata, labels: { ...labels, [ownerUidLabel]: ownerReference().uid } });
    };
    const manager = { fieldManager: fieldManagerOf('farmer') };
    const lost = async (body: object = {}) => {
      const child = withUid(fresh());
      expect(await answer(user, apply(child, manager))).toBe('allowed');
      await clientOf().request(merge(child, bodies.noOwner));
      await clientOf().request(merge(child, body));
      return child;
    };
    const child = await lost();
    expect(await answer(user, merge(child, { data: { a: '2' } }))).toContain(foreign);
    const taken = { ...child.metadata, ownerReferences: [ownerReference('uid-2')] };
    expect(await answer(user, apply({ ...child, metadata: taken }, manager))).toContain(foreign);
    expect(await answer(user, apply(child, manager))).toBe('allowed');
    expect(await answer(user, remove(await lost()))).toBe('allowed');
    for (const body of [{ metadata: { labels: { [ownerUidLabel]: null } } }, { metadata: { managedFields: [{}] } }]) {
      const others = await lost(body);
      expect(await answer(user, apply(others, manager))).toContain(foreign);
      expect(await answer(user, remove(others))).toContain(foreign);
    }
  });

  // Control T19.
  it('an object is not created without the label or the controller reference', async () => {
    const { labels, ownerReferences } = own('');
    for (const metadata of [
      { ownerReferences },
      { labels },
      { labels, ownerReferences: [ownerReference(undefined, false)] },
      { labels: label('baron'), ownerReferences },
      { labels, ownerReferences: [{ ...ownerReference(), kind: 'Barn' }] },
      { labels, ownerReferences: [{ ...ownerReference(), apiVersion: 'farm.example.org/v1' }] },
    ]) {
      const item = configMap({ name: fresh(), ...metadata } as Metadata);
      for (const request of [post(item), apply(item), apply(item, { dryRun: 'All' })])
        expect(await answer(user, request)).toContain(foreign);
    }
  });

  // Control T20.
  it('objects of others are neither changed, adopted nor deleted', async () => {
    const child = (name: string) => configMap(own(name));
    for (const metadata of [{ labels: {} }, { labels: label('farmer') }, own('', 'baron')] as const) {
      const item = await existing(configMap({ ...metadata, name: fresh() }));
      const adopted = child(item.metadata.name);
      for (const request of [
        ...[merge(item, { data: { a: '2' } }), merge(item, { metadata: adopted.metadata })],
        ...[apply(adopted), apply(adopted, { dryRun: 'All' }), remove(item), remove(item, { dryRun: 'All' })],
      ])
        expect(await answer(user, request)).toContain(foreign);
    }
  });

  it('a child keeps its label and its owner', async () => {
    const child = await existing(configMap(own(fresh())));
    for (const body of [
      ...[bodies.noLabel, bodies.noOwner],
      { metadata: { labels: label('baron') } },
      { metadata: { ownerReferences: [ownerReference('uid-2')] } },
    ])
      expect(await answer(user, merge(child, body))).toContain(foreign);
  });

  it('a collection is deleted object by object, and ends at the first object of another', async () => {
    const selector = { labelSelector: 'set=mixed' };
    const mine = await existing(configMap({ ...own(fresh()), labels: { ...label('farmer'), set: 'mixed' } }));
    const theirs = await existing(configMap({ name: fresh(), labels: { set: 'mixed' } }));
    const collection: KubeRequest = { method: 'DELETE', path: pathOf(mine), query: selector };
    expect(await answer(user, collection)).toContain(foreign);
    const { body } = await clientOf().request({ method: 'GET', path: pathOf(theirs, theirs.metadata.name) });
    expect(body).toMatchObject({ metadata: { name: theirs.metadata.name } });
    await clientOf().request(remove(theirs));
  });

  it('subresources of children are refused', async () => {
    const child = await existing(workload('Deployment', own(fresh()), {}));
    const { name } = child.metadata;
    const request = (below: string, body: object): KubeRequest => ({
      ...merge(child, body),
      path: pathOf(child, `${name}/${below}`),
    });
    expect(await answer(user, request('scale', { spec: { replicas: 3 } }))).toContain('subresources');
    expect(await answer(user, request('status', { status: { replicas: 3 } }))).toContain('subresources');
  });
});

/** A child in another namespace, or a Secret of the same shape. */
const farChild = (controller: string, uid = 'uid-1', kind = 'ConfigMap'): Item => ({
  apiVersion: 'v1',
  kind,
  metadata: { name: fresh(), labels: { ...label(controller), [ownerUidLabel]: uid } },
});

it('a child of a kind that may be in any namespace has the label of its owner in place of the reference', async () => {
  const manager = { fieldManager: fieldManagerOf('hermit') };
  const child = farChild('hermit');
  expect(await answer(far, apply(child, manager))).toBe('allowed');
  expect(await answer(far, apply({ ...child, data: { a: '2' } }, manager))).toBe('allowed');
  for (const labels of [{ [ownerUidLabel]: 'uid-2' }, { [ownerUidLabel]: null }, label('baron')])
    expect(await answer(far, merge(child, { metadata: { labels } }))).toContain(foreign);
  expect(await answer(far, remove(child))).toBe('allowed');
  const unlabelled = { ...child, metadata: { name: fresh(), labels: label('hermit') } };
  for (const one of [unlabelled, farChild('baron'), farChild('hermit', 'uid-1', 'Secret')])
    expect(await answer(far, post(one))).toContain(foreign);
  expect(await answer(asUser, post(farChild('farmer')))).toContain(foreign);
  // It was not applied by the controller.
  expect(await answer(far, remove(await existing(farChild('hermit'))))).toContain(foreign);
});

it('an object that nobody controls is adopted where the controller declares it, and not deleted before', async () => {
  const adopted = (name: string) => configMap(own(name, 'shepherd'));
  for (const labels of [{}, label('shepherd')]) {
    const item = await existing(configMap({ name: fresh(), labels }));
    expect(await answer(adopting, remove(item))).toContain(foreign);
    expect(await answer(adopting, merge(item, { data: { a: '2' } }))).toContain(foreign);
    expect(await answer(adopting, apply(adopted(item.metadata.name)))).toBe('allowed');
    expect(await answer(adopting, remove(item))).toBe('allowed');
  }
  // That an object has one controller at the most is the API server's own rule.
  for (const metadata of [{ labels: label('farmer') }, own('', 'farmer')]) {
    const item = await existing(configMap({ ...metadata, name: fresh() }));
    expect(await answer(adopting, apply(adopted(item.metadata.name)))).toContain(foreign);
  }
});

describe('pods of children', () => {
  // Control T21.
  it.each(templates)('a template with %s is refused unless the controller declares it', async (_, message, spec) => {
    for (const kind of ['Deployment', 'StatefulSet', 'CronJob']) {
      const item = workload(kind, own(fresh()), spec);
      expect(await answer(asUser, post(item))).toContain(message);
      expect(await answer(asUser, apply(item))).toContain(message);
      expect(await answer(other, post(item, { dryRun: 'All' }))).toBe('allowed');
      expect(await answer(open, post(workload(kind, own(fresh(), 'baron'), spec)))).toBe('allowed');
    }
  });

  it.each(templates)('a change to a template with %s is refused', async (_, message, spec) => {
    const item = await existing(workload('Deployment', own(fresh()), {}));
    const change = { spec: { template: { spec } } };
    expect(await answer(asUser, merge(item, change))).toContain(message);
    expect(await answer(asUser, strategic(item, change))).toContain(message);
  });

  it.each(['Deployment', 'StatefulSet', 'CronJob', 'Pod'])('a plain %s is allowed', async (kind) => {
    const volumes = [
      { name: 'a', emptyDir: {} },
      { name: 'b', configMap: { name: 'c' } },
    ];
    const securityContext = { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } };
    const containers = [
      {
        ...container,
        securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
        env: [{ name: 'A', value: 'b' }],
      },
    ];
    const spec = { volumes, securityContext, containers, serviceAccountName: 'default' };
    const item = workload(kind, own(fresh()), spec);
    expect(await answer(asUser, post(item))).toBe('allowed');
    expect(await answer(asUser, remove(item))).toBe('allowed');
  });

  it('H8: a controller may declare the token alone, and a child that has it from before stays usable', async () => {
    const token = { automountServiceAccountToken: true };
    expect(await answer(projecting, post(workload('Deployment', own(fresh(), 'clerk'), token)))).toBe('allowed');
    const item = await existing(workload('Deployment', own(fresh()), token));
    expect(await answer(asUser, merge(item, { spec: { replicas: 2 } }))).toBe('allowed');
    expect(await answer(asUser, post(configMap(own(fresh()))))).toBe('allowed');
  });

  it('a Pod with privileges is refused', async () => {
    const item = workload('Pod', own(fresh()), privileged({ privileged: true }));
    expect(await answer(asUser, post(item))).toContain('privileged');
  });

  it('a projected volume, which the controller declares, has no Secret unless it declares those', async () => {
    const volume = (source: object) => ({ volumes: [{ name: 'v', projected: { sources: [source] } }] });
    const secret = volume({ secret: { name: 's' } });
    const item = workload('Deployment', own(fresh(), 'clerk'), volume({ configMap: { name: 'c' } }));
    expect(await answer(projecting, apply(item))).toBe('allowed');
    expect(await answer(projecting, merge(item, { spec: { template: { spec: secret } } }))).toContain('secrets');
    // Another client has added it.
    await clientOf().request(merge(item, { spec: { template: { spec: secret } } }));
    const containers = [{ ...container, volumeMounts: [{ name: 'v', mountPath: '/v' }] }];
    expect(await answer(projecting, strategic(item, { spec: { template: { spec: { containers } } } }))).toContain(
      'secrets',
    );
    expect(await answer(open, post(workload('Deployment', own(fresh(), 'baron'), secret)))).toBe('allowed');
  });

  // Control T24.
  it('a sidecar and a volume that a mesh has added neither lock the controller out nor are changed by it', async () => {
    const item = workload('Deployment', own(fresh()), {});
    expect(await answer(asUser, apply(item))).toBe('allowed');
    const sidecar = { name: 'mesh', image: 'mesh', securityContext: { capabilities: { add: ['NET_ADMIN'] } } };
    const volumes = [{ name: 'token', projected: { sources: [{ serviceAccountToken: { path: 't' } }] } }];
    const added = {
      spec: { template: { spec: { containers: [sidecar], volumes, priorityClassName: 'system-node-critical' } } },
    };
    await clientOf().request(strategic(item, added));
    const updated = workload('Deployment', item.metadata, { containers: [{ ...container, image: 'b' }] });
    expect(await answer(asUser, apply(updated))).toBe('allowed');
    const { body } = await clientOf().request({ method: 'GET', path: pathOf(item, item.metadata.name) });
    expect(JSON.stringify(body)).toContain('"image":"b"');
    expect(JSON.stringify(body)).toContain('NET_ADMIN');
    const stolen = { spec: { template: { spec: { containers: [{ ...sidecar, image: 'evil' }] } } } };
    expect(await answer(asUser, strategic(item, stolen))).toContain('privileged');
    const mounting = { ...container, volumeMounts: [{ name: 'token', mountPath: '/token' }] };
    for (const containers of [[mounting], [{ ...mounting, name: 'b' }]])
      expect(await answer(asUser, strategic(item, { spec: { template: { spec: { containers } } } }))).toContain(
        'other volumes',
      );
  });

  it('a template that turns AppArmor off by an annotation is refused', async () => {
    const annotations = { 'container.apparmor.security.beta.kubernetes.io/a': 'unconfined' };
    const change = { spec: { template: { metadata: { annotations } } } };
    const item = await existing(workload('Deployment', own(fresh()), {}));
    expect(await answer(asUser, merge(item, change))).toContain('privileged');
    await clientOf().request(merge(item, change));
    expect(await answer(asUser, merge(item, { spec: { replicas: 2 } }))).toBe('allowed');
  });
});

it.each([
  ['external addresses', 'externalIPs', { externalIPs: ['192.0.2.1'] }],
  ['a port of every node', 'serviceTypes', { type: 'NodePort' }],
  ['a load balancer', 'serviceTypes', { type: 'LoadBalancer' }],
  ['another name', 'serviceTypes', { type: 'ExternalName', externalName: 'example.com' }],
  // Control T22.
])('a Service with %s is refused unless the controller declares it', async (_, message, spec) => {
  expect(await answer(asUser, post(service(own(fresh()), spec)))).toContain(message);
  const plain = service(own(fresh()), {});
  expect(await answer(asUser, post(plain))).toBe('allowed');
  expect(await answer(asUser, merge(plain, { spec }))).toContain(message);
  expect(await answer(asUser, remove(plain))).toBe('allowed');
  expect(await answer(open, post(service(own(fresh(), 'baron'), spec)))).toBe('allowed');
});

it('a Secret is not the token of a service account', async () => {
  const secret = (controller: string, type: string): Item => {
    const metadata = { ...own(fresh(), controller), annotations: { 'kubernetes.io/service-account.name': 'admin' } };
    return { apiVersion: 'v1', kind: 'Secret', metadata, type };
  };
  const token = 'kubernetes.io/service-account-token';
  expect(await answer(asUser, post(secret('farmer', token)))).toContain('serviceAccountName');
  expect(await answer(asUser, post(secret('farmer', 'Opaque')))).toBe('allowed');
  expect(await answer(open, post(secret('baron', token)))).toBe('allowed');
});

// Control T23.
it('no child makes a user of the cluster: neither a bootstrap token nor the ConfigMap aws-auth of EKS', async () => {
  for (const [user, controller] of [
    [asUser, 'farmer'],
    [open, 'baron'],
  ] as const) {
    const token = { apiVersion: 'v1', kind: 'Secret', metadata: own('bootstrap-token-abcdef', controller) };
    const type = 'bootstrap.kubernetes.io/token';
    const system = (request: KubeRequest): KubeRequest => ({
      ...request,
      path: request.path.replace('/default/', '/kube-system/'),
    });
    expect(await answer(user, system(post({ ...token, type })))).toContain('user of the cluster');
    const users = configMap(own('aws-auth', controller));
    expect(await answer(user, system(post(users)))).toContain('user of the cluster');
    expect(await answer(user, system(apply(users)))).toContain('user of the cluster');
    expect(await answer(user, system(post(configMap(own(fresh(), controller)))))).toBe('allowed');
  }
});
