// The fence of a move on a real API server with RBAC: after it the credentials of the first stage are refused, and those
// of the second work. Excluded: the order of the steps (test/cli/clusters/move).

import { createFence } from '@outrigger/cli/commands/clusters/move/fence';
import { beforeAll, expect, it } from 'vitest';
import type { ClusterEntry } from '../../src/clusters/registry/entry.ts';
import { foo } from '../../src/controllers/foo.ts';
import { sleep } from '../../src/core/time.ts';
import { createClient, type KubeClient } from '../../src/kube/client/client.ts';
import { ApiError } from '../../src/kube/client/errors.ts';
import { generated, usePlane } from './plane.ts';

const { signal } = new AbortController();
const users = [{ name: 'prod' }, { name: 'canary' }, { name: 'root', groups: ['system:masters'] }];
const { plane, kubectl, clientOf } = await usePlane({ users, applies: generated });
const admin = clientOf();
beforeAll(async () => {
  await kubectl.output(['wait', '--for=condition=Established', '--timeout=30s', 'crd/foos.samples.example.com']);
  for (const user of ['prod', 'canary']) {
    const role = ['--clusterrole=outrigger-foo', `--user=${user}`];
    await kubectl.output(['create', 'clusterrolebinding', `foo-${user}`, ...role]);
  }
});

const entryOf = (user: string): ClusterEntry => ({ server: plane.url, access: { type: 'token', token: user } });
const fence = () =>
  createFence(
    {
      admin,
      registry: [foo],
      project: 'outrigger',
      namespaces: undefined,
      wait: sleep,
      at: '',
      connect: async ({ access }) => createClient(plane.connection(access.type === 'token' ? access.token : '')),
      eks: () => ({ put: async () => undefined, remove: async () => undefined }),
      functions: { source: [], target: [] },
    },
    signal,
  );

/** The status of the response to a list and to a patch of a status. */
async function attempts(user: string): Promise<readonly number[]> {
  const client = clientOf(user);
  const path = '/apis/samples.example.com/v1/namespaces/default/foos';
  const statusOf = async (request: Parameters<KubeClient['request']>[0]) =>
    await client.request(request).then(
      ({ status }) => status,
      (error: unknown) => (error instanceof ApiError ? error.status : Number.NaN),
    );
  const contentType = 'application/merge-patch+json';
  return [
    await statusOf({ method: 'GET', path: `${path}/one` }),
    await statusOf({ method: 'PATCH', path: `${path}/one/status`, contentType, body: { status: {} } }),
  ];
}

// Control T141.
it('after the fence the first stage is refused, the second is not, and the fence can be repeated', async () => {
  // 404: they may, and there is no such object.
  expect([await attempts('prod'), await attempts('canary')]).toEqual([
    [404, 404],
    [404, 404],
  ]);
  await fence().checkPermissions({ source: entryOf('prod'), target: entryOf('canary') });
  for (let time = 1; time <= 2; time += 1) {
    await fence().takePermissions(entryOf('prod'));
    expect([await attempts('prod'), await attempts('canary')]).toEqual([
      [403, 403],
      [404, 404],
    ]);
  }
});

it('one token for both stages, and a user with permissions by its group, are refused', async () => {
  const same = fence().checkPermissions({ source: entryOf('canary'), target: entryOf('canary') });
  await expect(same).rejects.toThrow('both stages are canary there');
  const root = fence().checkPermissions({ source: entryOf('root'), target: entryOf('canary') });
  await expect(root).rejects.toThrow('root may get foos.samples.example.com by its groups (system:masters');
});
