// The statement of poison-cases.ts (X9) on the in-memory API server. test/cluster/statements.test.ts runs the same on the real one.
import { afterAll } from 'vitest';
import { startApiServer } from '../../src/apiserver/server.ts';
import { poisonCases } from './poison-cases.ts';

const server = await startApiServer();
afterAll(() => server.close());

poisonCases(() => ({ server: new URL(server.url) }));
