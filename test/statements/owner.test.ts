// The statements of owner-cases.ts (C1 to C3, C6, C8, F4) on the in-memory API server. test/cluster/samples-alone.test.ts runs the same on the real one.
import { afterAll } from 'vitest';
import { startApiServer } from '../../src/apiserver/server.ts';
import { ownerCases } from './owner-cases.ts';

const server = await startApiServer();
afterAll(() => server.close());

ownerCases(() => ({ server: new URL(server.url) }));
