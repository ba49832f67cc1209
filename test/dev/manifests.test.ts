// Only the reading of manifests. That they are applied, and what the API server then says, is in the journeys.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { parseManifests, readManifests } from '../../src/dev/manifests.ts';

const document = (name: string) => `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}}\n`;
const names = (text: string) => parseManifests(text, 'a.yaml').map(({ object }) => object.metadata.name);

it.each([
  ['several documents, empty ones between', `${document('a')}---\n---\n# nothing\n---\n${document('b')}`, ['a', 'b']],
  [
    'a list counts as its items',
    `apiVersion: v1\nkind: List\nitems: [{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}]`,
    ['a'],
  ],
  [
    'a kustomization is no object',
    'apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [a.yaml]',
    [],
  ],
  ['JSON is YAML', '{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}', ['a']],
])('%s', (_, text, expected) => {
  expect(names(text)).toEqual(expected);
});

it.each([
  ['no YAML', 'a: [', /^a\.yaml: /],
  ['no kind', 'apiVersion: v1', /^a\.yaml: apiVersion and kind are needed/],
  ['no name', 'apiVersion: v1\nkind: ConfigMap\nmetadata: {}', /^a\.yaml: ConfigMap: metadata\.name is needed/],
])('%s is a problem that names the file', (_, text, expected) => {
  expect(() => names(text)).toThrow(expected);
});

it('a folder is read in the order of its names, and only its manifests', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'outrigger-manifests-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  await writeFile(path.join(folder, '2.yml'), document('second'));
  await writeFile(path.join(folder, '1.yaml'), document('first'));
  await writeFile(path.join(folder, 'watch-list.json'), '{}');
  expect((await readManifests(folder)).map(({ object }) => object.metadata.name)).toEqual(['first', 'second']);
});

it('a place that is not there is a problem that names it', async () => {
  await expect(readManifests('/nowhere')).rejects.toThrow('/nowhere: cannot be read');
});
