// The three objects that a proxy is made of, as they should be: a ConfigMap for each configuration, the Deployment that
// mounts one of them, and the Service that clients keep however often the others change. Pure.
import type { V1ConfigMap, V1Deployment, V1ReplicaSet } from '@kubernetes/client-node';
import type { Live, Meta } from '../../outrigger.ts';
import { shortHash } from './config.ts';
import { defaultImage, type ProxySpec } from './kind.ts';

/** On the pod template, and so on every ReplicaSet: the proxy's name. One that goes takes its configuration along. */
export const proxyLabel = 'cache.example.com/proxy';

type Proxy = { readonly metadata: Meta; readonly spec: ProxySpec };

const configFile = 'config.json';

/** A ConfigMap's name says what is in it. More `digits` than five only where five are taken by something else. */
export function configMapName(proxy: string, config: string, digits: number): string {
  return `${proxy}-config-${shortHash([proxy, config], digits)}`;
}

/** A configuration, never to be changed: pods that mount it must not see another under its name. */
export function proxyConfigMap(name: string, config: string) {
  return { metadata: { name }, immutable: true, data: { [configFile]: config } };
}

/** A ConfigMap that stays, said again: what is not repeated would be deleted. */
export function keepConfigMap({ metadata, data = {} }: Live<V1ConfigMap>) {
  return { metadata: { name: metadata.name }, immutable: true, data };
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

/** Pod Security `restricted`: a namespace with it refuses other pods, not the Deployment. */
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

/** The Service. Its ports are ours alone (`replaceLists`), its address is immutable. */
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

/** One name, always: a creation that is repeated must meet the first, not stand beside it. */
export function deploymentName(proxy: string): string {
  return `${proxy}-mcrouter`;
}

/** Which ConfigMap a Deployment or a ReplicaSet mounts. */
export function mountedConfigMap({
  spec,
}: Pick<V1Deployment, 'spec'> | Pick<V1ReplicaSet, 'spec'>): string | undefined {
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

/** Which pods are the proxy's. */
export function podLabels({ namespace = '', name }: Meta): Readonly<Record<string, string>> {
  return { 'memcached-operator': 'true', mcrouter: `${name}-${shortHash([namespace, name])}` };
}
