// Starts one control plane for a whole vitest run and tells every test file where it is. Files keep apart by namespaces and
// API groups of their own; a test that must break the API server, or needs users or flags, starts its own plane.
import type { TestProject } from 'vitest/node';
import { startControlPlane } from './start.ts';

/** What a test file gets from `inject('controlPlane')`. Plain values: they cross a process boundary. */
export interface SharedControlPlane {
  readonly url: string;
  readonly ca: string;
  readonly adminToken: string;
  /** Path of the admin's kubeconfig. */
  readonly kubeconfig: string;
  readonly kubectlPath: string;
}

declare module 'vitest' {
  interface ProvidedContext {
    controlPlane: SharedControlPlane;
  }
}

/** Vitest's global setup; it returns its own teardown. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const { url, ca, adminToken, kubeconfig, kubectlPath, stop } = await startControlPlane({ controllerManager: true });
  project.provide('controlPlane', { url, ca, adminToken, kubeconfig: kubeconfig(), kubectlPath });
  return stop;
}
