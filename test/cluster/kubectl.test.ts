// kubectl, built from the same release as the control plane, on both servers: it must behave on ours, the packed package
// in an empty folder, as on the real one. Excluded: commands that are rare for custom resources (rollout, exec, auth), and the wire format (conformance).
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import '../../tools/control-plane/global-setup.ts';
import { createKubectl } from './kubectl.ts';
import { kubectlCases } from './kubectl-cases.ts';
import { startPackedApiServer } from './packed-api-server.ts';

const { kubectlPath, kubeconfig } = inject('controlPlane');

const folder = await mkdtemp(join(tmpdir(), 'outrigger-kubectl-'));
const embeddedKubeconfig = join(folder, 'kubeconfig');
const server = await startPackedApiServer(folder, embeddedKubeconfig);
afterAll(async () => {
  server.kill();
  await rm(folder, { recursive: true });
});

const targets = [
  ['the real API server', { kubectlPath, kubeconfig }],
  ['the in-memory API server', { kubectlPath, kubeconfig: embeddedKubeconfig }],
] as const;
for (const [server, target] of targets) {
  describe(`kubectl and ${server}`, () => kubectlCases(target));
  describe(`kubectl, kinds of Kubernetes' own and ${server}`, async () => {
    const namespace = `kubectl-${crypto.randomUUID().slice(0, 8)}`;
    const kubectl = await createKubectl(target.kubectlPath, target.kubeconfig, namespace);
    const { output } = kubectl;
    beforeAll(() => output(['create', 'namespace', namespace]));
    afterAll(() => kubectl.close());

    it('kubectl creates and prints config maps, secrets and namespaces', async () => {
      await output(['create', 'configmap', 'recipe', '--from-literal=steps=3']);
      await output(['create', 'secret', 'generic', 'blend', '--from-literal=leaf=assam']);
      expect(await output(['get', 'configmap', 'recipe', '-o', 'jsonpath={.data.steps}'])).toBe('3');
      expect(await output(['get', 'secret', 'blend', '-o', 'jsonpath={.data.leaf}'])).toBe('YXNzYW0=');
      expect(await output(['get', 'configmap', 'recipe', '--no-headers'])).toMatch(/^recipe +1 +\d+s/);
      expect(await output(['get', 'namespace', namespace, '--no-headers'])).toMatch(
        new RegExp(`^${namespace} +Active +\\d+`),
      );
      expect(
        await output(['apply', '-f', '-'], {
          manifest: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'recipe' }, data: { steps: '4' } },
        }),
      ).toBe('configmap/recipe configured\n');
    });

    it('kubectl creates a deployment by name, scales and exposes it', async () => {
      await output(['create', 'deployment', 'stove', '--image=example.org/stove:1', '--replicas=0', '--port=80']);
      const image = '-o=jsonpath={.spec.template.spec.containers[0].image}';
      expect(await output(['get', 'deployment', 'stove', image])).toBe('example.org/stove:1');
      await output(['set', 'image', 'deployment/stove', 'stove=example.org/stove:2']);
      expect(await output(['get', 'deployment', 'stove', image])).toBe('example.org/stove:2');
      await output(['expose', 'deployment', 'stove']);
      expect(await output(['get', 'service', 'stove', '-o=jsonpath={.spec.ports[0].port}'])).toBe('80');
      await output(['delete', 'deployment,service', 'stove']);
    });

    it("kubectl version reads the server's version, and get --raw returns a path unchanged", async () => {
      expect(await output(['version'])).toMatch(/Server Version: v1\.36\./);
      expect(await output(['get', '--raw', '/readyz'])).toBe('ok');
    });
  });
}
