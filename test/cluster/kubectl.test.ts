// kubectl, built from the same release as the control plane, against both servers: what it does on the real one it must do on
// ours. Excluded: what a person rarely does to a custom resource (rollout, exec, auth), and the wire, which is conformance's.
import { describe, inject } from 'vitest';
import '../control-plane/global-setup.ts';
import { kubectlCases } from './kubectl-cases.ts';

const { kubectlPath, kubeconfig } = inject('controlPlane');

describe('kubectl and the real API server', () => kubectlCases({ kubectlPath, kubeconfig }));
