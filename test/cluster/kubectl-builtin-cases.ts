// What a person does with kubectl to kinds of Kubernetes' own, against whatever server it is given.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createKubectl, type Kubectl } from './kubectl.ts';
import type { KubectlTarget } from './kubectl-cases.ts';

/** Declares the cases, which share one namespace. */
export async function kubectlBuiltinCases({ kubectlPath, kubeconfig }: KubectlTarget): Promise<void> {
  const namespace = `kubectl-${crypto.randomUUID().slice(0, 8)}`;
  const kubectl: Kubectl = await createKubectl(kubectlPath, kubeconfig, namespace);
  const { say } = kubectl;
  beforeAll(() => say(['create', 'namespace', namespace]));
  afterAll(() => kubectl.close());

  it('config maps, secrets and namespaces are made and printed as everywhere', async () => {
    await say(['create', 'configmap', 'recipe', '--from-literal=steps=3']);
    await say(['create', 'secret', 'generic', 'blend', '--from-literal=leaf=assam']);
    expect(await say(['get', 'configmap', 'recipe', '-o', 'jsonpath={.data.steps}'])).toBe('3');
    expect(await say(['get', 'secret', 'blend', '-o', 'jsonpath={.data.leaf}'])).toBe('YXNzYW0=');
    expect(await say(['get', 'configmap', 'recipe', '--no-headers'])).toMatch(/^recipe +1 +\d+s/);
    expect(await say(['get', 'namespace', namespace, '--no-headers'])).toMatch(
      new RegExp(`^${namespace} +Active +\\d+`),
    );
    expect(
      await say(['apply', '-f', '-'], {
        manifest: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'recipe' }, data: { steps: '4' } },
      }),
    ).toBe('configmap/recipe configured\n');
  });

  it('a deployment is made by name, scaled and exposed', async () => {
    await say(['create', 'deployment', 'stove', '--image=example.org/stove:1', '--replicas=0', '--port=80']);
    const image = '-o=jsonpath={.spec.template.spec.containers[0].image}';
    expect(await say(['get', 'deployment', 'stove', image])).toBe('example.org/stove:1');
    await say(['set', 'image', 'deployment/stove', 'stove=example.org/stove:2']);
    expect(await say(['get', 'deployment', 'stove', image])).toBe('example.org/stove:2');
    await say(['expose', 'deployment', 'stove']);
    expect(await say(['get', 'service', 'stove', '-o=jsonpath={.spec.ports[0].port}'])).toBe('80');
    await say(['delete', 'deployment,service', 'stove']);
  });

  it('version asks the server, and a raw path is read as it is', async () => {
    expect(await say(['version'])).toMatch(/Server Version: v1\.36\./);
    expect(await say(['get', '--raw', '/readyz'])).toBe('ok');
  });
}
