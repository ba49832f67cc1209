// The statements of wake-cases.ts (I4, I8, I10) on the in-memory API server. test/cluster/statements.test.ts runs the same on the real one.
import { afterAll } from 'vitest';
import { startApiServer } from '../../src/apiserver/server.ts';
import { wakeCases } from './wake-cases.ts';

const server = await startApiServer();
afterAll(() => server.close());

wakeCases(() => ({ server: new URL(server.url) }));
