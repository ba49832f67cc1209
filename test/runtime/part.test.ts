// The cases of two controllers on one kind on the in-memory API server; on the real one they are test/cluster/part.test.ts.
import { afterAll, beforeAll } from 'vitest';
import { startApiServer } from '../../src/apiserver/server.ts';
import { partCases } from '../reconciling/status-slice-cases.ts';
import { partFailureCases } from '../reconciling/status-slice-failure-cases.ts';
import { partWakeCases } from '../reconciling/status-slice-wake-cases.ts';

let server: Awaited<ReturnType<typeof startApiServer>>;
beforeAll(async () => {
  server = await startApiServer();
});
afterAll(() => server.close());

const connect = () => ({ server: new URL(server.url) });
partCases(connect);
partFailureCases(connect);
partWakeCases(connect);
