// kubectl, built from the same release as the control plane, on both servers: it must behave on ours as on the real
// one. Excluded: commands that are rare for custom resources (rollout, exec, auth), and the wire format (conformance).
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, inject } from 'vitest';
import { startApiServer } from '../../src/apiserver/server.ts';
import '../../tools/control-plane/global-setup.ts';
import { kubectlBuiltinCases } from './kubectl-builtin-cases.ts';
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

const targets = [
  ['the real API server', { kubectlPath, kubeconfig }],
  ['the in-memory API server', { kubectlPath, kubeconfig: embeddedKubeconfig }],
] as const;
for (const [server, target] of targets) {
  describe(`kubectl and ${server}`, () => kubectlCases(target));
  describe(`kubectl, kinds of Kubernetes' own and ${server}`, () => kubectlBuiltinCases(target));
}
