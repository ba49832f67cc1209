// The cases of hostile-child-cases.ts on the in-memory API server. test/cluster/samples-alone.test.ts runs the same on the real one.
import { afterAll } from 'vitest';
import { startApiServer } from '../../src/apiserver/server.ts';
import { hostileChildCases } from './hostile-child-cases.ts';

const server = await startApiServer();
afterAll(() => server.close());

hostileChildCases(() => ({ server: new URL(server.url) }));
