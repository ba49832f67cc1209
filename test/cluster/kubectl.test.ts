// kubectl, built from the same release as the control plane, against both servers: what it does on the real one it must do on
// ours. Excluded: what a person rarely does to a custom resource (rollout, exec, auth), and the wire, which is conformance's.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, inject } from 'vitest';
import { startApiServer } from '../../src/local/api-server/server.ts';
import '../control-plane/global-setup.ts';
import { kubectlCases } from './kubectl-cases.ts';

const { kubectlPath, kubeconfig } = inject('controlPlane');

const folder = await mkdtemp(join(tmpdir(), 'outrigger-kubectl-'));
const server = await startApiServer();
afterAll(async () => {
  await server.close();
  await rm(folder, { recursive: true });
});
const embeddedKubeconfig = join(folder, 'kubeconfig');
await writeFile(embeddedKubeconfig, server.kubeconfig());

describe('kubectl and the real API server', () => kubectlCases({ kubectlPath, kubeconfig }));
describe('kubectl and the in-memory API server', () => kubectlCases({ kubectlPath, kubeconfig: embeddedKubeconfig }));
