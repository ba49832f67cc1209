// That the generated roles give nothing beside what they must, on a real kube-apiserver: each identity asks for everything that
// the server has, and all but the rights listed here is answered with 403. That the rights suffice is rights.test.ts, and every
// suite that comes as these users.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { registry } from '../../src/controllers/registry.ts';
import type { Registered } from '../../src/core/controller.ts';
import {
  controllerIdentity,
  cursorName,
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
import { type Attempt, allowedOf, attemptsOn, everyAttempt } from './access-attempts.ts';
import { createKubectl } from './kubectl.ts';

const watcher = `system:serviceaccount:${systemNamespace}:${watcherAccount}`;
const finalizing = registry.filter(({ declares }) => declares.finalizes);
let plane: ControlPlane;
let admin: KubeClient;
let attempts: readonly Attempt[];

beforeAll(async () => {
  plane = await startControlPlane({
    users: [
      // As its token would make it.
      { name: watcher, groups: ['system:serviceaccounts', `system:serviceaccounts:${systemNamespace}`] },
      { name: resyncIdentity },
      { name: 'nobody' },
      ...registry.map(({ name }) => ({ name: controllerIdentity(name) })),
    ],
    enableAdmission: ['OwnerReferencesPermissionEnforcement'],
  });
  admin = createClient(plane.connection());
  const kubectl = await createKubectl(plane.kubectlPath, plane.kubeconfig(), systemNamespace);
  await kubectl.say(['apply', '--server-side', '-k', 'infra/kubernetes/generated']);
  await kubectl.close();
  const special = (label: string, collection: string, name: string) => attemptsOn({ label, collection, name });
  attempts = [
    ...(await everyAttempt(admin)),
    ...special('THE CURSOR', `/api/v1/namespaces/${systemNamespace}/configmaps`, cursorName),
    ...special('a cursor elsewhere', '/api/v1/namespaces/default/configmaps', cursorName),
    ...special('another config map beside the cursor', `/api/v1/namespaces/${systemNamespace}/configmaps`, 'other'),
    ...special('a secret beside the cursor', `/api/v1/namespaces/${systemNamespace}/secrets`, 'other'),
    ...special('THE NAMESPACE kube-system', '/api/v1/namespaces', 'kube-system'),
  ];
});
afterAll(async () => {
  admin.close();
  await plane.stop();
});

/** What everybody who is known may, by Kubernetes' own roles. */
const anybodys = [
  'create authentication.k8s.io/selfsubjectreviews',
  'create authorization.k8s.io/selfsubjectaccessreviews',
  'create authorization.k8s.io/selfsubjectrulesreviews',
];

type Named = { readonly group: string; readonly plural: string };
const on = ({ group, plural }: Named, below = '') => `${group}/${plural}${below}`;
const listed = (kind: Named, verbs: readonly string[]) =>
  verbs.flatMap((verb) => [`${verb} ${on(kind)}`, `${verb} ${on(kind)} everywhere`]);

/** What a controller may: design.md §8, said once more and in another way than generate/rbac.ts does. */
function rightsOf({ declares: { resource, owns, reads, exec, finalizes } }: Registered): readonly string[] {
  return [
    ...[resource, ...owns, ...reads].flatMap((kind) => [`get ${on(kind)}`, ...listed(kind, ['list'])]),
    `patch ${on(resource, '/status')}`,
    ...(finalizes ? [`patch ${on(resource)}`] : []),
    ...owns.flatMap((kind) => ['create', 'patch', 'delete'].map((verb) => `${verb} ${on(kind)}`)),
    ...(owns.length > 0 ? [`update ${on(resource, '/finalizers')}`] : []),
    ...(exec === undefined ? [] : ['get /pods/exec', 'create /pods/exec']),
    ...['create /events', 'patch /events'],
  ];
}

describe('whoever comes with a generated role', { timeout: 180_000 }, () => {
  /** Rights on a kind hold for what is at the special places, too. */
  const atSpecialPlaces = (rights: readonly string[]): readonly string[] =>
    rights.flatMap((right) => {
      const [verb, kind] = right.split(' ');
      if (kind !== '/configmaps') return [];
      return ['THE CURSOR', 'a cursor elsewhere', 'another config map beside the cursor'].map(
        (place) => `${verb} ${place}`,
      );
    });
  const all = (...rights: readonly string[]) =>
    [
      ...new Set([...anybodys, ...rights, ...atSpecialPlaces(rights.filter((right) => !right.endsWith('everywhere')))]),
    ].sort();

  it('and has none of them is refused everything: what is asked for is all that there is', async () => {
    expect(attempts.length).toBeGreaterThan(500);
    expect(await allowedOf(plane.connection('nobody'), attempts)).toEqual(all());
  });

  it('the watcher lists and watches its kinds, and reads and writes its cursor: everything else is 403', async () => {
    const kinds = registry.flatMap(({ declares: { resource, owns, watches } }) => [
      ...[resource, ...owns],
      ...watches.map(({ kind }) => kind),
    ]);
    expect(await allowedOf(plane.connection(watcher), attempts)).toEqual(
      all(
        ...kinds.flatMap((kind) => listed(kind, ['list', 'watch'])),
        ...['get THE CURSOR', 'patch THE CURSOR', 'get THE NAMESPACE kube-system'],
      ),
    );
  });

  it('the resync lists the controllers’ own kinds, and reads the cursor: everything else is 403', async () => {
    expect(await allowedOf(plane.connection(resyncIdentity), attempts)).toEqual(
      all(...registry.flatMap(({ declares }) => listed(declares.resource, ['list'])), 'get THE CURSOR'),
    );
  });

  it.each(registry)('$name does what it declares: everything else is 403', async (controller) => {
    expect(await allowedOf(plane.connection(controllerIdentity(controller.name)), attempts)).toEqual(
      all(...rightsOf(controller)),
    );
  });
});

describe('the right to patch an object for its finalizer', () => {
  it.each(
    finalizing,
  )('$name may not change anything of a spec with it, nor labels, annotations or owners', async (controller) => {
    const { name: identity, declares } = controller;
    const { subject } = sampleOf(controller, await readSamples());
    const { name } = subject.object.metadata;
    const metadata = { ...subject.object.metadata, namespace: 'default' };
    await admin.request({
      method: 'POST',
      path: collectionPath(declares.resource, 'default'),
      body: { ...subject.object, metadata },
    });
    const client = createClient(plane.connection(controllerIdentity(identity)));
    /** What is said against a merge patch by the controller; nothing when it was accepted. */
    const refusal = async (body: object): Promise<string | undefined> => {
      const path = objectPath(declares.resource, { namespace: 'default', name });
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
      // A new policy takes effect at some time, of which nothing but its effect tells.
      await expect
        .poll(() => refusal({ metadata: { labels: { now: `${Date.now()}` } } }), { timeout: 30_000 })
        .toBeDefined();
      const refusals = await Promise.all(changes.map(refusal));
      expect(refusals.map((said, index) => said ?? JSON.stringify(changes[index]))).toEqual(
        changes.map(() => expect.stringMatching(/answered (403|422)/)),
      );
      // Some changes of a spec are invalid besides; it is the policy that is looked for.
      expect(refusals.filter((said) => said?.includes('may change nothing but its own entry')).length).toBeGreaterThan(
        3,
      );
    } finally {
      client.close();
    }
  });
});
