// A project made from the packed package, as its author tests it: a plain vitest test with the in-memory API server, the
// battery of the scaffolded controller, and a controller on a kind that is not the author's, written from docs/write.
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';
import { newProject } from '../../tools/troubleshooting/project.ts';
import { runCommand, runProgram, succeed } from '../../tools/troubleshooting/run-dev.ts';

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

/** On the Certificate that `outrigger import crd` wrote. What is on built-in kinds is test/testing/battery-samples.test.ts. */
const foreign = `import { ok } from 'outrigger';
import { ConfigMap } from 'outrigger/kubernetes';
import { Certificate } from '../kinds/certificate.ts';

export const names = Certificate.statusSlice({ conditions: ['team.example.com/Listed'] }).controller('names', {
  owns: [ConfigMap],
  async reconcile({ metadata: { name }, spec }, { apply }) {
    await apply(ConfigMap, { metadata: { name }, data: { names: (spec?.dnsNames ?? []).join(' ') } });
    return { conditions: { 'team.example.com/Listed': ok('Listed') } };
  },
});
`;
const foreignTest = `import { battery, startSystem } from 'outrigger/testing';
import { describe, expect, it } from 'vitest';
import { names } from '../../src/controllers/names.ts';

const certificate = { apiVersion: 'cert.example.com/v1', kind: 'Certificate', metadata: { name: 'web' },
  spec: { dnsNames: ['a.example.com'] },
};
const crds = ['crd.yaml'];

describe('names', () => {
  for (const { name, run } of battery(names, { samples: [certificate], crds })) it(name, run);
});

it('it settles in a system', async () => {
  await using system = await startSystem({ controllers: [names], crds });
  await system.cluster.apply(certificate);
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

export const registry: readonly ControllerDefinition[] = [note, names];
`;

it(
  'an author tests with the packed package alone: a plain server, the battery green, and red with what to change',
  { timeout: 400_000 },
  async () => {
    const project = await newProject('notes');
    onTestFinished(project.remove);
    const write = async (file: string, text: string) => await writeFile(path.join(project.folder, file), text);
    const vitest = async () => await runProgram('npx', ['vitest', 'run'], { cwd: project.folder });
    await succeed(project, 'new', 'controller', 'Note', '--group', 'notes.example.com');
    await write('crd.yaml', crd);
    const imported = await runCommand(project, 'import', 'crd', 'crd.yaml');
    expect(imported.status, imported.lines.join('\n')).toBe(0);
    await write('src/controllers/names.ts', foreign);
    await write('src/controllers/registry.ts', registry);
    await write('test/plain.test.ts', plain);
    await write('test/controllers/foreign.test.ts', foreignTest);
    const checked = await runProgram('npm', ['run', 'check'], { cwd: project.folder });
    expect(checked.status, checked.lines.join('\n')).toBe(0);

    const green = await vitest();
    expect(green.status, green.lines.join('\n')).toBe(0);
    expect(green.lines.join('\n')).toMatch(/started in \d+ ms/);
    // Of the scaffolded controller and the other one, each with every check.
    const [, passed = '0'] = /Tests +(\d+) passed/.exec(stripVTControlCharacters(green.lines.join('\n'))) ?? [];
    expect(Number(passed)).toBeGreaterThan(2 * 14);

    const file = path.join(project.folder, 'src/controllers/note.ts');
    const right = await readFile(file, 'utf8');
    const wrong = right.replace('data: { text: repeated }', 'data: { text: repeated, at: String(performance.now()) }');
    expect(wrong).not.toBe(right);
    await writeFile(file, wrong);
    const red = await vitest();
    expect(red.status).toBe(1);
    expect(red.lines.join('\n')).toContain(
      'What to change: leave times, random values and counters out of children and status',
    );
  },
);
