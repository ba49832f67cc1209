// Builds the real control plane of the cluster tests, once per machine: etcd, kube-apiserver, kube-controller-manager and kubectl,
// from the Go modules that go.mod here pins. Run it by hand with `node test/control-plane/build.ts`; `npm run test:cluster` does so
// first. Cold it takes about five minutes and 4 GB of Go caches, seconds when Go's caches are warm, and nothing when it was done.
import { join } from 'node:path';
import { buildFromCommandLine, goTools } from '../support/go-tools.ts';

/** The programs of a control plane, as absolute paths. */
export interface ControlPlaneBinaries {
  readonly etcd: string;
  readonly apiServer: string;
  readonly controllerManager: string;
  readonly kubectl: string;
}

/** What the real control plane is built from. */
export const KUBERNETES_VERSION = { major: '1', minor: '36', git: 'v1.36.3' };

// Without these flags the programs call themselves v0.0.0, and clients that ask for the version believe it.
const VERSION_PACKAGE = 'k8s.io/component-base/version';
const LINKER_FLAGS = [
  '-s -w',
  `-X ${VERSION_PACKAGE}.gitVersion=${KUBERNETES_VERSION.git}`,
  `-X ${VERSION_PACKAGE}.gitMajor=${KUBERNETES_VERSION.major}`,
  `-X ${VERSION_PACKAGE}.gitMinor=${KUBERNETES_VERSION.minor}`,
].join(' ');

/** Returns the control plane's programs, building them first where this machine has not done so. Progress goes to stderr. */
export async function controlPlaneBinaries(): Promise<ControlPlaneBinaries> {
  const folder = await goTools({
    module: import.meta.dirname,
    name: 'control-plane',
    announcement: `Kubernetes ${KUBERNETES_VERSION.git} and etcd for the cluster tests (once; about five minutes when cold)`,
    programs: ['server', 'kube-apiserver', 'kube-controller-manager', 'kubectl'],
    flags: ['-trimpath', '-buildvcs=false', '-ldflags', LINKER_FLAGS],
  });
  return {
    etcd: join(folder, 'server'),
    apiServer: join(folder, 'kube-apiserver'),
    controllerManager: join(folder, 'kube-controller-manager'),
    kubectl: join(folder, 'kubectl'),
  };
}

if (import.meta.main) await buildFromCommandLine(controlPlaneBinaries());
