// Memcached behind Services, for statements: the test makes the Services and EndpointSlices, and plays the Deployment's
// controller where none runs.

import type { Kind } from '../../src/api/kind.ts';
import { MemcachedProxy as proxies } from '../../src/controllers/memcached-proxy/kind.ts';
import { ConfigMap, Deployment, EndpointSlice, ReplicaSet, Service } from '../../src/kubernetes.ts';
import type { System } from './harness.ts';

/** The endpoints that a proxy begins with. */
export const three = ['10.0.2.17', '10.0.2.18', '10.0.2.19'];
/** The proxy. */
export const name = 'sharded-example';
/** Its Service. */
export const service = 'sharded-example-memcached-043e0';
/** Its Deployment. */
export const mcrouter = `${name}-mcrouter`;

/** How a slice is to be. */
type SliceOptions = {
  /** Its own name, for a Service of several; the Service's when absent. */
  readonly slice?: string;
  readonly ports?: readonly object[];
  readonly conditions?: object;
};

/** Creates what a statement about proxies needs. */
export function createMemcached(system: System) {
  const only = async (kind: Kind, prefix: string) =>
    (await system.list(kind)).filter(({ metadata }) => metadata.name.startsWith(prefix));
  const deployment = async (proxy: string) => Deployment.read(await system.read(Deployment, `${proxy}-mcrouter`));
  const mounted = async (proxy: string) =>
    (await deployment(proxy)).spec?.template.spec?.volumes?.find(({ name }) => name === 'config')?.configMap?.name ??
    '';

  return {
    deployment,
    mounted,
    /** A Service without a selector, so that only the test creates slices for it. */
    service: async (name: string, ports: readonly object[] = [{ port: 11_211 }]) =>
      await system.apply(Service, name, { ports }),
    /** The endpoints of a Service, as addresses. */
    endpoints: async (
      service: string,
      addresses: readonly string[],
      { slice = service, ports = [{ name: '', port: 11_211 }], conditions = { ready: true } }: SliceOptions = {},
    ) =>
      await system.put(
        EndpointSlice,
        slice,
        { addressType: 'IPv4', endpoints: addresses.map((address) => ({ addresses: [address], conditions })), ports },
        { labels: { 'kubernetes.io/service-name': service } },
      ),
    /** A proxy for one Service, or for rules. */
    proxy: async (name: string, rules: object = { service: { name: 'sharded-memcached', port: 11_211 } }, spec = {}) =>
      await system.apply(proxies, name, { rules, ...spec }),
    /** What mcrouter would read now. */
    config: async (proxy: string): Promise<unknown> => {
      const configMap = ConfigMap.read(await system.read(ConfigMap, await mounted(proxy)));
      return JSON.parse(configMap.data?.['config.json'] ?? '');
    },
    /** The names of a proxy's ConfigMaps. */
    configMaps: async (proxy: string) => (await only(ConfigMap, `${proxy}-config-`)).map((one) => one.metadata.name),
    /** Does what the Deployment's controller does: makes a ReplicaSet of the template unless there is one, and reports. */
    rollOut: async (proxy: string): Promise<string> => {
      const { metadata, spec } = await deployment(proxy);
      const name = `${proxy}-mcrouter-${await mounted(proxy)}`.replaceAll(`${proxy}-config-`, '');
      const labels = spec?.template.metadata?.labels ?? {};
      const { name: deployed, uid } = metadata;
      const owner = { apiVersion: 'apps/v1', kind: 'Deployment', name: deployed, uid, controller: true };
      const content = { spec: { replicas: 0, selector: spec?.selector, template: spec?.template } };
      await system.put(ReplicaSet, name, content, { labels, ownerReferences: [owner] });
      const status = { observedGeneration: metadata.generation, conditions: [{ type: 'Available', status: 'True' }] };
      await system.patch(Deployment, metadata.name, { status }, 'status');
      return name;
    },
  };
}
