// What a network is made of, as it should be: a headless Service, so that every node has a name, and a StatefulSet of bitcoind.
// Names and fields are those of christianb93/bitcoin-controller, whose image it runs. Pure.
import type { V1Service, V1StatefulSet } from '@kubernetes/client-node';
import { existingKind } from '../../core/kind.ts';
import type { NetworkSpec } from './kind.ts';

export const serviceKind = existingKind<V1Service>({ group: '', version: 'v1', kind: 'Service' });
export const statefulSetKind = existingKind<V1StatefulSet>({ group: 'apps', version: 'v1', kind: 'StatefulSet' });

/** On every pod: the name of its network, whom a change of the pod concerns. `app` may be on pods of others. */
export const networkLabel = 'bitcoin.example.com/network';

/** What every container's name ends with. */
export const containerSuffix = '-sts-ctr';

/** How a node is spoken to, from inside its own container and with its own credentials: nobody else needs to know them. */
export const bitcoinCli = ['/usr/local/bin/bitcoin-cli', '-regtest', '-conf=/bitcoin.conf'] as const;

/** Names the StatefulSet of a network. */
export function statefulSetName(network: string): string {
  return `${network}-sts`;
}

/** Names the Service of a network. */
export function serviceName(network: string): string {
  return `${network}-svc`;
}

/** The Service. It has no address and no ports: it is there for the names of its pods. */
export function serviceOf(network: string) {
  return {
    metadata: { name: serviceName(network) },
    spec: { clusterIP: 'None', selector: { app: network } },
  };
}

/** The StatefulSet. A Secret that is named goes from Kubernetes to the nodes; it is not read here. */
export function statefulSetOf(network: string, { nodes, secret = '' }: NetworkSpec) {
  const labels = { app: network };
  return {
    metadata: { name: statefulSetName(network) },
    spec: {
      replicas: nodes,
      serviceName: serviceName(network),
      selector: { matchLabels: labels },
      template: {
        metadata: { labels: { ...labels, [networkLabel]: network } },
        spec: {
          containers: [
            {
              name: `${network}${containerSuffix}`,
              image: 'christianb93/bitcoind:v1.0',
              imagePullPolicy: 'IfNotPresent',
              readinessProbe: {
                exec: { command: [...bitcoinCli, 'getnetworkinfo'] },
                initialDelaySeconds: 5,
                periodSeconds: 5,
              },
              ...(secret === '' ? {} : { envFrom: [{ secretRef: { name: secret, optional: true } }] }),
            },
          ],
        },
      },
    },
  };
}
