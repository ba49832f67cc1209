// The statements of memcached-proxy-wake-cases.ts on the in-memory API server; the test plays Kubernetes' own controllers.
import { afterAll } from 'vitest';
import { startApiServer } from '../../src/apiserver/server.ts';
import { memcachedProxyWakeCases } from './memcached-proxy-wake-cases.ts';

const server = await startApiServer();
afterAll(() => server.close());

memcachedProxyWakeCases(() => ({ server: new URL(server.url) }));
