// The statements of bad-input-cases.ts (the bad input) on the in-memory API server. test/cluster/statements.test.ts runs the same on the real one.
import { afterAll } from 'vitest';
import { startApiServer } from '../../src/apiserver/server.ts';
import { badInputCases } from './bad-input-cases.ts';

const server = await startApiServer();
afterAll(() => server.close());

badInputCases(() => ({ server: new URL(server.url) }));
