// The release's cases on the in-memory API server; on the real one they are test/cluster/release.test.ts.
import { afterAll, beforeAll } from 'vitest';
import { startApiServer } from '../../src/local/api-server/server.ts';
import { releaseCases } from './release-cases.ts';

let server: Awaited<ReturnType<typeof startApiServer>>;
beforeAll(async () => {
  server = await startApiServer();
});
afterAll(() => server.close());

releaseCases(() => ({ server: new URL(server.url) }));
