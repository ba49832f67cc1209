// `outrigger manifests`: the files of a kustomize base, and what each option changes of them. test/cluster applies them.
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { readYamlDocuments } from '@outrigger/common/yaml/read';
import { expect, it } from 'vitest';
import { readWatcherSettings } from '../../src/settings.ts';
import { useFolder } from '../support/folder.ts';
import { expectUserError, runIn, runProcess } from './command-result.ts';

const source = path.resolve(import.meta.dirname, '../..');
const folder = useFolder();
const { at } = folder;
const digest = `sha256:${'0a1b2c3d'.repeat(8)}`;
const image = `registry.example.com/watcher@${digest}`;
const prefix = 'https://sqs.eu-west-1.amazonaws.com/123456789012/outrigger-prod-';

/** Writes the manifests of the samples to a folder, and returns that of a file. */
async function manifests(...argv: readonly string[]) {
  const result = await runIn(source, ['manifests', '--out', at('k8s'), ...argv]);
  return { result, read: async (file: string) => readYamlDocuments(await folder.read(`k8s/${file}`)) };
}

it('manifests writes one base, with the names of all its files', async () => {
  const { result, read } = await manifests();
  expect(result).toMatchObject({ status: 0, err: '', out: expect.stringContaining('kubectl apply --server-side -k') });
  const files = (await readdir(at('k8s'))).filter((name) => name.endsWith('.yaml') && name !== 'kustomization.yaml');
  expect(await read('kustomization.yaml')).toMatchObject([{ resources: expect.arrayContaining(files) }]);
  expect(files).toEqual(expect.arrayContaining(['deployment.yaml', 'network-policy.yaml', 'rbac.yaml']));
  expect(files).toContain('crd-foos.samples.example.com.yaml');
});

// Control T85.
it('manifests names the image by digest, and the settings of the watcher, which starts with them', async () => {
  const settings = ['--cluster', 'eu-1', '--set', `QUEUE_URL_PREFIX=${prefix}`, '--set', 'AWS_REGION=eu-west-1'];
  const { read } = await manifests('--image', image, ...settings);
  const literals = ['CLUSTER=eu-1', `QUEUE_URL_PREFIX=${prefix}`, 'AWS_REGION=eu-west-1'];
  expect(await read('kustomization.yaml')).toMatchObject([
    {
      images: [{ name: 'outrigger-watcher', newName: 'registry.example.com/watcher', digest }],
      configMapGenerator: [{ name: 'outrigger-watcher', namespace: 'outrigger-system', literals }],
    },
  ]);
  const pairs = literals.map((one) => [one.slice(0, one.indexOf('=')), one.slice(one.indexOf('=') + 1)]);
  const { CLUSTER, QUEUE_URL_PREFIX } = readWatcherSettings(Object.fromEntries(pairs));
  expect([CLUSTER, QUEUE_URL_PREFIX]).toEqual(['eu-1', prefix]);
});

it('manifests sets the role, the number and the memory of the watchers, and the Secret of their registry', async () => {
  const role = 'arn:aws:iam::123456789012:role/watcher';
  const { read } = await manifests(
    ...['--role-arn', role, '--replicas', '3', '--memory', '1Gi', '--image-pull-secret', 'registry'],
  );
  const [deployment] = await read('deployment.yaml');
  const resources = { limits: { memory: '1Gi' }, requests: { memory: '512Mi' } };
  const pod = { containers: [{ resources }], imagePullSecrets: [{ name: 'registry' }] };
  expect(deployment).toMatchObject({ spec: { replicas: 3, template: { spec: pod } } });
  const accounts = (await read('rbac.yaml')).filter((one) => Object(one).kind === 'ServiceAccount');
  expect(accounts).toMatchObject([{ metadata: { annotations: { 'eks.amazonaws.com/role-arn': role } } }]);
});

it('manifests --fleet has no kinds and no roles, and its pods have no token and reach any port', async () => {
  const { read } = await manifests('--fleet');
  expect((await readdir(at('k8s'))).toSorted()).toEqual([
    ...['deployment.yaml', 'disruption-budget.yaml', 'flow-schema.yaml', 'kustomization.yaml', 'namespace.yaml'],
    'network-policy.yaml',
  ]);
  const [deployment] = await read('deployment.yaml');
  expect(deployment).toMatchObject({ spec: { template: { spec: { automountServiceAccountToken: false } } } });
  const [policy] = await read('network-policy.yaml');
  expect(policy).toMatchObject({ spec: { egress: expect.arrayContaining([{ ports: [{ protocol: 'TCP' }] }]) } });
});

const written = '# Written by outrigger manifests; change an overlay, not this.\n';
it('manifests leaves alone what it did not write, and writes nothing where such a file has the name of one of its own', async () => {
  await manifests();
  for (const file of ['service.yaml', 'package.json']) await folder.write(`k8s/${file}`, 'a: 1\n');
  const { out } = (await manifests('--fleet')).result;
  expect(out).toContain('left alone, because this command did not write them: package.json, service.yaml\n');
  expect(await folder.read('k8s/service.yaml')).toBe('a: 1\n');
  expect(await readdir(at('k8s'))).toEqual(expect.not.arrayContaining(['rbac.yaml', 'watch-list.json']));
  await folder.write('k8s/deployment.yaml', 'kind: Deployment\n');
  for (const argv of [[], ['--check']])
    expectUserError((await manifests(...argv)).result, 'deployment.yaml: this command did not write it; move it');
  expect(await folder.read('k8s/deployment.yaml')).toBe('kind: Deployment\n');
  expect(await readdir(at('k8s'))).not.toContain('rbac.yaml');
});

it('manifests --check names what is out of date and changes nothing, and a file too many goes with the next one', async () => {
  await manifests();
  expect((await manifests('--check')).result).toEqual({ status: 0, err: '', out: '' });
  await folder.write('k8s/rbac.yaml', written);
  await folder.write('k8s/crd-trees.example.com.yaml', written);
  expectUserError((await manifests('--check')).result, 'rbac.yaml and 1 more: out of date; run the command without');
  expect(await folder.read('k8s/rbac.yaml')).toBe(written);
  await manifests();
  expect((await manifests('--check')).result.status).toBe(0);
});

it.each([
  [['--image', 'registry.example.com/watcher:1'], /--image.*sha256/s],
  [['--set', 'cluster'], /give NAME=value/],
  [['--set', 'LOG_LEVL=WARN'], /--set LOG_LEVL: a watcher has no such setting; it has .*QUEUE_URL_PREFIX, LOG_LEVEL, /],
])('manifests refuses %j, and writes nothing', async (argv, message) => {
  const program = path.join(source, 'packages/cli/src/commands/main.ts');
  const { err, status } = await runProcess([program, 'manifests', '--out', at('k8s'), ...argv], source);
  expect(err).toMatch(message);
  expect(status).toBe(1);
  await expect(readdir(at('k8s'))).rejects.toThrow('ENOENT');
});
