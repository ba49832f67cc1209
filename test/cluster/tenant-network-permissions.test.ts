// What the generated roles and policies of controllers of built-in kinds permit on a real kube-apiserver: their
// reconciles, and of an object only the labels, annotations and conditions that they declare. Their lives are
// test/statements/tenant-network.test.ts and own-metadata.test.ts.

import { checkCluster } from '@outrigger/cli/commands/doctor/check-cluster';
import { beforeAll, expect, it } from 'vitest';
import type { Allows } from '../../src/api/allows.ts';
import type { ControllerDefinition } from '../../src/api/definition.ts';
import { tenantNetwork } from '../../src/controllers/tenant-network.ts';
import { controllerIdentity, defaultProject, heldLabelOf } from '../../src/core/names.ts';
import { rbacOf } from '../../src/generate/rbac/rbac.ts';
import { watchListOf } from '../../src/generate/watch-list.ts';
import { applyObject } from '../../src/kube/apply/apply.ts';
import type { KubeClient } from '../../src/kube/client/client.ts';
import { ApiError } from '../../src/kube/client/errors.ts';
import { objectPath } from '../../src/kube/client/path.ts';
import { getObject } from '../../src/kube/client/read.ts';
import { Deployment, Namespace, NetworkPolicy, Role, RoleBinding } from '../../src/kubernetes.ts';
import { foreignKind } from '../../src/outrigger.ts';
import { createReconcile } from '../../src/reconciling/reconcile.ts';
import { withoutQueue } from '../../src/reconciling/without-queue.ts';
import { silent } from '../reconciling/widgets.ts';
import { asChange } from '../sqs/messages.ts';
import { owned, redundant } from '../statements/foreign-conditions.ts';
import { sizeLabel } from '../statements/size-label.ts';
import { untilEffective, usePlane } from './plane.ts';

const identity = controllerIdentity('tenant-network');
const labeller = controllerIdentity(sizeLabel.name);
const rolesOf = (name: string, clusterRoles: readonly string[]) =>
  Namespace.controller(name, {
    selector: { matchLabels: { tenant: 'true' } },
    owns: [RoleBinding],
    allows: { clusterRoles: ['system:monitoring'] },
    reconcile: async ({ metadata: { name: namespace } }, { applyAll }) => {
      const bindings = clusterRoles.map((role) => ({
        metadata: { name: `${name}-${role}`, namespace },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
        subjects: [{ kind: 'Group', apiGroup: 'rbac.authorization.k8s.io', name: 'tenants' }],
      }));
      await applyAll(RoleBinding, bindings);
    },
  });
const rules = [{ apiGroups: [''], resources: ['pods', 'secrets'], verbs: ['watch'] }];
const granting = (name: string, allows: Allows) =>
  Namespace.controller(name, {
    selector: { matchLabels: { tenant: 'true' } },
    owns: [Role, RoleBinding],
    allows,
    reconcile: async ({ metadata: { name: namespace } }, { apply }) => {
      const apiGroup = 'rbac.authorization.k8s.io';
      await apply(Role, { metadata: { name, namespace }, rules });
      const roleRef = { apiGroup, kind: 'Role', name };
      const subjects = [{ kind: 'Group', apiGroup, name: 'tenants' }];
      await apply(RoleBinding, { metadata: { name, namespace }, roleRef, subjects });
    },
  });
const granters = [granting('granter', { grants: rules }), granting('escalator', {})];
const monitors = rolesOf('monitors', ['system:monitoring']);
const admins = rolesOf('admins', ['cluster-admin']);
/** A kind of another project, whose CRD has no status subresource: its status is a field like its spec. */
const Lamp = foreignKind<object, 'Lamp'>({ group: 'lamps.example.com', version: 'v1', kind: 'Lamp' });
const dimmer = Lamp.controller('dimmer', {
  sets: { labels: ['lamps.example.com/size'] },
  reconcile: async () => undefined,
});
const registry = [tenantNetwork, sizeLabel, owned, redundant, monitors, admins, dimmer, ...granters];
const slices = [owned, redundant].map(({ name }) => controllerIdentity(name));
const dimming = controllerIdentity(dimmer.name);
const binders = [monitors, admins, ...granters];
const web = { namespace: 'default', name: 'web' };
const key = { name: 'blue' };
const crdWithoutStatus = ({ group, version, kind, plural }: typeof Lamp) => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${plural}.${group}` },
  spec: {
    group,
    scope: 'Namespaced',
    names: { kind, plural },
    versions: [
      {
        name: version,
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
});
const { clientOf } = await usePlane({
  users: [identity, labeller, dimming, ...slices, ...binders.map(({ name }) => controllerIdentity(name))].map(
    (name) => ({ name }),
  ),
  applies: [...rbacOf(registry, watchListOf(registry)), crdWithoutStatus(Lamp)],
});
const admin = clientOf();
const client = clientOf(identity);
const labels = clientOf(labeller);
const conditions = { owned: clientOf(slices[0]), redundant: clientOf(slices[1]) };

beforeAll(async () => {
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { ...key, labels: { tenant: 'true' } } };
  await applyObject(admin, Namespace, namespace, { fieldManager: 'user' });
  const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'web', image: 'nginx' }] } };
  const spec = { replicas: 1, selector: { matchLabels: { app: 'web' } }, template };
  const deployment = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: web, spec };
  await applyObject(admin, Deployment, deployment, { fieldManager: 'user' });
  const isOpen = async (by: KubeClient, path: string) =>
    (await patchAs(by, path, { metadata: { annotations: { probe: `${Date.now()}` } } })) === 'accepted';
  const probes: readonly [KubeClient, string][] = [
    [client, objectPath(Namespace, key)],
    [labels, objectPath(Deployment, web)],
    [conditions.owned, `${objectPath(Namespace, key)}/status`],
    [conditions.redundant, `${objectPath(Deployment, web)}/status`],
  ];
  for (const [by, path] of probes) await untilEffective(async () => !(await isOpen(by, path)));
}, 300_000);

const patch = async (metadata: object) => await patchAs(client, objectPath(Namespace, key), { metadata });
const patchAs = async (by: KubeClient, path: string, body: object) =>
  await by.request({ method: 'PATCH', path, contentType: 'application/merge-patch+json', body }).then(
    () => 'accepted',
    (error: unknown) => (error instanceof ApiError ? error.status : error),
  );

/** Runs a controller once, as its user. Returns the outcome and the number of writes. */
async function reconcileAs(by: KubeClient, controller: ControllerDefinition, object: object) {
  const { name, declaration, start } = controller;
  const { group, plural: resource } = declaration.resource;
  const reconcile = withoutQueue(createReconcile({ name, declaration, instance: start({}), now: () => new Date() }));
  const key = { controller: name, cluster: 'test', group, resource, name: '', ...object };
  return await reconcile({
    client: by,
    messageId: 'm',
    log: silent,
    signal: AbortSignal.timeout(30_000),
    message: { ...key, ...asChange({ observedAt: 0 }) },
  });
}

// Control T120.
it('TN5: the controller changes its own label, and no other label, annotation or finalizer', async () => {
  expect(await patch({ labels: { 'pod-security.kubernetes.io/enforce': 'privileged' } })).toBe(403);
  expect(await patch({ labels: { tenant: null } })).toBe(403);
  expect(await patch({ labels: { [heldLabelOf('other')]: 'true' } })).toBe(403);
  expect(await patch({ annotations: { note: 'a' } })).toBe(403);
  expect(await patch({ finalizers: ['example.com/stays'] })).toBe(403);
  expect(await patch({ labels: { [heldLabelOf('tenant-network')]: 'true' } })).toBe('accepted');
  expect(await patch({ labels: { [heldLabelOf('tenant-network')]: null } })).toBe('accepted');
});

// Control T16.
it('a controller that sets labels of Deployments reconciles by its role, and can change nothing else of one', async () => {
  const path = objectPath(Deployment, web);
  for (const body of [
    { spec: { replicas: 5 } },
    { metadata: { labels: { app: 'other' } } },
    { metadata: { labels: { 'cost.example.com/other': 'x' } } },
    { metadata: { annotations: { note: 'x' } } },
    { metadata: { finalizers: ['example.com/stays'] } },
    { metadata: { ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'a', uid: 'b' }] } },
  ])
    expect(await patchAs(labels, path, body), JSON.stringify(body)).toBe(403);
  expect(await patchAs(labels, `${path}/status`, { status: { replicas: 3 } })).toBe(403);
  const { outcome, writes } = await reconcileAs(labels, sizeLabel, web);
  expect([outcome, writes]).toEqual([{ type: 'done' }, 1]);
  expect((await getObject(admin, Deployment, web))?.metadata.labels).toMatchObject({
    'cost.example.com/size': 'small',
  });
});

it('a controller of a kind without a status subresource can change no field of its status', async () => {
  const lamp = {
    apiVersion: Lamp.apiVersion,
    kind: Lamp.kind,
    metadata: web,
    spec: { on: true },
    status: { watts: 5 },
  };
  await applyObject(admin, Lamp, lamp, { fieldManager: 'user' });
  const change = async (body: object) => await patchAs(clientOf(dimming), objectPath(Lamp, web), body);
  // Another value each time: the policy lets a patch without a change pass.
  await untilEffective(async () => (await change({ spec: { on: `${Date.now()}` } })) === 403);
  expect(await change({ status: { watts: 500 } })).toBe(403);
  expect(await change({ metadata: { labels: { 'lamps.example.com/size': 'small' } } })).toBe('accepted');
});

// Control T119.
it('a controller that adds a condition can change no other condition, no other status field, and no metadata by /status', async () => {
  const namespace = `${objectPath(Namespace, key)}/status`;
  const deployment = `${objectPath(Deployment, web)}/status`;
  const ready = { type: 'Ready', status: 'True', reason: 'Forged', message: '' };
  const mine = { ...ready, type: 'team.example.com/Owned' };
  const metadata = [
    { labels: { 'pod-security.kubernetes.io/enforce': 'privileged' } },
    { annotations: { note: 'x' } },
    { finalizers: ['example.com/stays'] },
    { ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'a', uid: 'b' }] },
  ].map((one) => ({ metadata: one }));
  const attempts: readonly object[] = [{ status: { conditions: [ready] } }, { status: { conditions: [mine, ready] } }];
  for (const body of [...attempts, ...metadata])
    expect(await patchAs(conditions.owned, namespace, body), JSON.stringify(body)).toBe(403);
  // The API server itself refuses it as invalid first.
  expect(await patchAs(conditions.owned, namespace, { status: { phase: 'Terminating' } })).not.toBe('accepted');
  expect(await patchAs(conditions.owned, objectPath(Namespace, key), { metadata: { labels: { a: 'b' } } })).toBe(403);
  expect(await patchAs(conditions.owned, namespace, { status: { conditions: [mine] } })).toBe('accepted');
  expect(await patchAs(conditions.owned, namespace, { status: { conditions: null } })).toBe('accepted');
  for (const body of [
    { status: { replicas: 7 } },
    { status: { conditions: [ready] } },
    { metadata: { finalizers: ['example.com/stays'] } },
  ])
    expect(await patchAs(conditions.redundant, deployment, body), JSON.stringify(body)).toBe(403);
  // Without a selector and a finalizer it writes nothing but the status.
  expect(await patchAs(conditions.redundant, objectPath(Deployment, web), { metadata: { labels: { a: 'b' } } })).toBe(
    403,
  );
  for (const [controller, by, object] of [
    [owned, conditions.owned, key],
    [redundant, conditions.redundant, web],
  ] as const) {
    const { outcome } = await reconcileAs(by, controller, object);
    expect(outcome).toEqual({ type: 'done' });
  }
  const types = async (kind: typeof Namespace | typeof Deployment, object: object) =>
    Object((await getObject(admin, kind, { name: '', ...object }))?.status).conditions.map(
      ({ type }: { type: string }) => type,
    );
  expect(await types(Namespace, key)).toEqual(['team.example.com/Owned']);
  expect(await types(Deployment, web)).toContain('team.example.com/Redundant');
});

it('a controller binds the ClusterRoles that it declares, and no others', async () => {
  const [monitor, administer] = binders.map(({ name }) => clientOf(controllerIdentity(name)));
  if (monitor === undefined || administer === undefined) throw new Error('no client');
  const binding = async (name: string) => await getObject(admin, RoleBinding, { namespace: key.name, name });
  expect((await reconcileAs(monitor, monitors, key)).outcome).toEqual({ type: 'done' });
  expect(await reconcileAs(monitor, monitors, key)).toMatchObject({ outcome: { type: 'done' }, writes: 0 });
  expect((await reconcileAs(administer, admins, key)).outcome).toMatchObject({ type: 'failed' });
  expect([await binding('monitors-system:monitoring'), await binding('admins-cluster-admin')]).toMatchObject([
    {},
    undefined,
  ]);
});

it('a controller makes Roles of the permissions that it declares, and binds them; others are refused', async () => {
  const [granted, refused] = await Promise.all(
    granters.map((one) => reconcileAs(clientOf(controllerIdentity(one.name)), one, key)),
  );
  expect(granted).toMatchObject({ outcome: { type: 'done' } });
  expect(refused).toMatchObject({
    outcome: {
      type: 'failed',
      error: { message: expect.stringContaining('grant RBAC permissions not currently held') },
    },
  });
});

it.each([
  [monitors.name, monitors, monitors, []],
  ['granter', granters[0], granters[0], []],
  ['escalator', granters[1], granters[0], ['watch pods', 'watch secrets']],
])('doctor compares the permissions of %s with those that are generated, also of named objects', async (name, by, registered, missing) => {
  const options = { project: defaultProject, signal: AbortSignal.timeout(30_000) };
  const client = clientOf(controllerIdentity(by?.name ?? name));
  const { findings } = await checkCluster('test', client, registered === undefined ? [] : [registered], options);
  const refused = findings.flatMap(({ message }) => message.split('the functions may not: ')[1]?.split(', ') ?? []);
  expect(refused).toEqual(missing);
});

it('TN5: the role permits the whole reconcile, from the first one to the one after the selection was left', async () => {
  const run = () => reconcileAs(client, tenantNetwork, key);
  expect((await run()).outcome).toEqual({ type: 'done' });
  const policy = async () => await getObject(admin, NetworkPolicy, { namespace: key.name, name: 'default-deny' });
  expect(await policy()).toBeDefined();
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: key };
  await applyObject(admin, Namespace, namespace, { fieldManager: 'user' });
  expect((await run()).outcome).toEqual({ type: 'done' });
  expect(await policy()).toBeUndefined();
});
