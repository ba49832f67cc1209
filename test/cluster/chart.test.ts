// Only the Helm chart that `outrigger build --chart` writes: it has the objects of the kustomization, an API server accepts
// them, its values arrive, and an uninstallation keeps the kinds with the objects of users. What the manifests mean is
// tested in watcher-deployment.test.ts.
import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { chartFolder, writeChart } from '@outrigger/cli/commands/chart';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import * as z from 'zod';
import type { ControlPlane } from '../../tools/control-plane/control-plane.ts';
import { startControlPlane } from '../../tools/control-plane/start.ts';
import { helmBinaries } from '../../tools/helm/build.ts';
import { useFolder } from '../support/folder.ts';
import { sampleBase, writeFiles } from '../support/sample-manifests.ts';

const run = promisify(execFile);
const timeout = 400_000;
const manifests = 'dist/kubernetes';
const image = `registry.example.com/outrigger-watcher@sha256:${'0'.repeat(64)}`;
const settings = { CLUSTER: '', AWS_REGION: '', QUEUE_URL_PREFIX: '' };
const text = z.string();
const objectShape = z.looseObject({
  kind: text,
  metadata: z.looseObject({ name: text, annotations: z.record(text, text).optional() }),
});

const folder = useFolder({ shared: true });
let helm: string;
let plane: ControlPlane;
beforeAll(async () => {
  ({ helm } = await helmBinaries());
  plane = await startControlPlane();
  await writeFiles(folder.at(manifests), await sampleBase({ image, settings }));
  await writeChart(folder.path, { name: 'outrigger-watcher', version: '1.2.3' });
}, timeout);
afterAll(async () => await plane?.stop(), timeout);

const inFolder = async (program: string, ...args: readonly string[]) => {
  const env = { PATH: process.env.PATH, HOME: folder.path, KUBECONFIG: plane.kubeconfig() };
  const { stdout } = await run(program, [...args], { cwd: folder.path, env, maxBuffer: 2 ** 26 });
  return stdout;
};
const kubectl = async (...args: readonly string[]) => await inFolder(plane.kubectlPath, ...args);

/** The objects by kind and name, without what is meant to differ: the hash in a name, and what Helm reads. */
function objectsOf(rendered: string): Readonly<Record<string, unknown>> {
  const documents = parseAllDocuments(rendered).map((document): unknown => document.toJS());
  const objects = documents.filter((one) => one !== null).map((one) => objectShape.parse(one));
  return Object.fromEntries(
    objects.map((object) => {
      const name = object.metadata.name.replace(/-[0-9a-z]{10}$/, '');
      return [`${object.kind} ${name}`, parse(JSON.stringify(object, withoutDifferences))];
    }),
  );
}

function withoutDifferences(key: string, value: unknown): unknown {
  if (key === 'helm.sh/resource-policy' || key === 'checksum/settings') return undefined;
  if (key === 'imagePullSecrets' && JSON.stringify(value) === '[]') return undefined;
  if (key === 'annotations' && JSON.stringify(value, withoutDifferences) === '{}') return undefined;
  if (key === 'name' && typeof value === 'string') return value.replace(/^(outrigger-watcher)-[0-9a-z]{10}$/, '$1');
  return value;
}

describe('the chart', () => {
  it('the chart has the objects of the kustomization', { timeout }, async () => {
    const rendered = await inFolder(helm, 'template', 'outrigger-watcher', chartFolder, '--set', `image=${image}`);
    const expected = objectsOf(await kubectl('kustomize', manifests));
    expect(Object.keys(expected).length).toBeGreaterThan(15);
    expect(objectsOf(rendered)).toEqual(expected);
  });

  it('the chart needs an image', { timeout }, async () => {
    await expect(inFolder(helm, 'template', 'outrigger-watcher', chartFolder)).rejects.toThrow(/image: the repository/);
  });

  it.each(['settings.CLUSTERR', 'replica'])('Helm refuses the value %s by its name', { timeout }, async (name) => {
    const given = ['--set', `image=${image}`, '--set', `${name}=a`];
    const rendering = inFolder(helm, 'template', 'outrigger-watcher', chartFolder, ...given);
    await expect(rendering).rejects.toThrow(name.replace('settings.', ''));
  });

  it(
    'the chart installs with its values, and keeps kinds and objects when it is uninstalled',
    { timeout },
    async () => {
      const values = folder.at('values.json');
      const annotations = { 'eks.amazonaws.com/role-arn': 'arn:aws:iam::123456789012:role/watcher' };
      const settings = { CLUSTER: 'prod-1', RATE_LIMIT_PER_SECOND: 20 };
      const imagePullSecrets = [{ name: 'registry' }];
      const given = { image, imagePullSecrets, replicas: 1, settings, serviceAccount: { annotations } };
      await folder.write('values.json', JSON.stringify(given));
      const chart = ['outrigger-watcher', chartFolder, '--namespace', 'kube-system'];
      await inFolder(helm, 'upgrade', '--install', ...chart, '--values', values);
      const get = async (...argv: readonly string[]) =>
        (await kubectl('--namespace', 'outrigger-system', 'get', ...argv)).trim();
      const watcher = 'deployment/outrigger-watcher';
      expect(await get(watcher, '-o', 'jsonpath={.spec.replicas} {.spec.template.spec.containers[0].image}')).toBe(
        `1 ${image}`,
      );
      const before = await get(watcher, '-o', 'jsonpath={.spec.template}');
      expect(JSON.parse(before)).toMatchObject({ spec: { imagePullSecrets } });
      expect(JSON.parse(await get('configmap/outrigger-watcher', '-o', 'jsonpath={.data}'))).toMatchObject({
        CLUSTER: 'prod-1',
        RATE_LIMIT_PER_SECOND: '20',
      });
      expect(await get('serviceaccount/outrigger-watcher', '-o', 'jsonpath={.metadata.annotations}')).toContain(
        'role/watcher',
      );

      await inFolder(helm, 'upgrade', ...chart, '--values', values, '--set', 'settings.CLUSTER=prod-2');
      expect(await get(watcher, '-o', 'jsonpath={.spec.template}')).not.toBe(before);

      await kubectl('apply', '-f', path.resolve('infra/kubernetes/samples/water-tanks.yaml'));
      await inFolder(helm, 'uninstall', 'outrigger-watcher', '--namespace', 'kube-system');
      expect(await get(watcher, '--ignore-not-found', '-o', 'name')).toBe('');
      expect(await kubectl('get', 'watertanks', '-o', 'name')).toContain('north');
    },
  );
});
