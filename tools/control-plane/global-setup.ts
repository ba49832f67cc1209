// Starts two control planes for a whole vitest run and provides their addresses to every test file: one with
// kube-controller-manager, and one without, where only tests write. Files use namespaces and
// API groups of their own; a test that interrupts the API server, or needs users or flags, starts its own control
// plane.
import type { TestProject } from 'vitest/node';
import type { ControlPlane } from './control-plane.ts';
import { startControlPlane } from './start.ts';

/** The values of `inject('controlPlane')` and `inject('bareControlPlane')`. They are plain, because they cross a process boundary. */
export type SharedControlPlane = {
  readonly url: string;
  readonly ca: string;
  readonly adminToken: string;
  /** The path of the admin's kubeconfig. */
  readonly kubeconfig: string;
  readonly kubectlPath: string;
};

declare module 'vitest' {
  interface ProvidedContext {
    controlPlane: SharedControlPlane;
    bareControlPlane: SharedControlPlane;
  }
}

/** Vitest's global setup; it returns its teardown. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const [full, bare] = await Promise.all([startControlPlane({ controllerManager: true }), startControlPlane()]);
  project.provide('controlPlane', shared(full));
  project.provide('bareControlPlane', shared(bare));
  return async () => {
    await Promise.all([full.stop(), bare.stop()]);
  };
}

function shared({ url, ca, adminToken, kubeconfig, kubectlPath }: ControlPlane): SharedControlPlane {
  return { url, ca, adminToken, kubeconfig: kubeconfig(), kubectlPath };
}
