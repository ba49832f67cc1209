// Only the reading of manifests, and what the API server refuses. The journeys apply them.
import { expect, it } from 'vitest';
import { ConfigMap } from '../../src/kubernetes.ts';
import { applyManifests, parseManifests, readManifests } from '../../src/testing/manifests.ts';
import { startApiServer } from '../../src/testing.ts';
import { useFolder } from '../support/folder.ts';

const folder = useFolder();

const document = (name: string) => `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}}\n`;
const names = (text: string) => parseManifests(text, 'a.yaml').map(({ object }) => object.metadata.name);

it.each([
  ['several documents, some of them empty', `${document('a')}---\n---\n# no\n---\n${document('b')}`, ['a', 'b']],
  [
    'the items of a List',
    `apiVersion: v1\nkind: List\nitems: [{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}]`,
    ['a'],
  ],
  ['no Kustomization', 'apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [a.yaml]', []],
  [
    'fields that are merged from an anchor, as kubectl does',
    'apiVersion: v1\nkind: ConfigMap\ndata: &data {name: a}\nmetadata: {<<: *data}',
    ['a'],
  ],
  ['a JSON document', '{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}', ['a']],
])('parseManifests returns %s', (_, text, expected) => {
  expect(names(text)).toEqual(expected);
});

it.each([
  ['invalid YAML', 'a: [', /^a\.yaml: /],
  ['a missing kind', 'apiVersion: v1', /^a\.yaml: apiVersion and kind are needed/],
  ['a missing name', 'apiVersion: v1\nkind: ConfigMap\nmetadata: {}', /^a\.yaml: ConfigMap: metadata\.name is needed/],
])('parseManifests rejects %s, with the file', (_, text, expected) => {
  expect(() => names(text)).toThrow(expected);
});

it('readManifests reads the manifests of a folder in the order of their names', async () => {
  await folder.write('2.yml', document('second'));
  await folder.write('1.yaml', document('first'));
  await folder.write('watch-list.json', '{}');
  expect((await readManifests(folder.path)).map(({ object }) => object.metadata.name)).toEqual(['first', 'second']);
});

it('readManifests names a missing path, and a folder without a manifest, whose own folders are not read', async () => {
  await expect(readManifests('/nowhere')).rejects.toThrow('/nowhere: cannot be read');
  await folder.write('north/1.yaml', document('first'));
  await expect(readManifests(folder.path)).rejects.toThrow(`${folder.path}: has no .yaml or .yml file`);
});

it('readManifests reads a text, also one of JSON in one line', async () => {
  for (const text of [document('a'), '{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}'])
    expect((await readManifests(text)).map(({ object }) => object.metadata.name)).toEqual(['a']);
});

it('K6: a text that kubectl reads as a boolean is refused in memory, too', async () => {
  await using server = await startApiServer();
  const manifests = parseManifests(`${document('a')}data:\n  text: on\n`, 'a.yaml');
  const applied = applyManifests(server.client, manifests, { signal: new AbortController().signal });
  await expect(applied).rejects.toThrow(/^a\.yaml: ConfigMap a: .*\.data\.text: expected string/);
});

it('applyManifests names the file and the object that the API server refuses, also for a field of the wrong type', async () => {
  await using server = await startApiServer();
  const manifests = parseManifests(`${document('a')}data: text\n`, 'a.yaml');
  const applied = applyManifests(server.client, manifests, { signal: new AbortController().signal });
  await expect(applied).rejects.toThrow(/^a\.yaml: ConfigMap a: .*\.data: expected map/);
});

it('U12: of samples that are applied again an object that exists stays as it is, and a refused one leaves the others', async () => {
  await using server = await startApiServer();
  const { signal } = new AbortController();
  const apply = async (text: string) => {
    const refused: string[] = [];
    const onRefused = ({ message }: Error) => void refused.push(message);
    const manifests = parseManifests(text, 'a.yaml');
    const applied = await applyManifests(server.client, manifests, { signal, keep: true, onRefused });
    return { applied: applied.map(({ object, created }) => [object.metadata.name, created]), refused };
  };
  await apply(document('a'));
  expect(
    await apply(`${document('a')}data: {edited: no}\n---\n${document('b')}data: text\n---\n${document('c')}`),
  ).toEqual({
    applied: [
      ['a', false],
      ['c', true],
    ],
    refused: [expect.stringMatching(/^a\.yaml: ConfigMap b: .*\.data: expected map/)],
  });
  expect(await server.get(ConfigMap, { namespace: 'default', name: 'a' })).not.toHaveProperty('data');
});
