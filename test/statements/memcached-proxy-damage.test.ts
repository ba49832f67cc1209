// The statements of memcached-proxy-damage-cases.ts on the in-memory API server; the test plays Kubernetes' own controllers.
import { afterAll } from 'vitest';
import { startApiServer } from '../../src/local/api-server/server.ts';
import { memcachedProxyDamageCases } from './memcached-proxy-damage-cases.ts';

const server = await startApiServer();
afterAll(() => server.close());

memcachedProxyDamageCases(() => ({ server: new URL(server.url) }));
