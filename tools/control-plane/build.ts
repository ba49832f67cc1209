// Builds the real control plane of the cluster tests, once per machine: etcd, kube-apiserver, kube-controller-manager
// and kubectl, from the Go modules that go.mod here pins. `npm run test:cluster` runs it first; by hand: `node
// tools/control-plane/build.ts`. It takes about five minutes and 4 GB of Go caches at first, seconds with warm Go
// caches, and no time when it was done before.
import { join } from 'node:path';
import { buildFromCommandLine, buildGoTools } from '../../test/support/go-tools.ts';

/** The programs of a control plane, as absolute paths. */
export type ControlPlaneBinaries = {
  readonly etcd: string;
  readonly apiServer: string;
  readonly controllerManager: string;
  readonly kubectl: string;
};

/** The version of the control plane. */
export const kubernetesVersion = { major: '1', minor: '36', git: 'v1.36.3' };

// Without these flags the programs report the version v0.0.0, and clients rely on the reported version.
const versionPackage = 'k8s.io/component-base/version';
const linkerFlags = [
  '-s -w',
  `-X ${versionPackage}.gitVersion=${kubernetesVersion.git}`,
  `-X ${versionPackage}.gitMajor=${kubernetesVersion.major}`,
  `-X ${versionPackage}.gitMinor=${kubernetesVersion.minor}`,
].join(' ');

/** Returns the programs, and builds them first if this machine has not done so. Progress goes to stderr. */
export async function controlPlaneBinaries(): Promise<ControlPlaneBinaries> {
  const folder = await buildGoTools({
    module: import.meta.dirname,
    name: 'control-plane',
    announcement: `Kubernetes ${kubernetesVersion.git} and etcd for the cluster tests (once; about five minutes when cold)`,
    programs: ['server', 'kube-apiserver', 'kube-controller-manager', 'kubectl'],
    flags: ['-trimpath', '-buildvcs=false', '-ldflags', linkerFlags],
  });
  return {
    etcd: join(folder, 'server'),
    apiServer: join(folder, 'kube-apiserver'),
    controllerManager: join(folder, 'kube-controller-manager'),
    kubectl: join(folder, 'kubectl'),
  };
}

if (import.meta.main) await buildFromCommandLine(controlPlaneBinaries());
