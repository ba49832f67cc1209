// The generated roles grant nothing beyond the required permissions, on a real kube-apiserver: the watcher and the resync
// send every possible request, and all but the permissions listed here are rejected with 403; for the controllers the API
// server lists what RBAC permits. permissions.test.ts and every suite that uses these users verify that the permissions
// are sufficient.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ControllerDefinition } from '../../src/api/definition.ts';
import { registry } from '../../src/controllers/registry.ts';
import {
  checkpointName,
  controllerIdentity,
  resyncIdentity,
  systemNamespace,
  watcherAccount,
} from '../../src/core/names.ts';
import { createClient, type KubeClient } from '../../src/kube/client/client.ts';
import { ApiError } from '../../src/kube/client/errors.ts';
import { collectionPath, objectPath } from '../../src/kube/client/path.ts';
import type { ControlPlane } from '../../tools/control-plane/control-plane.ts';
import { startControlPlane } from '../../tools/control-plane/start.ts';
import { readSamples, sampleOf } from '../cross/sample.ts';
import { edgesOf } from '../cross/variants.ts';
import { type Attempt, attemptsFor, findAllowed, listAttempts } from './access-attempts.ts';
import { everyUsersPermissions, listPermissions } from './can-i.ts';
import { createKubectl } from './kubectl.ts';

const watcher = `system:serviceaccount:${systemNamespace}:${watcherAccount}`;
const finalizing = registry.filter(({ declaration }) => declaration.finalizes);
let plane: ControlPlane;
let admin: KubeClient;
let attempts: readonly Attempt[];

beforeAll(async () => {
  plane = await startControlPlane({
    users: [
      // The groups of its token.
      { name: watcher, groups: ['system:serviceaccounts', `system:serviceaccounts:${systemNamespace}`] },
      { name: resyncIdentity },
      { name: 'unprivileged' },
      ...registry.map(({ name }) => ({ name: controllerIdentity(name) })),
    ],
    enableAdmission: ['OwnerReferencesPermissionEnforcement'],
  });
  admin = createClient(plane.connection());
  const kubectl = await createKubectl(plane.kubectlPath, plane.kubeconfig(), systemNamespace);
  await kubectl.output(['apply', '--server-side', '-k', 'infra/kubernetes/generated']);
  await kubectl.close();
  const attemptsWithLabel = (label: string, collection: string, name: string) =>
    attemptsFor({ label, collection, name });
  attempts = [
    ...(await listAttempts(admin)),
    ...attemptsWithLabel('THE CHECKPOINT', `/api/v1/namespaces/${systemNamespace}/configmaps`, checkpointName),
    ...attemptsWithLabel('a checkpoint elsewhere', '/api/v1/namespaces/default/configmaps', checkpointName),
    ...attemptsWithLabel(
      'another config map next to the checkpoint',
      `/api/v1/namespaces/${systemNamespace}/configmaps`,
      'other',
    ),
    ...attemptsWithLabel('a secret next to the checkpoint', `/api/v1/namespaces/${systemNamespace}/secrets`, 'other'),
    ...attemptsWithLabel('THE NAMESPACE kube-system', '/api/v1/namespaces', 'kube-system'),
  ];
});
afterAll(async () => {
  admin.close();
  await plane.stop();
});

type GroupAndPlural = { readonly group: string; readonly plural: string };
const resourceOf = ({ group, plural }: GroupAndPlural, below = '') => `${group}/${plural}${below}`;
const listed = (kind: GroupAndPlural, verbs: readonly string[]) =>
  verbs.flatMap((verb) => [`${verb} ${resourceOf(kind)}`, `${verb} ${resourceOf(kind)} everywhere`]);

/** The permissions of a controller: design.md §8, written independently of generate/rbac.ts. */
function permissionsOf({
  declaration: { resource, owns, reads, exec, finalizes },
}: ControllerDefinition): readonly string[] {
  return [
    ...[resource, ...owns, ...reads].flatMap((kind) => ['get', 'list'].map((verb) => `${verb} ${resourceOf(kind)}`)),
    `patch ${resourceOf(resource, '/status')}`,
    ...(finalizes ? [`patch ${resourceOf(resource)}`] : []),
    ...owns.flatMap((kind) => ['create', 'patch', 'delete'].map((verb) => `${verb} ${resourceOf(kind)}`)),
    ...(owns.length > 0 ? [`update ${resourceOf(resource, '/finalizers')}`] : []),
    ...(exec === undefined ? [] : ['get /pods/exec', 'create /pods/exec']),
    ...['create /events', 'patch /events'],
  ];
}

describe('permissions of the generated roles', { timeout: 180_000 }, () => {
  /** Permissions on a kind also apply to the labelled objects. */
  const forLabelledObjects = (permissions: readonly string[]): readonly string[] =>
    permissions.flatMap((permission) => {
      const [verb, kind] = permission.split(' ');
      if (kind !== '/configmaps') return [];
      return ['THE CHECKPOINT', 'a checkpoint elsewhere', 'another config map next to the checkpoint'].map(
        (label) => `${verb} ${label}`,
      );
    });
  const all = (...permissions: readonly string[]) =>
    [
      ...new Set([
        ...everyUsersPermissions,
        ...permissions,
        ...forLabelledObjects(permissions.filter((permission) => !permission.endsWith('everywhere'))),
      ]),
    ].sort();

  it('a user without a generated role is denied every request, which covers every resource', async () => {
    expect(attempts.length).toBeGreaterThan(500);
    expect(await findAllowed(plane.connection('unprivileged'), attempts)).toEqual(all());
  });

  it('the watcher may list and watch its kinds, and read and write its checkpoint; everything else is 403', async () => {
    const kinds = registry.flatMap(({ declaration: { resource, owns, watches } }) => [
      ...[resource, ...owns],
      ...watches.map(({ kind }) => kind),
    ]);
    expect(await findAllowed(plane.connection(watcher), attempts)).toEqual(
      all(
        ...kinds.flatMap((kind) => listed(kind, ['list', 'watch'])),
        ...['get THE CHECKPOINT', 'patch THE CHECKPOINT', 'get THE NAMESPACE kube-system'],
      ),
    );
  });

  it('the resync may list the controllers’ own kinds, and read the checkpoint; everything else is 403', async () => {
    expect(await findAllowed(plane.connection(resyncIdentity), attempts)).toEqual(
      all(...registry.flatMap(({ declaration }) => listed(declaration.resource, ['list'])), 'get THE CHECKPOINT'),
    );
  });

  // The namespace has no RoleBinding, so that the list holds in every namespace.
  it.each(registry)('$name may do what it declares, and nothing else', async (controller) => {
    const client = createClient(plane.connection(controllerIdentity(controller.name)));
    const permissions = [...everyUsersPermissions, ...permissionsOf(controller)];
    expect(await listPermissions(client, 'default')).toEqual([...new Set(permissions)].sort());
    client.close();
  });
});

describe('the permission to patch an object for its finalizer', () => {
  it.each(finalizing)('$name may not use it to change the spec, labels, annotations or owners', async (controller) => {
    const { name: identity, declaration } = controller;
    const { subject } = sampleOf(controller, await readSamples());
    const { name } = subject.object.metadata;
    const metadata = { ...subject.object.metadata, namespace: 'default' };
    await admin.request({
      method: 'POST',
      path: collectionPath(declaration.resource, 'default'),
      body: { ...subject.object, metadata },
    });
    const client = createClient(plane.connection(controllerIdentity(identity)));
    /** Returns the error of a merge patch by the controller; undefined when it was accepted. */
    const errorOf = async (body: object): Promise<string | undefined> => {
      const path = objectPath(declaration.resource, { namespace: 'default', name });
      try {
        await client.request({ method: 'PATCH', path, contentType: 'application/merge-patch+json', body });
        return undefined;
      } catch (error) {
        if (error instanceof ApiError) return error.message;
        throw error;
      }
    };
    const changes = [
      ...edgesOf(subject.object.spec).map((spec) => ({ spec })),
      { metadata: { labels: { a: 'b' } } },
      { metadata: { annotations: { a: 'b' } } },
      { metadata: { finalizers: ['example.com/foreign'] } },
      { metadata: { ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'p', uid: '1' }] } },
    ];
    try {
      // A new policy becomes effective after a while, which only its effect shows.
      await expect
        .poll(() => errorOf({ metadata: { labels: { now: `${Date.now()}` } } }), { timeout: 30_000 })
        .toBeDefined();
      const errors = await Promise.all(changes.map(errorOf));
      expect(errors.map((error, index) => error ?? JSON.stringify(changes[index]))).toEqual(
        changes.map(() => expect.stringMatching(/returned (403|422)/)),
      );
      // Some changes of a spec are also invalid; these errors come from the policy.
      expect(errors.filter((error) => error?.includes('may only change its own entry')).length).toBeGreaterThan(3);
    } finally {
      client.close();
    }
  });
});
