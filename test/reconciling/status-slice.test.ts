// The cases of two controllers on one kind, on the in-memory API server. On the real one they are in
// test/cluster/status-slice.test.ts.
import { afterAll, beforeAll } from 'vitest';
import { startApiServer } from '../../src/apiserver/server.ts';
import { statusSliceCases } from './status-slice-cases.ts';
import { statusSliceFailureCases } from './status-slice-failure-cases.ts';
import { statusSliceWakeCases } from './status-slice-wake-cases.ts';

let server: Awaited<ReturnType<typeof startApiServer>>;
beforeAll(async () => {
  server = await startApiServer();
});
afterAll(() => server.close());

const connect = () => ({ server: new URL(server.url) });
statusSliceCases(connect);
statusSliceFailureCases(connect);
statusSliceWakeCases(connect);
