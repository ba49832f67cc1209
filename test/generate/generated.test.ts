// Generated CRDs on the in-memory API server.
import { afterAll, beforeAll } from 'vitest';
import { type ApiServer, startApiServer } from '../../src/apiserver/server.ts';
import { generatedCases } from './generated-cases.ts';

let server: ApiServer;
beforeAll(async () => {
  server = await startApiServer();
});
afterAll(() => server.close());

generatedCases(() => ({ server: new URL(server.url) }));
