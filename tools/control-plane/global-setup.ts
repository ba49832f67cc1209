// Starts one control plane for a whole vitest run and provides its address to every test file. Files use namespaces and
// API groups of their own; a test that interrupts the API server, or needs users or flags, starts its own control
// plane.
import type { TestProject } from 'vitest/node';
import { startControlPlane } from './start.ts';

/** The values of `inject('controlPlane')`. They are plain, because they cross a process boundary. */
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
  }
}

/** Vitest's global setup; it returns its teardown. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const { url, ca, adminToken, kubeconfig, kubectlPath, stop } = await startControlPlane({ controllerManager: true });
  project.provide('controlPlane', { url, ca, adminToken, kubeconfig: kubeconfig(), kubectlPath });
  return stop;
}
