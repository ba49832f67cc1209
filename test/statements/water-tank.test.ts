// The statements of water-tank-cases.ts (W1 to W10) on the in-memory API server. test/cluster/statements.test.ts runs the same on the real one.
import { afterAll } from 'vitest';
import { startApiServer } from '../../src/apiserver/server.ts';
import { waterTankCases } from './water-tank-cases.ts';

const server = await startApiServer();
afterAll(() => server.close());

waterTankCases(() => ({ server: new URL(server.url) }));
