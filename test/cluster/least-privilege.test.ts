// The generated roles grant nothing beyond the required permissions, on a real kube-apiserver, which lists what RBAC
// permits each user. That the permissions suffice is shown by the checkpoint, by roles.test.ts, and by every suite that
// uses these users.
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
import { driftsOf } from '../../src/testing/battery/stage.ts';
import { createRecorder } from '../support/recorder.ts';
import { readSamples, sampleOf } from '../support/sample.ts';
import { everyServiceAccountsPermissions, everyUsersPermissions, listPermissions } from './can-i.ts';
import { answerTo, generated, untilEffective, usePlane } from './plane.ts';

const watcher = `system:serviceaccount:${systemNamespace}:${watcherAccount}`;
const finalizing = registry.filter(({ declaration }) => declaration.finalizes);
const { clientOf } = await usePlane({
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
type GroupAndPlural = { readonly group: string; readonly plural: string };
const resourceOf = ({ group, plural }: GroupAndPlural, below = '') => `${group}/${plural}${below}`;
const listed = (kind: GroupAndPlural, verbs: readonly string[]) => verbs.map((verb) => `${verb} ${resourceOf(kind)}`);

/** The permissions of a controller, written independently of generate/rbac.ts. */
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

/** Expects that a user may do this in every namespace, more in that of the system, and nothing else. */
async function expectPermissions(
  user: string,
  everywhere: readonly string[],
  inSystem: readonly string[] = [],
): Promise<void> {
  const client = clientOf(user);
  const wanted = (more: readonly string[]) => [...new Set([...everyUsersPermissions, ...everywhere, ...more])].sort();
  expect(await listPermissions(client, 'default')).toEqual(wanted([]));
  expect(await listPermissions(client, systemNamespace)).toEqual(wanted(inSystem));
  const secrets: KubeRequest = { method: 'GET', path: `/api/v1/namespaces/${systemNamespace}/secrets` };
  await expect(client.request(secrets)).rejects.toMatchObject({ status: 403 });
}

describe('permissions of the generated roles', () => {
  // Control T13.
  it('a user without a generated role may do what every user may, and nothing else', async () => {
    await expectPermissions('unprivileged', []);
    // What a user may do in this namespace is by a ClusterRoleBinding, so in every one.
    const path = '/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings';
    expect((await admin.request({ method: 'GET', path })).body).toMatchObject({ items: [] });
  });

  // Control T1.
  it('the watcher may list and watch its kinds, and read and write its checkpoint; everything else is 403', async () => {
    const kinds = registry.flatMap(({ declaration: { resource, owns, watches } }) => [
      ...[resource, ...owns],
      ...watches.map(({ kind }) => kind),
    ]);
    await expectPermissions(
      watcher,
      [
        ...everyServiceAccountsPermissions,
        ...kinds.flatMap((kind) => listed(kind, ['list', 'watch'])),
        'get /namespaces kube-system',
      ],
      ['get', 'patch'].map((verb) => `${verb} /configmaps ${checkpointName}`),
    );
  });

  // Control T6.
  it('the resync may list the controllers’ own kinds, and read the checkpoint; everything else is 403', async () => {
    const own = registry.flatMap(({ declaration }) => listed(declaration.resource, ['list']));
    await expectPermissions(resyncIdentity, own, [`get /configmaps ${checkpointName}`]);
  });

  // Control T3.
  it.each(registry)('$name may do what it declares, and nothing else', async (controller) => {
    // The uid of this Namespace tells clusters apart.
    const cluster = 'get /namespaces kube-system';
    await expectPermissions(controllerIdentity(controller.name), [...permissionsOf(controller), cluster]);
  });
});

describe('the permission to patch an object for its finalizer', () => {
  // Control T4.
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
      method: 'PATCH',
      path,
      contentType: 'application/merge-patch+json',
      body,
    });
    const answer = (body: object) => answerTo(clientOf(controllerIdentity(identity)), patch(body));
    const changes = [
      ...driftsOf(subject.object.spec).map((spec) => ({ spec })),
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
