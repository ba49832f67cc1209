// The statements of book-cases.ts (BK1 to BK11) on the in-memory API server. test/cluster/samples-alone.test.ts runs the same on the real one.
import { afterAll } from 'vitest';
import { startApiServer } from '../../src/apiserver/server.ts';
import { bookCases } from './book-cases.ts';

const server = await startApiServer();
afterAll(() => server.close());

bookCases({ url: server.url, forget: () => server.expireWindow() });
