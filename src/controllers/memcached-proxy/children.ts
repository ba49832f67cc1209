// The desired children of a proxy: a ConfigMap for each configuration, the Deployment that mounts one of them, and the
// Service with the stable address. Pure.
import type { V1ConfigMap, V1Deployment, V1ReplicaSet } from '@kubernetes/client-node';
import type { Key, Live } from '../../outrigger.ts';
import { shortHash } from './config.ts';
import { defaultImage, type ProxySpec } from './kind.ts';

/**
 * On the pod template, and so on every ReplicaSet: the proxy's name. It maps the deletion of a ReplicaSet to the proxy.
 */
export const proxyLabel = 'cache.example.com/proxy';

type Proxy = { readonly metadata: Required<Key>; readonly spec: ProxySpec };

const configFile = 'config.json';

/**
 * The name of a ConfigMap contains a hash of its content. It has more `digits` than five only if the name with five is
 * taken by another content.
 */
export function configMapName(proxy: string, config: string, digits: number): string {
  return `${proxy}-config-${shortHash([proxy, config], digits)}`;
}

/** An immutable configuration: pods that mount it must never see another content under its name. */
export function proxyConfigMap(name: string, config: string) {
  return { metadata: { name }, immutable: true, data: { [configFile]: config } };
}

/** The configuration in a ConfigMap. */
export function configIn({ data }: Pick<V1ConfigMap, 'data'>): string | undefined {
  return data?.[configFile];
}

/** The Deployment. Its replicas are not set, so that users can scale it. */
export function proxyDeployment({ metadata, spec }: Proxy, configMap: string) {
  const { image, port, statsRoot, resources } = spec.mcrouter;
  const labels = podLabels(metadata);
  const config = '/etc/mcrouter';
  return {
    metadata: { name: deploymentName(metadata.name) },
    spec: {
      selector: { matchLabels: labels },
      template: {
        metadata: { labels: { ...labels, [proxyLabel]: metadata.name } },
        spec: {
          ...restrictedPod,
          containers: [
            {
              name: 'mcrouter',
              image: image === '' ? defaultImage : image,
              command: ['mcrouter'],
              args: [
                '-p',
                String(port),
                `--config-file=${config}/${configFile}`,
                '--asynclog-disable',
                `--stats-root=${statsRoot}`,
              ],
              ports: [{ name: 'mcrouter', containerPort: port, protocol: 'TCP' }],
              ...(resources === undefined ? {} : { resources: resourcesOf(resources) }),
              securityContext: restrictedContainer,
              volumeMounts: [
                { name: 'config', mountPath: config },
                { name: 'stats', mountPath: statsRoot },
              ],
            },
          ],
          volumes: [
            { name: 'config', configMap: { name: configMap } },
            { name: 'stats', emptyDir: {} },
          ],
        },
      },
    },
  };
}

/** Pod Security `restricted`: a namespace with it rejects other pods, but not their Deployment. */
const restrictedPod = {
  automountServiceAccountToken: false,
  securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
} as const;
const restrictedContainer = {
  runAsNonRoot: true,
  readOnlyRootFilesystem: true,
  allowPrivilegeEscalation: false,
  capabilities: { drop: ['ALL'] },
};

/** The Service. The controller owns its ports completely (`exact`). Its address is immutable. */
export function proxyService({ metadata, spec }: Proxy) {
  const { port } = spec.mcrouter;
  return {
    metadata: { name: `${metadata.name}-memcached-${shortHash([metadata.name])}` },
    spec: {
      type: 'ClusterIP',
      selector: podLabels(metadata),
      ports: [{ name: 'mcrouter', protocol: 'TCP', port, targetPort: port }],
    },
  };
}

/** The name is constant, so that a repeated creation finds the first Service. */
export function deploymentName(proxy: string): string {
  return `${proxy}-mcrouter`;
}

/** Returns the ConfigMap that a Deployment or a ReplicaSet mounts. */
export function mountedConfigMap({ spec }: Pick<Live<V1Deployment | V1ReplicaSet>, 'spec'>): string | undefined {
  return spec?.template?.spec?.volumes?.find(({ name }) => name === 'config')?.configMap?.name;
}

/** A user may write a quantity as a number. */
function resourcesOf(resources: NonNullable<ProxySpec['mcrouter']['resources']>) {
  const texts = (quantities: Readonly<Record<string, string | number>>) =>
    Object.fromEntries(Object.entries(quantities).map(([name, quantity]) => [name, String(quantity)]));
  const { requests, limits } = resources;
  return {
    ...(requests === undefined ? {} : { requests: texts(requests) }),
    ...(limits === undefined ? {} : { limits: texts(limits) }),
  };
}

/** The labels of the proxy's pods. */
export function podLabels({ namespace, name }: Required<Key>): Readonly<Record<string, string>> {
  return { 'memcached-operator': 'true', mcrouter: `${name}-${shortHash([namespace, name])}` };
}
