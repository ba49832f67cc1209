// The reconcile's cases on the in-memory API server; on the real one they are test/cluster/reconcile.test.ts.
import { afterAll, beforeAll } from 'vitest';
import { startApiServer } from '../../src/local/api-server/server.ts';
import { reconcileCases } from './reconcile-cases.ts';

let server: Awaited<ReturnType<typeof startApiServer>>;
beforeAll(async () => {
  server = await startApiServer();
});
afterAll(() => server.close());

reconcileCases(() => ({ server: new URL(server.url) }));
