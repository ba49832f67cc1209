// The statements of ingredient-cases.ts (I1 to I5, I9, I11 to I14) on the in-memory API server. test/cluster/statements.test.ts runs the same on the real one.
import { afterAll } from 'vitest';
import { startApiServer } from '../../src/apiserver/server.ts';
import { ingredientCases } from './ingredient-cases.ts';

const server = await startApiServer();
afterAll(() => server.close());

ingredientCases(() => ({ server: new URL(server.url) }));
