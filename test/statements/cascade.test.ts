// The statements of cascade-cases.ts (F6, C7, bad owner references) on the in-memory API server.
// test/cluster/deployment-chain.test.ts runs the same on the real one.
import { afterAll } from 'vitest';
import { startApiServer } from '../../src/apiserver/server.ts';
import { cascadeCases } from './cascade-cases.ts';

const server = await startApiServer();
afterAll(() => server.close());

cascadeCases(() => ({ server: new URL(server.url) }));
