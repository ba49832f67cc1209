// The cases of two controllers on one kind on the in-memory API server; on the real one they are test/cluster/part.test.ts.
import { afterAll, beforeAll } from 'vitest';
import { startApiServer } from '../../src/local/api-server/server.ts';
import { partCases } from './part-cases.ts';
import { partFailureCases } from './part-failure-cases.ts';
import { partWakeCases } from './part-wake-cases.ts';

let server: Awaited<ReturnType<typeof startApiServer>>;
beforeAll(async () => {
  server = await startApiServer();
});
afterAll(() => server.close());

const connect = () => ({ server: new URL(server.url) });
partCases(connect);
partFailureCases(connect);
partWakeCases(connect);
