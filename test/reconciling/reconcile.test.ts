// The reconcile's cases on the in-memory API server; on the real one they are test/cluster/reconcile.test.ts.
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
describe('an object', () => reconcileCases(connect));
describe('its family', () => reconcileFamilyCases(connect));
