// Strategic merge patches that kubectl sends for built-in kinds. Every result was observed on kube-apiserver 1.36.3.
import { expect, it } from 'vitest';
import type { Json } from '../../../src/apiserver/json.ts';
import { strategicMerge } from '../../../src/apiserver/patch/strategic-merge.ts';
import { publishedSchemas } from '../../../src/apiserver/schema/builtins.ts';

const schemas = publishedSchemas;
const podSchema = schemas.resolved('io.k8s.api.core.v1.PodSpec');
const metaSchema = schemas.objectMeta;
const serviceSchema = schemas.resolved('io.k8s.api.core.v1.ServiceSpec');

const [one, two] = [
  { name: 'one', image: 'a:1' },
  { name: 'two', image: 'b:1' },
];

it.each<[string, Json, Json, Json]>([
  [
    'merges containers by name',
    { containers: [one, two] },
    { containers: [{ name: 'two', image: 'b:2' }] },
    { containers: [one, { name: 'two', image: 'b:2' }] },
  ],
  ['puts a new container first', { containers: [one] }, { containers: [two] }, { containers: [two, one] }],
  [
    'removes a container',
    { containers: [one, two] },
    { containers: [{ name: 'one', $patch: 'delete' }] },
    { containers: [two] },
  ],
  [
    'replaces the containers',
    { containers: [one] },
    { containers: [{ $patch: 'replace' }, two] },
    { containers: [two] },
  ],
  [
    'orders the containers',
    { containers: [one, two] },
    { '$setElementOrder/containers': [{ name: 'two' }, { name: 'one' }] },
    { containers: [two, one] },
  ],
  [
    'merges the environment inside a container',
    { containers: [{ ...one, env: [{ name: 'A', value: '1' }] }] },
    { containers: [{ name: 'one', env: [{ name: 'B', value: '2' }] }] },
    {
      containers: [
        {
          ...one,
          env: [
            { name: 'B', value: '2' },
            { name: 'A', value: '1' },
          ],
        },
      ],
    },
  ],
  [
    'replaces a plain list',
    { containers: [{ ...one, args: ['a'] }] },
    { containers: [{ name: 'one', args: ['b'] }] },
    { containers: [{ ...one, args: ['b'] }] },
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

it.each<[string, Json, Json, Json]>([
  ['merges labels', { labels: { a: '1' } }, { labels: { b: '2', a: null } }, { labels: { b: '2' } }],
  [
    'adds finalizers in the order of the patch',
    { finalizers: ['a'] },
    { finalizers: ['b', 'a'] },
    { finalizers: ['b', 'a'] },
  ],
  [
    'removes a finalizer',
    { finalizers: ['a', 'b'] },
    { '$deleteFromPrimitiveList/finalizers': ['a'] },
    { finalizers: ['b'] },
  ],
  [
    'merges owners by uid',
    { ownerReferences: [{ uid: '1', name: 'x' }] },
    {
      ownerReferences: [
        { uid: '1', controller: true },
        { uid: '2', name: 'y' },
      ],
    },
    {
      ownerReferences: [
        { uid: '1', name: 'x', controller: true },
        { uid: '2', name: 'y' },
      ],
    },
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
