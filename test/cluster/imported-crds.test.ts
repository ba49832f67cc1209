// outrigger import crd on the CRDs of other projects: cert-manager, Argo CD and Gateway API, as their Go modules have
// them. Every module that it writes compiles in strict mode, and a Certificate of cert-manager has the battery.
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { foreignKind } from '../../src/api/foreign-kind.ts';
import type { KubeObject } from '../../src/kube/client/object.ts';
import { ConfigMap } from '../../src/kubernetes.ts';
import { battery } from '../../src/testing.ts';
import { runIn } from '../cli/command-result.ts';
import { certManager, crdFilesOf, crdOfModule, gatewayApi } from '../support/module-crds.ts';

const run = promisify(execFile);

const modules = [
  { ...certManager, kinds: 6 },
  { module: 'github.com/argoproj/argo-cd/v3@v3.0.6', files: 'manifests/crds/*-crd.yaml', kinds: 3 },
  { ...gatewayApi, kinds: 5 },
];

let folder: string;
beforeAll(async () => {
  await mkdir('.cache', { recursive: true });
  folder = await mkdtemp(path.resolve('.cache', 'imported-crds-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

it('the modules of cert-manager, Argo CD and Gateway API compile in strict mode, and have a zod schema', async () => {
  const written: string[] = [];
  for (const one of modules) {
    const out = path.join(folder, one.module.replaceAll(/\W/g, '-'));
    for (const file of await crdFilesOf(one))
      expect(await runIn(folder, ['import', 'crd', file, '--zod', '--out', out])).toMatchObject({ status: 0 });
    const names = (await readdir(out)).filter((name) => name.endsWith('.ts'));
    expect(names).toHaveLength(one.kinds);
    written.push(...names.map((name) => path.join(out, name)));
  }
  for (const file of written) {
    const text = await readFile(file, 'utf8');
    await writeFile(file, text.replace("'outrigger'", `'${path.resolve('src/outrigger.ts')}'`));
  }
  const config = { extends: path.resolve('tsconfig.json'), files: written, include: [] };
  await writeFile(path.join(folder, 'tsconfig.json'), JSON.stringify(config));
  await run(process.execPath, [path.resolve('node_modules/typescript/bin/tsc'), '-p', folder]);
  for (const file of written) {
    const exported: Readonly<Record<string, unknown>> = await import(file);
    expect(Object.keys(exported).join(), file).toMatch(/Schema\b/);
  }
}, 600_000);

type CertificateObject = {
  readonly metadata: { readonly name: string };
  readonly spec?: { readonly secretName: string; readonly dnsNames?: readonly string[] };
};
const Certificate = foreignKind<CertificateObject, 'Certificate'>({
  group: 'cert-manager.io',
  version: 'v1',
  kind: 'Certificate',
});
/** Lists the names of a Certificate in a ConfigMap, and reports it in a condition and a label. */
const listed = Certificate.statusSlice({ conditions: ['team.example.com/Listed'] }).controller('listed', {
  owns: [ConfigMap],
  sets: { labels: ['team.example.com/names'] },
  async reconcile({ metadata: { name }, spec }, { apply, setMetadata }) {
    const { dnsNames = [] } = spec ?? {};
    await apply(ConfigMap, { metadata: { name }, data: { names: dnsNames.join(' ') } });
    await setMetadata({ labels: { 'team.example.com/names': String(dnsNames.length) } });
    return { conditions: { 'team.example.com/Listed': { status: 'True', reason: 'Listed' } } };
  },
});
const sample = {
  apiVersion: 'cert-manager.io/v1',
  kind: 'Certificate',
  metadata: { name: 'web' },
  spec: { secretName: 'web', dnsNames: ['a.example.com'], issuerRef: { name: 'ca' } },
};

describe('a controller on cert-manager’s Certificate', () => {
  const crds: KubeObject[] = [];
  beforeAll(async () => {
    crds.push(await crdOfModule(certManager, 'crd-certificates.yaml'));
  }, 300_000);
  for (const { name, run } of battery(listed, { samples: [sample], crds })) it(name, run);
});
