// The examples that need no kubelet, in one run on a real kube-apiserver with kube-controller-manager and cert-manager's
// published CRD. The blue-green deployment waits for pods, so it is in test/journey/examples.test.ts alone.
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { runProcess } from '../cli/command-result.ts';
import { temporaryFolder, useFolder } from '../support/folder.ts';
import { certManager, crdOfModule } from '../support/module-crds.ts';
import { createKubectl, type Kubectl } from './kubectl.ts';
import { usePlane } from './plane.ts';

const examples = path.resolve(import.meta.dirname, '../../examples');
const { plane } = await usePlane({
  controllerManager: true,
  applies: [await crdOfModule(certManager, 'crd-certificates.yaml')],
});
const folder = useFolder();
const inDefault = await createKubectl(plane.kubectlPath, plane.kubeconfig(), 'default');
const inShop = await createKubectl(plane.kubectlPath, plane.kubeconfig(), 'shop');
afterAll(() => {
  inDefault.close();
  inShop.close();
});

it('the examples are Ready, and their children are there', { timeout: 400_000 }, async () => {
  for (const file of globSync('samples/*.yaml', { cwd: examples })) {
    const documents = readFileSync(path.join(examples, file), 'utf8').split('\n---\n');
    const kept = documents.filter((one) => !/^kind: (CustomResourceDefinition|BlueGreenDeployment)$/m.test(one));
    if (kept.length > 0) await folder.write(path.basename(file), kept.join('\n---\n'));
  }
  const dev = [process.execPath, path.resolve(examples, '../packages/cli/src/commands/main.ts'), 'dev'];
  const flags = ['--apply', folder.path, '--until-ready', '--timeout-seconds', '200', '--folder', temporaryFolder()];
  const argv = ['test/outside/main.ts', ...dev, '--kubeconfig', plane.kubeconfig(), ...flags];
  const { out, err, status } = await runProcess(argv, examples);
  expect(status, out + err).toBe(0);
  await inDefault.output(['wait', '--for=condition=Ready', 'certificate/shop', '--timeout=5s']);
  await inShop.output(['wait', '--for=condition=team.example.com/Provisioned', 'namespace/shop', '--timeout=5s']);
  const names = async ({ output }: Kubectl, kinds: string) =>
    (await output(['get', kinds, '--output', 'name'])).split('\n');
  expect(await names(inDefault, 'services,secrets,persistentvolumeclaims')).toEqual(
    expect.arrayContaining([
      ...['service/nginx-0', 'service/nginx-1', 'secret/shop-tls', 'secret/orders-postgres'],
      'persistentvolumeclaim/scratch',
    ]),
  );
  expect(await names(inShop, 'secrets,resourcequotas,networkpolicies,rolebindings')).toEqual(
    expect.arrayContaining(['secret/registry', 'resourcequota/team', 'rolebinding.rbac.authorization.k8s.io/team']),
  );
});
