// The statements of memcached-proxy-cases.ts and memcached-proxy-roll-out-cases.ts on the in-memory API server; the test plays
// Kubernetes' own controllers.
import { afterAll } from 'vitest';
import { startApiServer } from '../../src/apiserver/server.ts';
import { memcachedProxyCases } from './memcached-proxy-cases.ts';
import { memcachedProxyRollOutCases } from './memcached-proxy-roll-out-cases.ts';

const server = await startApiServer();
afterAll(() => server.close());
const connect = () => ({ server: new URL(server.url) });

memcachedProxyCases(connect);
memcachedProxyRollOutCases(connect);
