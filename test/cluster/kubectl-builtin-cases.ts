// kubectl commands on built-in kinds, against any server.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createKubectl, type Kubectl } from './kubectl.ts';
import type { KubectlTarget } from './kubectl-cases.ts';

/** Declares the cases, which share one namespace. */
export async function kubectlBuiltinCases({ kubectlPath, kubeconfig }: KubectlTarget): Promise<void> {
  const namespace = `kubectl-${crypto.randomUUID().slice(0, 8)}`;
  const kubectl: Kubectl = await createKubectl(kubectlPath, kubeconfig, namespace);
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
}
