// The statements of dinner-cases.ts (I6, I7, I10, V1 to V13) on the in-memory API server. test/cluster/statements.test.ts runs the same on the real one.
import { afterAll } from 'vitest';
import { startApiServer } from '../../src/apiserver/server.ts';
import { dinnerCases } from './dinner-cases.ts';

const server = await startApiServer();
afterAll(() => server.close());

dinnerCases(() => ({ server: new URL(server.url) }));
