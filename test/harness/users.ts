// The API server of a test file whose requests come from several users, on both servers: a control plane of the file's
// own, or the server in memory, which tells the users apart by their tokens and grants each of them everything.

import { startApiServer } from '@outrigger/apiserver';
import { afterAll, inject } from 'vitest';
import { createClient, type KubeClient } from '../../src/kube/client/client.ts';
import { applyManifests, parseManifests } from '../../src/testing/manifests.ts';
import type { ControlPlaneOptions } from '../../tools/control-plane/control-plane.ts';
import { type UsedPlane, usePlane } from '../cluster/plane.ts';

/** Opens the server with objects that the administrator has applied. Without a user the client is the administrator's. */
export async function useUsers({
  users = [],
  applies,
  ...flags
}: Pick<ControlPlaneOptions, 'users' | 'apiServerFlags'> & { readonly applies: readonly object[] }): Promise<
  Pick<UsedPlane, 'clientOf'>
> {
  if (inject('apiServer') === 'real') return await usePlane({ users, applies, ...flags });
  const server = await startApiServer({
    identify: ({ authorization = '' }) => {
      const found = users.find(({ name }) => authorization === `Bearer ${name}`);
      return found && { username: found.name, groups: found.groups ?? [] };
    },
  });
  afterAll(() => server.close());
  const clients = new Map<string, KubeClient>();
  afterAll(() => {
    for (const client of clients.values()) client.close();
  });
  const clientOf = (user = ''): KubeClient => {
    const as = user === '' ? {} : { token: async () => user };
    const client = clients.get(user) ?? createClient({ server: new URL(server.url), ...as });
    clients.set(user, client);
    return client;
  };
  const manifests = applies.flatMap((object) => parseManifests(JSON.stringify(object), 'applies'));
  await applyManifests(clientOf(), manifests, { signal: AbortSignal.timeout(30_000) });
  return { clientOf };
}
