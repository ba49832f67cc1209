// outrigger import crd on the CRDs of other projects: cert-manager, Argo CD and Gateway API, as their Go modules have
// them. Every module that it writes compiles in strict mode, and a Certificate of cert-manager has the battery.
import { execFile } from 'node:child_process';
import { glob, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import * as z from 'zod';
import { foreignKind } from '../../src/api/foreign-kind.ts';
import { ConfigMap } from '../../src/kubernetes.ts';
import { battery } from '../../src/testing.ts';
import { runIn } from '../cli/command-result.ts';

const run = promisify(execFile);

const modules = [
  { module: 'github.com/cert-manager/cert-manager@v1.18.2', files: 'deploy/crds/crd-*.yaml', kinds: 6 },
  { module: 'github.com/argoproj/argo-cd/v3@v3.0.6', files: 'manifests/crds/*-crd.yaml', kinds: 3 },
  { module: 'sigs.k8s.io/gateway-api@v1.3.0', files: 'config/crd/standard/*_*.yaml', kinds: 5 },
];

let folder: string;
let crds: ReadonlyMap<string, readonly string[]>;
beforeAll(async () => {
  await mkdir('.cache', { recursive: true });
  folder = await mkdtemp(path.resolve('.cache', 'imported-crds-'));
  const found = new Map<string, readonly string[]>();
  for (const { module, files } of modules) {
    // Outside of the repository, whose modules are others.
    const { stdout } = await run('go', ['mod', 'download', '-json', module], { cwd: folder });
    const { Dir } = z.object({ Dir: z.string() }).parse(JSON.parse(stdout));
    const paths: string[] = [];
    for await (const file of glob(files, { cwd: Dir })) paths.push(path.join(Dir, file));
    found.set(module, paths.sort());
  }
  crds = found;
}, 600_000);
afterAll(() => rm(folder, { recursive: true, force: true }));

it.each(modules)('the modules of $module compile in strict mode, and have a zod schema', async ({ module, kinds }) => {
  const out = path.join(folder, module.replaceAll(/\W/g, '-'));
  for (const file of crds.get(module) ?? [])
    expect(await runIn(folder, ['import', 'crd', file, '--zod', '--out', out])).toMatchObject({ status: 0 });
  const written = (await readdir(out)).filter((name) => name.endsWith('.ts'));
  expect(written).toHaveLength(kinds);
  for (const name of written) {
    const text = await readFile(path.join(out, name), 'utf8');
    await writeFile(path.join(out, name), text.replace("'outrigger'", `'${path.resolve('src/outrigger.ts')}'`));
  }
  const config = { extends: path.resolve('tsconfig.json'), files: written, include: [] };
  await writeFile(path.join(out, 'tsconfig.json'), JSON.stringify(config));
  await run(process.execPath, [path.resolve('node_modules/typescript/bin/tsc'), '-p', out]);
  for (const name of written) {
    const exported: Readonly<Record<string, unknown>> = await import(path.join(out, name));
    expect(
      Object.keys(exported).some((one) => one.endsWith('Schema')),
      name,
    ).toBe(true);
  }
}, 300_000);

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
  // The CRD is read when a check runs: its module is downloaded by then.
  // Its file is a template of Helm: the labels have no values yet.
  const crd = async () => {
    const files = crds.get(modules[0]?.module ?? '') ?? [];
    const file = files.find((one) => one.endsWith('crd-certificates.yaml')) ?? '';
    const parsed = z.looseObject({ metadata: z.looseObject({}) }).parse(parse(await readFile(file, 'utf8')));
    return { ...parsed, metadata: { name: parsed.metadata.name } };
  };
  for (const { name } of battery(listed, { samples: [sample] }))
    it(name, async () => {
      const check = battery(listed, { samples: [sample], crds: [await crd()] }).find((one) => one.name === name);
      await check?.run();
    });
});
