// The statements of foo-cases.ts (F1 to F12) on the in-memory API server. test/cluster/samples-alone.test.ts runs the same on the real one.
import { afterAll } from 'vitest';
import { startApiServer } from '../../src/apiserver/server.ts';
import { fooCases } from './foo-cases.ts';

const server = await startApiServer();
afterAll(() => server.close());

fooCases(() => ({ server: new URL(server.url) }));
