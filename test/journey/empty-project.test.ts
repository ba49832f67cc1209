// A project made from the packed package, as its author tests it: a plain vitest test with the in-memory API server, the
// battery of the scaffolded controller, and controllers on kinds that are not the author's, written from docs/authoring.md.
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';
import { newProject } from '../../tools/troubleshooting/project.ts';
import { runCommand, runProgram } from '../../tools/troubleshooting/run-dev.ts';

const plain = `import { ConfigMap } from 'outrigger/kubernetes';
import { startApiServer } from 'outrigger/testing';
import { expect, it } from 'vitest';

it('a server of the test serves what another client applies', async () => {
  const started = performance.now();
  await using server = await startApiServer();
  console.log(\`started in \${Math.round(performance.now() - started)} ms\`);
  await server.apply({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'one' }, data: { a: 'b' } });
  expect((await server.list(ConfigMap)).map(({ data }) => data)).toContainEqual({ a: 'b' });
});
`;

/** On Namespaces, on Deployments, and on the Certificate that \`outrigger import crd\` wrote. */
const foreign = {
  'tenant.ts': `import { Namespace, ResourceQuota } from 'outrigger/kubernetes';

export const tenant = Namespace.controller('tenant', {
  selector: { matchLabels: { tenant: 'true' } },
  owns: [ResourceQuota],
  async reconcile({ metadata: { name: namespace } }, { apply }) {
    await apply(ResourceQuota, { metadata: { namespace, name: 'tenant' }, spec: { hard: { pods: '50' } } });
  },
});
`,
  'size-label.ts': `import { Deployment } from 'outrigger/kubernetes';

export const sizeLabel = Deployment.controller('size-label', {
  sets: { labels: ['cost.example.com/size'] },
  async reconcile({ spec }, { setMetadata }) {
    await setMetadata({ labels: { 'cost.example.com/size': (spec?.replicas ?? 1) < 5 ? 'small' : 'large' } });
  },
});
`,
  'names.ts': `import { ok } from 'outrigger';
import { ConfigMap } from 'outrigger/kubernetes';
import { Certificate } from '../kinds/certificate.ts';

export const names = Certificate.statusSlice({ conditions: ['team.example.com/Listed'] }).controller('names', {
  owns: [ConfigMap],
  async reconcile({ metadata: { name }, spec }, { apply }) {
    await apply(ConfigMap, { metadata: { name }, data: { names: (spec?.dnsNames ?? []).join(' ') } });
    return { conditions: { 'team.example.com/Listed': ok('Listed') } };
  },
});
`,
};
const foreignTest = `import { battery, startSystem } from 'outrigger/testing';
import { describe, expect, it } from 'vitest';
import { names } from '../../src/controllers/names.ts';
import { sizeLabel } from '../../src/controllers/size-label.ts';
import { tenant } from '../../src/controllers/tenant.ts';

const blue = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'blue', labels: { tenant: 'true' } } };
const template = { metadata: { labels: { app: 'a' } }, spec: { containers: [{ name: 'a', image: 'a' }] } };
const spec = { replicas: 2, selector: { matchLabels: { app: 'a' } }, template };
const web = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web' }, spec };
const certificate = {
  ...{ apiVersion: 'cert.example.com/v1', kind: 'Certificate', metadata: { name: 'web' } },
  spec: { dnsNames: ['a.example.com'] },
};
const crds = ['crd.yaml'];

describe('tenant', () => {
  for (const { name, run } of battery(tenant, { samples: [blue] })) it(name, run);
});
describe('size-label', () => {
  for (const { name, run } of battery(sizeLabel, { samples: [web] })) it(name, run);
});
describe('names', () => {
  for (const { name, run } of battery(names, { samples: [certificate], crds })) it(name, run);
});

it('all three settle in one system', async () => {
  await using system = await startSystem({ controllers: [tenant, sizeLabel, names], crds });
  for (const object of [blue, web, certificate]) await system.cluster.apply(object);
  await system.settled();
  expect(new Set(system.reconciles.map(({ outcome }) => outcome))).toEqual(new Set(['done']));
});
`;
const crd = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: certificates.cert.example.com}
spec:
  group: cert.example.com
  scope: Namespaced
  names: {kind: Certificate, plural: certificates, singular: certificate, listKind: CertificateList}
  versions:
    - name: v1
      served: true
      storage: true
      subresources: {status: {}}
      schema:
        openAPIV3Schema:
          type: object
          properties:
            spec: {type: object, properties: {dnsNames: {type: array, items: {type: string}}}}
            status:
              type: object
              properties:
                conditions:
                  type: array
                  x-kubernetes-list-type: map
                  x-kubernetes-list-map-keys: [type]
                  items:
                    type: object
                    required: [type, status]
                    properties:
                      type: {type: string}
                      status: {type: string}
                      reason: {type: string}
                      message: {type: string}
                      lastTransitionTime: {type: string, format: date-time}
`;
const registry = `import type { ControllerDefinition } from 'outrigger';
import { names } from './names.ts';
import { note } from './note.ts';
import { sizeLabel } from './size-label.ts';
import { tenant } from './tenant.ts';

export const registry: readonly ControllerDefinition[] = [note, tenant, sizeLabel, names];
`;

it(
  'an author tests with the packed package alone: a plain server, the battery green, and red with what to change',
  { timeout: 400_000 },
  async () => {
    const project = await newProject('notes');
    onTestFinished(project.remove);
    const write = async (file: string, text: string) => await writeFile(path.join(project.folder, file), text);
    const vitest = async () => await runProgram('npx', ['vitest', 'run'], { cwd: project.folder });
    await runCommand(project, 'new', 'controller', 'Note', '--group', 'notes.example.com');
    await write('crd.yaml', crd);
    const imported = await runCommand(project, 'import', 'crd', 'crd.yaml');
    expect(imported.status, imported.lines.join('\n')).toBe(0);
    for (const [file, text] of Object.entries(foreign)) await write(`src/controllers/${file}`, text);
    await write('src/controllers/registry.ts', registry);
    await write('test/plain.test.ts', plain);
    await write('test/controllers/foreign.test.ts', foreignTest);
    for (const script of ['generate', 'check']) {
      const { lines, status } = await runProgram('npm', ['run', script], { cwd: project.folder });
      expect(status, lines.join('\n')).toBe(0);
    }

    const green = await vitest();
    expect(green.status, green.lines.join('\n')).toBe(0);
    expect(green.lines.join('\n')).toMatch(/started in \d+ ms/);
    // Of the scaffolded controller and the three others, each with every check.
    const [, passed = '0'] = /Tests +(\d+) passed/.exec(stripVTControlCharacters(green.lines.join('\n'))) ?? [];
    expect(Number(passed)).toBeGreaterThan(4 * 14);

    const file = path.join(project.folder, 'src/controllers/note.ts');
    const right = await readFile(file, 'utf8');
    const wrong = right.replace('data: { said }', 'data: { said, at: String(performance.now()) }');
    expect(wrong).not.toBe(right);
    await writeFile(file, wrong);
    const red = await vitest();
    expect(red.status).toBe(1);
    expect(red.lines.join('\n')).toContain(
      'What to change: leave times, random values and counters out of children and status',
    );
  },
);
