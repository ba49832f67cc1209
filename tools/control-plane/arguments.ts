// The command lines of a control plane's programs. All files are in one folder; only the API server needs a port.
import type { ControlPlaneOptions } from './control-plane.ts';

/** The admission plug-in that mounts the token of a pod's service account. */
const serviceAccounts = 'ServiceAccount';

/** etcd listens on sockets in the folder. The TCP addresses that it advertises are not used. */
export function etcdArguments(folder: string, { etcdFlags = [] }: ControlPlaneOptions): string[] {
  return [
    ...['--data-dir', `${folder}/etcd`, '--log-level', 'warn', '--unsafe-no-fsync'],
    ...['--listen-client-urls', `unix://${folder}/etcd.sock`, '--advertise-client-urls', 'http://127.0.0.1:2379'],
    ...['--listen-peer-urls', `unix://${folder}/peer.sock`, '--initial-advertise-peer-urls', 'http://127.0.0.1:2380'],
    ...['--initial-cluster', 'default=http://127.0.0.1:2380', ...etcdFlags],
  ];
}

/** The API server authenticates with tokens.csv and authorizes with RBAC; its serving certificate is self-signed. */
export function apiServerArguments(folder: string, port: number, options: ControlPlaneOptions): string[] {
  const { auditLog = false, enableAdmission = [], apiServerFlags = [] } = options;
  return [
    ...[`--etcd-servers=unix://${folder}/etcd.sock`, '--bind-address=127.0.0.1', `--secure-port=${port}`],
    // As kubeadm and managed clusters have it.
    '--allow-privileged=true',
    ...[`--cert-dir=${folder}/certificates`, `--token-auth-file=${folder}/tokens.csv`, '--authorization-mode=RBAC'],
    ...[`--service-account-key-file=${folder}/sa.pub`, `--service-account-signing-key-file=${folder}/sa.key`],
    ...['--service-account-issuer=https://kubernetes.default.svc', '--service-cluster-ip-range=10.0.0.0/24'],
    // Pods of most tests name no service account, and without kube-controller-manager there is no default one.
    ...(enableAdmission.includes(serviceAccounts) ? [] : [`--disable-admission-plugins=${serviceAccounts}`]),
    ...(enableAdmission.length > 0 ? [`--enable-admission-plugins=${enableAdmission.join(',')}`] : []),
    ...(auditLog ? [`--audit-log-path=${folder}/audit.log`, `--audit-policy-file=${folder}/audit-policy.yaml`] : []),
    ...apiServerFlags,
  ];
}

/** kube-controller-manager serves nothing here, so it needs no port. */
export function controllerManagerArguments(
  folder: string,
  kubeconfig: string,
  { controllerManagerFlags = [], enableAdmission = [] }: ControlPlaneOptions,
): string[] {
  const key = `--service-account-private-key-file=${folder}/sa.key`;
  // Mounted together with a token: the ConfigMap kube-root-ca.crt of every namespace.
  const authority = `--root-ca-file=${folder}/certificates/apiserver.crt`;
  return [
    ...[`--kubeconfig=${kubeconfig}`, key, '--leader-elect=false', '--secure-port=0'],
    // A process that simulates a kubelet may be stalled for minutes on a loaded machine. Its Pods stay Ready meanwhile.
    '--node-monitor-grace-period=10m',
    ...(enableAdmission.includes(serviceAccounts) ? [authority] : []),
    ...controllerManagerFlags,
  ];
}
