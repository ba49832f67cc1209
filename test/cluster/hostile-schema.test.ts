// Only that the texts of a schema arrive at an API server, by kubectl apply -f, by kubectl apply -k and by the Helm chart.
// Each text is a property, its description and its default, a choice of an enum, and the name of a column.
import { execFile } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { promisify } from 'node:util';
import { chartFolder, writeChart } from '@outrigger/cli/commands/chart';
import { manifestFiles } from '@outrigger/cli/project/manifests';
import { beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { hostileTexts } from '../../packages/common/test/texts.ts';
import { type AnyCustomKind, defineKind } from '../../src/api/custom-kind.ts';
import { foo } from '../../src/controllers/foo.ts';
import { crdOf } from '../../src/generate/crd/crd.ts';
import { helmBinaries } from '../../tools/helm/build.ts';
import { useFolder } from '../support/folder.ts';
import { writeFiles } from '../support/sample-manifests.ts';
import { usePlane } from './plane.ts';

const run = promisify(execFile);
const timeout = 400_000;
const folder = useFolder({ shared: true });
const { plane, clientOf } = await usePlane();
let helm: string;
beforeAll(async () => {
  ({ helm } = await helmBinaries());
  for (const name of ['no', 'on']) await inFolder(plane.kubectlPath, 'create', 'namespace', name);
}, timeout);

/** Without those that generate refuses: names of members of every object, and what no file brings into a cluster. */
const names = hostileTexts.filter((text) => text !== '' && !(text in {}) && !/[\x7f-\x9f\uffff]|^<<$/.test(text));
/** A kind with every text. */
const kindIn = (group: string): AnyCustomKind =>
  defineKind({
    group,
    version: 'v1',
    kind: 'Hostile',
    conditions: [],
    spec: z.object({
      ...Object.fromEntries(names.map((text) => [text, z.string().default(text).describe(text)])),
      choice: z
        .enum(names)
        .default(names[0] ?? '')
        .describe('no'),
    }),
    status: z.object(Object.fromEntries(names.map((text) => [text, z.enum(['on', text]).describe(text)]))),
    columns: Object.fromEntries(names.map((text) => [text, { path: '.spec.choice' }])),
  });

async function inFolder(program: string, ...args: readonly string[]): Promise<string> {
  const env = { PATH: process.env.PATH, HOME: folder.path, KUBECONFIG: plane.kubeconfig() };
  return (await run(program, [...args], { cwd: folder.path, env, maxBuffer: 2 ** 26 })).stdout;
}

const generated = 'dist/kubernetes';
/** How the generated files of a project get into a cluster, in this order: Helm wants to create its objects. */
const ways: Readonly<Record<string, () => Promise<unknown>>> = {
  'the chart': async () => {
    await writeChart(folder.path, { name: 'on', version: '1.0.0' });
    await inFolder(helm, 'install', 'hostile', chartFolder, '--set', 'image=a@sha256:b', '--namespace', 'kube-system');
  },
  'kubectl apply -f': async () => {
    await rm(folder.at(`${generated}/kustomization.yaml`));
    await rm(folder.at(`${generated}/watch-list.json`));
    await inFolder(plane.kubectlPath, 'apply', '-f', generated);
  },
  'kubectl apply --server-side -k': async () =>
    await inFolder(plane.kubectlPath, 'apply', '--server-side', '--force-conflicts', '-k', generated),
};

describe('K6: a schema of more than 60 hostile texts', () => {
  it.each(Object.keys(ways))('the CRD in the cluster is the schema after %s', { timeout }, async (way) => {
    const group = `${way.replaceAll(/\W+/g, '-')}.example.net`;
    const kind = kindIn(group);
    expect(names.length).toBeGreaterThan(60);
    await rm(folder.at(generated), { recursive: true, force: true });
    const input = { registry: [foo], crdsOnly: [kind], project: 'outrigger', namespaces: ['no', 'on'] };
    await writeFiles(folder.at(generated), await manifestFiles(input));
    await ways[way]?.();
    const path = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${kind.plural}.${group}`;
    const { body } = await clientOf().request({ method: 'GET', path });
    const expected = crdOf(kind, { controlled: false });
    const spec = z.object({ spec: z.object({ versions: z.tuple([z.looseObject({})]) }) });
    const [{ schema, additionalPrinterColumns }] = spec.parse(body).spec.versions;
    const [wanted] = spec.parse(expected).spec.versions;
    expect({ schema, additionalPrinterColumns }).toEqual({
      schema: wanted.schema,
      additionalPrinterColumns: wanted.additionalPrinterColumns,
    });
    for (const name of ['no', 'on'])
      expect(await inFolder(plane.kubectlPath, 'get', 'roles', '--namespace', name, '-o', 'name')).toContain(
        'outrigger',
      );
  });
});
