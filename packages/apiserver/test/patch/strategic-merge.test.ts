// Strategic merge patches that kubectl sends for built-in kinds. Every result was observed on kube-apiserver 1.36.3.
import { expect, it } from 'vitest';
import type { Json } from '../../src/json.ts';
import { strategicMerge } from '../../src/patch/strategic-merge.ts';
import { publishedSchemas } from '../../src/schema/builtins.ts';

const schemas = publishedSchemas;
const podSchema = schemas.resolved('io.k8s.api.core.v1.PodSpec');
const metaSchema = schemas.objectMeta;
const serviceSchema = schemas.resolved('io.k8s.api.core.v1.ServiceSpec');

const [one, two] = [
  { name: 'one', image: 'a:1' },
  { name: 'two', image: 'b:1' },
];

const [envA, envB] = [
  { name: 'A', value: '1' },
  { name: 'B', value: '2' },
];
it.each<[string, Json[], Json[], Json[]]>([
  ['merges them by name', [one, two], [{ name: 'two', image: 'b:2' }], [one, { name: 'two', image: 'b:2' }]],
  ['puts a new one first', [one], [two], [two, one]],
  ['removes one', [one, two], [{ name: 'one', $patch: 'delete' }], [two]],
  ['replaces them', [one], [{ $patch: 'replace' }, two], [two]],
  ['merges an environment', [{ ...one, env: [envA] }], [{ name: 'one', env: [envB] }], [{ ...one, env: [envB, envA] }]],
  ['replaces a plain list', [{ ...one, args: ['a'] }], [{ name: 'one', args: ['b'] }], [{ ...one, args: ['b'] }]],
])('a strategic merge patch of containers %s', (_what, live, patch, merged) => {
  expect(strategicMerge({ containers: live }, { containers: patch }, podSchema)).toEqual({ containers: merged });
});

it.each<[string, Json, Json, Json]>([
  [
    'orders the containers',
    { containers: [one, two] },
    { '$setElementOrder/containers': [{ name: 'two' }, { name: 'one' }] },
    { containers: [two, one] },
  ],
  ['removes a field by null', { nodeName: 'x', hostname: 'y' }, { nodeName: null }, { hostname: 'y' }],
  [
    'keeps only the named keys',
    { volumes: [{ name: 'v', emptyDir: {} }] },
    { volumes: [{ name: 'v', $retainKeys: ['name', 'configMap'], configMap: { name: 'c' } }] },
    { volumes: [{ name: 'v', configMap: { name: 'c' } }] },
  ],
])('a strategic merge patch of a pod %s', (_what, target, patch, expected) => {
  expect(strategicMerge(target, patch, podSchema)).toEqual(expected);
});

const finalizers = (...names: string[]) => ({ finalizers: names });
const owners = (...references: { [field: string]: Json }[]) => ({ ownerReferences: references });

it.each<[string, Json, Json, Json]>([
  ['merges labels', { labels: { a: '1' } }, { labels: { b: '2', a: null } }, { labels: { b: '2' } }],
  ['adds finalizers in the order of the patch', finalizers('a'), finalizers('b', 'a'), finalizers('b', 'a')],
  ['removes a finalizer', finalizers('a', 'b'), { '$deleteFromPrimitiveList/finalizers': ['a'] }, finalizers('b')],
  [
    'merges owners by uid',
    owners({ uid: '1', name: 'x' }),
    owners({ uid: '1', controller: true }, { uid: '2', name: 'y' }),
    owners({ uid: '1', name: 'x', controller: true }, { uid: '2', name: 'y' }),
  ],
])('a strategic merge patch of metadata %s', (_what, target, patch, expected) => {
  expect(strategicMerge(target, patch, metaSchema)).toEqual(expected);
});

it('a strategic merge patch of a service merges ports by their number', () => {
  const target = { ports: [{ port: 80, name: 'http' }] };
  expect(strategicMerge(target, { ports: [{ port: 80, targetPort: 8080 }, { port: 443 }] }, serviceSchema)).toEqual({
    ports: [{ port: 80, name: 'http', targetPort: 8080 }, { port: 443 }],
  });
});
