// Where the statements about one MemcachedProxy take place: a system for each, a Service with endpoints, the proxy before it, and what
// one looks at.

import { MemcachedProxy as proxies } from '../../src/controllers/memcached-proxy/kind.ts';
import type { Connection } from '../../src/kube/client/connection.ts';
import { Deployment } from '../../src/kubernetes.ts';
import { useSystem } from './harness.ts';
import { createMemcached } from './memcached.ts';
import { conditionOf } from './user.ts';

/** The endpoints that it begins with. */
export const three = ['10.0.2.17', '10.0.2.18', '10.0.2.19'];
/** The proxy. */
export const name = 'sharded-example';
/** Its Service. */
export const service = 'sharded-example-memcached-043e0';
/** Its Deployment. */
export const mcrouter = `${name}-mcrouter`;

/** Starts a system for each test of a file. */
export function proxyFixture(connect: () => Connection) {
  const system = useSystem(connect);
  const memcached = createMemcached(system);
  const reconcile = async () => await system.reconcile(proxies, name);
  return {
    at: { system, memcached },
    reconcile,
    proxy: async (of = name) => await system.read(proxies, of),
    condition: async (type: string, of = name) => conditionOf(await system.read(proxies, of), type),
    writes: () => system.requests.filter((request) => !request.startsWith('GET')),
    /** The servers that mcrouter would have now. */
    servers: async (of = name) => {
      const config = JSON.stringify(await memcached.config(of));
      return [...config.matchAll(/"([0-9.]+):11211"/g)].map(([, address]) => address);
    },
    /** Its ConfigMaps and Deployments by name. */
    children: async () => [
      ...(await memcached.configMaps(name)),
      ...(await system.list(Deployment)).map(({ metadata }) => metadata.name),
    ],
    /** Makes the Service, its endpoints and the proxy, and reconciles it. */
    started: async (addresses: readonly string[] = three) => {
      await memcached.service('sharded-memcached');
      await memcached.endpoints('sharded-memcached', addresses);
      await memcached.proxy(name);
      await reconcile();
    },
    /** Changes the endpoints, and reconciles it. */
    becomes: async (addresses: readonly string[]) => {
      await memcached.endpoints('sharded-memcached', addresses);
      await reconcile();
    },
  };
}
