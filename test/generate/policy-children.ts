// Children of the controllers of children-policy.test.ts, the requests that write them, and pod templates with a
// privilege, each with a name, the field of `allows` that permits it, and the fields of its pod.
import type { KubeRequest } from '../../src/kube/client/client.ts';

export type Metadata = {
  readonly name: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly ownerReferences?: readonly object[];
};
export type Item = {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: Metadata;
  readonly [field: string]: unknown;
};

export const label = (controller: string) => ({ 'outrigger.dev/controller': controller });

/** The metadata of children of a Farm, which exists: the garbage collector deletes those of another. */
export function childrenOf(farm: string) {
  const ownerReference = (uid = farm, controller = true) => ({
    apiVersion: 'farm.example.com/v1',
    kind: 'Farm',
    name: 'f',
    uid,
    controller,
  });
  const own = (name: string, controller = 'farmer'): Metadata => ({
    name,
    labels: label(controller),
    ownerReferences: [ownerReference()],
  });
  return { ownerReference, own };
}
export const configMap = (metadata: Metadata): Item => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata,
  data: { a: '1' },
});
export const service = (metadata: Metadata, spec: object): Item => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata,
  spec: { ports: [{ port: 1 }], ...spec },
});
export const container = { name: 'a', image: 'a' };
export function workload(kind: string, metadata: Metadata, spec: object): Item {
  const pod = { automountServiceAccountToken: false, containers: [container], ...spec };
  const template = { metadata: { labels: { a: 'b' } }, spec: pod };
  const selector = { matchLabels: { a: 'b' } };
  if (kind === 'Pod') return { apiVersion: 'v1', kind, metadata, spec: template.spec };
  if (kind === 'CronJob') {
    const jobTemplate = { spec: { template: { ...template, spec: { ...template.spec, restartPolicy: 'Never' } } } };
    return { apiVersion: 'batch/v1', kind, metadata, spec: { schedule: '0 0 1 1 *', jobTemplate } };
  }
  return {
    apiVersion: 'apps/v1',
    kind,
    metadata,
    spec: { selector, template, ...(kind === 'StatefulSet' ? { serviceName: 'a' } : {}) },
  };
}

export function pathOf({ apiVersion, kind }: Item, name = ''): string {
  const base = apiVersion === 'v1' ? '/api/v1' : `/apis/${apiVersion}`;
  return `${base}/namespaces/default/${kind.toLowerCase()}s${name === '' ? '' : `/${name}`}`;
}
export const post = (item: Item, query: Readonly<Record<string, string>> = {}): KubeRequest => ({
  method: 'POST',
  path: pathOf(item),
  body: item,
  query,
});
export const apply = (item: Item, query: Readonly<Record<string, string>> = {}): KubeRequest => ({
  method: 'PATCH',
  path: pathOf(item, item.metadata.name),
  body: item,
  contentType: 'application/apply-patch+yaml',
  query: { fieldManager: 'farmer', force: 'true', ...query },
});
export const merge = (item: Item, body: object): KubeRequest => ({
  method: 'PATCH',
  path: pathOf(item, item.metadata.name),
  body,
  contentType: 'application/merge-patch+json',
});
export const strategic = (item: Item, body: object): KubeRequest => ({
  ...merge(item, body),
  contentType: 'application/strategic-merge-patch+json',
});
export const remove = (item: Item, query: Readonly<Record<string, string>> = {}): KubeRequest => ({
  method: 'DELETE',
  path: pathOf(item, item.metadata.name),
  query,
});

export const privileged = (securityContext: object) => ({ containers: [{ ...container, securityContext }] });
export const templates: readonly (readonly [string, string, object])[] = [
  ['host network', 'hostNamespaces', { hostNetwork: true }],
  ['host PIDs', 'hostNamespaces', { hostPID: true }],
  ['host IPC', 'hostNamespaces', { hostIPC: true }],
  ['a service account', 'serviceAccountName', { serviceAccountName: 'admin' }],
  ['a service account by its old name', 'serviceAccountName', { serviceAccount: 'admin' }],
  ['H8: a token', 'automountServiceAccountToken', { automountServiceAccountToken: true }],
  ['H8: a token by default', 'automountServiceAccountToken', { automountServiceAccountToken: null }],
  ['a node', 'nodeName', { nodeName: 'n' }],
  ['a priority class', 'priorityClassName', { priorityClassName: 'system-node-critical' }],
  ['a path of the host', 'other volumes', { volumes: [{ name: 'v', hostPath: { path: '/' } }] }],
  ['a secret as a volume', 'other volumes', { volumes: [{ name: 'v', secret: { secretName: 's' } }] }],
  ['NFS', 'other volumes', { volumes: [{ name: 'v', nfs: { server: 's', path: '/' } }] }],
  [
    'a token of its service account',
    'other volumes',
    { volumes: [{ name: 'v', projected: { sources: [{ serviceAccountToken: { path: 't' } }] } }] },
  ],
  ['privileges', 'privileged', privileged({ privileged: true })],
  [
    'privileges of an init container',
    'privileged',
    { initContainers: [{ ...container, name: 'i', securityContext: { privileged: true } }] },
  ],
  [
    'privileges of a sidecar',
    'privileged',
    { initContainers: [{ ...container, name: 'i', restartPolicy: 'Always', securityContext: { privileged: true } }] },
  ],
  ['privilege escalation', 'privileged', privileged({ allowPrivilegeEscalation: true })],
  ['capabilities', 'privileged', privileged({ capabilities: { add: ['NET_ADMIN'] } })],
  ['an unmasked /proc', 'privileged', { hostUsers: false, ...privileged({ procMount: 'Unmasked' }) }],
  ['an SELinux label', 'privileged', privileged({ seLinuxOptions: { type: 'spc_t' } })],
  ['an SELinux label of the pod', 'privileged', { securityContext: { seLinuxOptions: { type: 'spc_t' } } }],
  ['no seccomp', 'privileged', privileged({ seccompProfile: { type: 'Unconfined' } })],
  ['no seccomp of the pod', 'privileged', { securityContext: { seccompProfile: { type: 'Unconfined' } } }],
  ['a sysctl', 'privileged', { securityContext: { sysctls: [{ name: 'kernel.shm_rmid_forced', value: '1' }] } }],
  [
    'a probe of the metadata service from its node',
    'hostNamespaces',
    { containers: [{ ...container, livenessProbe: { httpGet: { host: '169.254.169.254', port: 80 } } }] },
  ],
  [
    'a probe of a port of its node, in a sidecar',
    'hostNamespaces',
    {
      initContainers: [
        {
          ...container,
          name: 'i',
          restartPolicy: 'Always',
          startupProbe: { tcpSocket: { host: '127.0.0.1', port: 22 } },
        },
      ],
    },
  ],
  [
    'a hook that its node calls elsewhere',
    'hostNamespaces',
    { containers: [{ ...container, lifecycle: { preStop: { httpGet: { host: '127.0.0.1', port: 10248 } } } }] },
  ],
  ['a port of the host', 'hostPorts', { containers: [{ ...container, ports: [{ containerPort: 1, hostPort: 1 }] }] }],
  [
    'a secret as a variable',
    'secrets',
    { containers: [{ ...container, env: [{ name: 'A', valueFrom: { secretKeyRef: { name: 's', key: 'k' } } }] }] },
  ],
  ['a secret as variables', 'secrets', { containers: [{ ...container, envFrom: [{ secretRef: { name: 's' } }] }] }],
];
