// The statements of memcached-proxy-input-cases.ts on the in-memory API server.
import { afterAll } from 'vitest';
import { startApiServer } from '../../src/local/api-server/server.ts';
import { memcachedProxyInputCases } from './memcached-proxy-input-cases.ts';

const server = await startApiServer();
afterAll(() => server.close());

memcachedProxyInputCases(() => ({ server: new URL(server.url) }));
