// The statements of memcached-proxy-missing-cases.ts and memcached-proxy-damage-cases.ts on the in-memory API server; the test
// plays Kubernetes' own controllers.
import { afterAll } from 'vitest';
import { startApiServer } from '../../src/apiserver/server.ts';
import { memcachedProxyDamageCases } from './memcached-proxy-damage-cases.ts';
import { memcachedProxyMissingCases } from './memcached-proxy-missing-cases.ts';

const server = await startApiServer();
afterAll(() => server.close());
const connect = () => ({ server: new URL(server.url) });

memcachedProxyMissingCases(connect);
memcachedProxyDamageCases(connect);
