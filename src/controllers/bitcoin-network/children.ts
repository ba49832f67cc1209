// The desired children of a network: a headless Service, so that every node has a name, and a StatefulSet of
// bitcoind. Names and fields are those of christianb93/bitcoin-controller, whose image it runs. Pure.
import type { NetworkSpec } from './kind.ts';

/**
 * On every pod: the name of its network, which maps a change of the pod to the network. Other pods may have the label
 * `app`, too.
 */
export const networkLabel = 'bitcoin.example.com/network';

/** The suffix of every container's name. */
export const containerSuffix = '-sts-ctr';

/**
 * The command line of a node's client. It runs in the node's container with the node's credentials, so no other program
 * needs them.
 */
export const bitcoinCli = ['/usr/local/bin/bitcoin-cli', '-regtest', '-conf=/bitcoin.conf'] as const;

/** Names the StatefulSet of a network. */
export function statefulSetName(network: string): string {
  return `${network}-sts`;
}

/** Names the Service of a network. */
export function serviceName(network: string): string {
  return `${network}-svc`;
}

/** The Service. It has no address and no ports. Its pods get their DNS names from it. */
export function networkService(network: string) {
  return {
    metadata: { name: serviceName(network) },
    spec: { clusterIP: 'None', selector: { app: network } },
  };
}

/** The user of the nodes. The image names root, which Pod Security `restricted` refuses. */
const nodeUser = 1000;
/** A folder that this user can write: the client and the node store their data in $HOME. */
const home = '/tmp';

/** The StatefulSet. Kubernetes gives a named Secret to the nodes. The controller does not read it. */
export function networkStatefulSet(network: string, { nodes, secret = '' }: NetworkSpec) {
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
          automountServiceAccountToken: false,
          // Pod Security `restricted`.
          securityContext: {
            runAsNonRoot: true,
            runAsUser: nodeUser,
            runAsGroup: nodeUser,
            fsGroup: nodeUser,
            seccompProfile: { type: 'RuntimeDefault' },
          },
          containers: [
            {
              name: `${network}${containerSuffix}`,
              image: 'christianb93/bitcoind:v1.0',
              imagePullPolicy: 'IfNotPresent',
              securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
              env: [{ name: 'HOME', value: home }],
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
