// The statements of generation-cases.ts (V10, V13) on the in-memory API server. test/cluster/samples-alone.test.ts runs the same on the real one.
import { afterAll } from 'vitest';
import { startApiServer } from '../../src/apiserver/server.ts';
import { generationCases } from './generation-cases.ts';

const server = await startApiServer();
afterAll(() => server.close());

generationCases(() => ({ server: new URL(server.url) }));
