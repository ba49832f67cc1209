// outrigger import crd on the CRDs of other projects: cert-manager, Argo CD and Gateway API, as their Go modules have
// them. Every module that it writes compiles in strict mode, and a Certificate of cert-manager has the battery.
import { execFile } from 'node:child_process';
import { globSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import * as z from 'zod';
import { foreignKind } from '../../src/api/foreign-kind.ts';
import { type KubeObject, parseObject } from '../../src/kube/client/object.ts';
import { ConfigMap } from '../../src/kubernetes.ts';
import { battery } from '../../src/testing.ts';
import { runIn } from '../cli/command-result.ts';

const run = promisify(execFile);

const modules = [
  { module: 'github.com/cert-manager/cert-manager@v1.18.2', files: 'deploy/crds/crd-*.yaml', kinds: 6 },
  { module: 'github.com/argoproj/argo-cd/v3@v3.0.6', files: 'manifests/crds/*-crd.yaml', kinds: 3 },
  { module: 'sigs.k8s.io/gateway-api@v1.3.0', files: 'config/crd/standard/*_*.yaml', kinds: 5 },
] as const;

let folder: string;
beforeAll(async () => {
  await mkdir('.cache', { recursive: true });
  folder = await mkdtemp(path.resolve('.cache', 'imported-crds-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** The paths of the CRDs of a Go module, which is downloaded outside of the repository, whose modules are others. */
async function crdsOf({ module, files }: (typeof modules)[number]): Promise<readonly string[]> {
  const { stdout } = await run('go', ['mod', 'download', '-json', module], { cwd: folder });
  const { Dir } = z.object({ Dir: z.string() }).parse(JSON.parse(stdout));
  return globSync(files, { cwd: Dir }).map((file) => path.join(Dir, file));
}

it('the modules of cert-manager, Argo CD and Gateway API compile in strict mode, and have a zod schema', async () => {
  const written: string[] = [];
  for (const one of modules) {
    const out = path.join(folder, one.module.replaceAll(/\W/g, '-'));
    for (const file of await crdsOf(one))
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
  ...{ group: 'cert-manager.io', version: 'v1', kind: 'Certificate' },
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
  ...{ apiVersion: 'cert-manager.io/v1', kind: 'Certificate', metadata: { name: 'web' } },
  spec: { secretName: 'web', dnsNames: ['a.example.com'], issuerRef: { name: 'ca' } },
};

describe('a controller on cert-manager’s Certificate', () => {
  const crds: KubeObject[] = [];
  beforeAll(async () => {
    const file = (await crdsOf(modules[0])).find((one) => one.endsWith('crd-certificates.yaml')) ?? '';
    // The file is a template of Helm: the labels have no values yet.
    const { metadata, ...definition } = parseObject(parse(await readFile(file, 'utf8')));
    crds.push({ ...definition, metadata: { name: metadata.name } });
  }, 300_000);
  for (const { name, run } of battery(listed, { samples: [sample], crds })) it(name, run);
});
