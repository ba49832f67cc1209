// The reconcile cases on the in-memory API server. On the real one they are in test/cluster/reconcile.test.ts.
import { afterAll, beforeAll, describe } from 'vitest';
import { startApiServer } from '../../src/apiserver/server.ts';
import { reconcileCases } from './reconcile-cases.ts';
import { reconcileFamilyCases } from './reconcile-family-cases.ts';

let server: Awaited<ReturnType<typeof startApiServer>>;
beforeAll(async () => {
  server = await startApiServer();
});
afterAll(() => server.close());

const connect = () => ({ server: new URL(server.url) });
describe('createReconcile', () => reconcileCases(connect));
describe('createReconcile, deletion and children', () => reconcileFamilyCases(connect));
