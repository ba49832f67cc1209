// The API server of a test file that holds on both servers: in memory in `npm test`, a real kube-apiserver in
// `npm run test:cluster`. The configuration of the run provides which one; test/both-servers.ts lists the files.

import { startApiServer } from '@outrigger/apiserver';
import { afterAll, inject } from 'vitest';
import { createClient, type KubeClient } from '../../src/kube/client/client.ts';
import type { Connection } from '../../src/kube/client/connection.ts';
import type { KubeObject } from '../../src/kube/client/object.ts';
import type { ControlPlane } from '../../tools/control-plane/control-plane.ts';
import { startControlPlane } from '../../tools/control-plane/start.ts';
import { applyDefinition } from '../support/established.ts';

declare module 'vitest' {
  interface ProvidedContext {
    apiServer: 'memory' | 'real';
  }
}

/** A running API server that the file's tests share. It ends after them. */
export type TestApiServer = {
  readonly url: string;
  readonly ca?: string;
  readonly token?: string;
  /** The admin's connection. */
  readonly connect: () => Connection;
  /** In memory: makes every earlier resource version expire. A real server keeps its history. */
  readonly expireWindow: () => void;
};

/**
 * Opens the API server of a test file.
 * @param options `controllers: 'none'`: on the real server no kube-controller-manager runs, so that only the test and our
 *   controllers write. `history: 'short'`: versions are compacted within seconds, or 20 changes in memory
 */
export async function useApiServer({
  controllers = 'all',
  history = 'long',
}: {
  readonly controllers?: 'all' | 'none';
  readonly history?: 'long' | 'short';
} = {}): Promise<TestApiServer> {
  if (inject('apiServer') === 'real') {
    const shared = inject(controllers === 'all' ? 'controlPlane' : 'bareControlPlane');
    const { url, ca, adminToken } = history === 'long' ? shared : await startCompacting();
    const connection = { server: new URL(url), ca, token: async () => adminToken };
    return { url, ca, token: adminToken, connect: () => connection, expireWindow: () => {} };
  }
  const server = await startApiServer(history === 'long' ? {} : { eventWindow: 20 });
  afterAll(() => server.close());
  const connection = { server: new URL(server.url) };
  return { url: server.url, connect: () => connection, expireWindow: () => server.expireWindow() };
}

/** Opens the API server of a test file with these kinds, and returns a client of it, which is closed after the tests. */
export async function useClient(...definitions: readonly KubeObject[]): Promise<KubeClient> {
  const { connect } = await useApiServer();
  const client = createClient(connect());
  afterAll(() => client.close());
  for (const definition of definitions) await applyDefinition(client, definition);
  return client;
}

/** Starts a real server of the file's own. */
async function startCompacting(): Promise<ControlPlane> {
  const plane = await startControlPlane({ apiServerFlags: ['--etcd-compaction-interval=1s'] });
  afterAll(() => plane.stop());
  return plane;
}
