// The statements of memcached-proxy-cases.ts on the in-memory API server; the test plays Kubernetes' own controllers.
import { afterAll } from 'vitest';
import { startApiServer } from '../../src/local/api-server/server.ts';
import { memcachedProxyCases } from './memcached-proxy-cases.ts';

const server = await startApiServer();
afterAll(() => server.close());

memcachedProxyCases(() => ({ server: new URL(server.url) }));
