// Which kinds of Kubernetes count the changes of their objects: those that the real kube-apiserver serves are compared
// with the strategies that its build has compiled.
import { execFileSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, inject, it } from 'vitest';
import '../../tools/control-plane/global-setup.ts';
import { hasGeneration } from '../../src/generate/changing-kinds.ts';
import { createWire } from '../conformance/wire.ts';

const strategies = {
  'k8s.io/kubernetes': 'pkg/registry/*/*/strategy.go',
  'k8s.io/apiextensions-apiserver': 'pkg/registry/*/strategy.go',
  'k8s.io/kube-aggregator': 'pkg/registry/*/strategy.go',
};

/** Returns the kinds, in lower case, whose strategy sets a generation and raises it. */
function countedKinds(): ReadonlySet<string> {
  const cwd = path.join(import.meta.dirname, '../../tools/control-plane');
  const kinds = Object.entries(strategies).flatMap(([module, pattern]) => {
    const folder = execFileSync('go', ['list', '-m', '-f', '{{.Dir}}', module], { cwd, encoding: 'utf8' }).trim();
    const counts = (file: string) => {
      const text = readFileSync(path.join(folder, file), 'utf8');
      return /\.Generation = 1\b/.test(text) && /\.Generation(\+\+| = .*\.Generation \+ 1)/.test(text);
    };
    return globSync(pattern, { cwd: folder }).filter(counts);
  });
  return new Set(kinds.map((file) => path.basename(path.dirname(file))));
}

it('the kinds with a generation are those whose strategy raises it, of all that kube-apiserver serves', async () => {
  const { url, ca, adminToken } = inject('controlPlane');
  const wire = createWire({ url, ca, token: adminToken });
  // Those of CustomResourceDefinitions are `true`.
  const automanaged = 'kube-aggregator.kubernetes.io/automanaged=onstart';
  const services = await wire.get('/apis/apiregistration.k8s.io/v1/apiservices', { labelSelector: automanaged });
  const { items }: { items: { spec: { group?: string; version: string } }[] } = JSON.parse(services.text);
  const counted = countedKinds();
  const served: { readonly kind: string; readonly expected: boolean; readonly found: boolean }[] = [];
  for (const { group = '', version } of items.map(({ spec }) => spec)) {
    const { text } = await wire.get(group === '' ? `/api/${version}` : `/apis/${group}/${version}`);
    const { resources }: { resources: { name: string; kind: string; verbs: string[] }[] } = JSON.parse(text);
    for (const { kind } of resources.filter((one) => !one.name.includes('/') && one.verbs.includes('watch')))
      served.push({ kind, expected: counted.has(kind.toLowerCase()), found: hasGeneration({ group, kind }) });
  }
  expect(served.filter(({ expected }) => expected).length).toBeGreaterThan(20);
  expect(served.filter(({ expected, found }) => expected !== found)).toEqual([]);
});
