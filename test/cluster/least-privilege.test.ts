// The generated roles grant nothing beyond the required permissions, on a real kube-apiserver: the watcher and the resync
// send every possible request, and all but the permissions listed here are rejected with 403; for the controllers the API
// server lists what RBAC permits. That the permissions suffice is shown by the checkpoint, by cross.test.ts, and by every
// suite that uses these users.
import { describe, expect, it } from 'vitest';
import type { ControllerDefinition } from '../../src/api/definition.ts';
import { kindOfRead } from '../../src/api/reads.ts';
import { createWatchCheckpoint } from '../../src/checkpoint/checkpoint.ts';
import { recordWatcherDown } from '../../src/checkpoint/watcher-status.ts';
import { registry } from '../../src/controllers/registry.ts';
import {
  checkpointName,
  controllerIdentity,
  finalizerOf,
  resyncIdentity,
  systemNamespace,
  watcherAccount,
} from '../../src/core/names.ts';
import { sleep } from '../../src/core/time.ts';
import type { KubeRequest } from '../../src/kube/client/client.ts';
import { collectionPath, objectPath } from '../../src/kube/client/path.ts';
import { readSamples, sampleOf } from '../cross/sample.ts';
import { edgesOf } from '../cross/variants.ts';
import { createRecorder } from '../support/recorder.ts';
import { type Attempt, attemptsFor, findAllowed, listAttempts } from './access-attempts.ts';
import { everyUsersPermissions, listPermissions } from './can-i.ts';
import { answerTo, generated, untilEffective, usePlane } from './plane.ts';

const watcher = `system:serviceaccount:${systemNamespace}:${watcherAccount}`;
const finalizing = registry.filter(({ declaration }) => declaration.finalizes);
const { plane, clientOf } = await usePlane({
  users: [
    // The groups of its token.
    { name: watcher, groups: ['system:serviceaccounts', `system:serviceaccounts:${systemNamespace}`] },
    ...[resyncIdentity, 'unprivileged', ...registry.map(({ name }) => controllerIdentity(name))].map((name) => ({
      name,
    })),
  ],
  enableAdmission: ['OwnerReferencesPermissionEnforcement'],
  applies: generated,
});
const admin = clientOf();
const inSystem = `/api/v1/namespaces/${systemNamespace}`;
const labelled: readonly (readonly [label: string, collection: string, name: string])[] = [
  ['THE CHECKPOINT', `${inSystem}/configmaps`, checkpointName],
  ['a checkpoint elsewhere', '/api/v1/namespaces/default/configmaps', checkpointName],
  ['another config map next to the checkpoint', `${inSystem}/configmaps`, 'other'],
  ['a secret next to the checkpoint', `${inSystem}/secrets`, 'other'],
  ['THE NAMESPACE kube-system', '/api/v1/namespaces', 'kube-system'],
];
const attempts: readonly Attempt[] = [
  ...(await listAttempts(admin)),
  ...labelled.flatMap(([label, collection, name]) => attemptsFor({ label, collection, name })),
];

type GroupAndPlural = { readonly group: string; readonly plural: string };
const resourceOf = ({ group, plural }: GroupAndPlural, below = '') => `${group}/${plural}${below}`;
const listed = (kind: GroupAndPlural, verbs: readonly string[]) =>
  verbs.flatMap((verb) => [`${verb} ${resourceOf(kind)}`, `${verb} ${resourceOf(kind)} everywhere`]);

/** The permissions of a controller: design.md §8, written independently of generate/rbac.ts. */
function permissionsOf({
  declaration: { resource, owns, reads, exec, finalizes },
}: ControllerDefinition): readonly string[] {
  return [
    ...[resource, ...owns, ...reads.map(kindOfRead)].flatMap((kind) =>
      ['get', 'list'].map((verb) => `${verb} ${resourceOf(kind)}`),
    ),
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
    const permissions = [...everyUsersPermissions, ...permissionsOf(controller)];
    const found = await listPermissions(clientOf(controllerIdentity(controller.name)), 'default');
    expect(found).toEqual([...new Set(permissions)].sort());
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
    const path = objectPath(declaration.resource, { namespace: 'default', name });
    const patch = (body: object): KubeRequest => ({
      ...{ method: 'PATCH', path, contentType: 'application/merge-patch+json', body },
    });
    const answer = (body: object) => answerTo(clientOf(controllerIdentity(identity)), patch(body));
    const changes = [
      ...edgesOf(subject.object.spec).map((spec) => ({ spec })),
      { metadata: { labels: { a: 'b' } } },
      { metadata: { annotations: { a: 'b' } } },
      { metadata: { finalizers: ['example.com/foreign'] } },
      { metadata: { ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'p', uid: '1' }] } },
    ];
    const label = async () => (await answer({ metadata: { labels: { now: `${Date.now()}` } } })) !== 'allowed';
    await untilEffective(label);
    const answers = await Promise.all(changes.map(answer));
    expect(answers).toEqual(changes.map(() => expect.stringMatching(/returned (403|422)/)));
    // Some changes of a spec are also invalid; these errors come from the policy.
    expect(answers.filter((one) => one.includes('may only change its own entry')).length).toBeGreaterThan(3);
    // It adds and removes its own finalizer, and leaves those of others.
    const [ours, others] = [finalizerOf(identity), 'example.com/other'];
    expect(await answer({ metadata: { finalizers: [ours] } })).toBe('allowed');
    await admin.request(patch({ metadata: { finalizers: [others, ours] } }));
    expect(await answer({ metadata: { finalizers: [ours] } })).toMatch(/returned 403/);
    expect(await answer({ metadata: { finalizers: [others] } })).toBe('allowed');
  });
});

describe('the watch checkpoint', () => {
  it('the watcher may write and read the checkpoint, the resync may only read it', async () => {
    const { log, metrics, counts, lines } = createRecorder();
    const deps = { client: clientOf(watcher), log, now: () => Date.now(), wait: sleep };
    const { signal } = new AbortController();
    const [first, second] = [createWatchCheckpoint(deps), createWatchCheckpoint(deps)];
    expect(await first.start('tanks', { signal })).toBeUndefined();
    first.accepted('tanks', '17');
    await first.flush();
    expect(await second.start('tanks', { signal })).toBe('17');
    await recordWatcherDown('test', clientOf(resyncIdentity), { log, metrics, now: () => Date.now() }, { signal });
    // It can be read, and shows that no watcher has received an event yet.
    expect(lines).toMatchObject([
      { message: 'watcher down', fields: { reason: 'no watcher has received an event yet' } },
    ]);
    expect(counts.get('WatcherDown')).toBe(1);
  });
});
