// The kinds of Kubernetes itself: that a function carries only those that it uses, and that their names are those of the API.
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { build } from 'esbuild';
import { expect, it } from 'vitest';
import { hasGeneration } from '../../src/generate/changing-kinds.ts';
import * as kubernetes from '../../src/kubernetes.ts';
import type { ObjectOf } from '../../src/outrigger.ts';

const kinds = Object.values(kubernetes);

type Kinds = typeof kubernetes;
type MayLackGeneration = {
  [K in keyof Kinds]: undefined extends ObjectOf<Kinds[K]>['metadata']['generation'] ? K : never;
}[keyof Kinds];
/** It compiles only with exactly these. */
const mayLackGeneration: Readonly<Record<MayLackGeneration, true>> = {
  ConfigMap: true,
  Event: true,
  LimitRange: true,
  Namespace: true,
  Node: true,
  PersistentVolume: true,
  PersistentVolumeClaim: true,
  Pod: true,
  ResourceQuota: true,
  Secret: true,
  Service: true,
  ServiceAccount: true,
  HorizontalPodAutoscaler: true,
  Lease: true,
  ClusterRole: true,
  ClusterRoleBinding: true,
  Role: true,
  RoleBinding: true,
  PriorityClass: true,
  StorageClass: true,
};

it('a bundle that uses one kind has no other, and nothing of the client', async () => {
  const resolveDir = path.resolve(import.meta.dirname, '../../src');
  const contents = `import { Deployment } from './kubernetes.ts'; console.log(Deployment.plural);`;
  const bundle = async (text: string) => {
    const { outputFiles, metafile } = await build({
      stdin: { contents: text, resolveDir, loader: 'ts' },
      bundle: true,
      write: false,
      metafile: true,
      platform: 'node',
      format: 'esm',
    });
    return { text: outputFiles[0]?.text ?? '', inputs: Object.keys(metafile.inputs) };
  };
  const named = ({ text }: { readonly text: string }) =>
    kinds.map(({ kind }) => kind).filter((kind) => text.includes(`kind: "${kind}"`));
  const one = await bundle(contents);
  expect(named(one)).toEqual(['Deployment']);
  // zod is in every function: a kind has a `controller` method, which checks results.
  const packages = one.inputs.filter((file) => file.includes('node_modules') && !file.includes('node_modules/zod/'));
  expect(packages).toEqual([]);
  // The way of looking is a good one: all of them are found where all of them are used.
  expect(named(await bundle(`import * as kinds from './kubernetes.ts'; console.log(kinds);`))).toHaveLength(
    kinds.length,
  );
});

it('each kind is exported under its own name, once', () => {
  expect(Object.entries(kubernetes).filter(([name, { kind }]) => name !== kind)).toEqual([]);
  expect(new Set(kinds.map(({ group, plural }) => `${plural}.${group}`)).size).toBe(kinds.length);
});

it('the generation of an object is optional where it does not count its changes, and for Pods, which got it in 1.33', () => {
  const lacking = kinds.filter((one) => one.kind === 'Pod' || !hasGeneration(one)).map(({ kind }) => kind);
  expect(lacking.toSorted()).toEqual(Object.keys(mayLackGeneration).toSorted());
});

it.each([
  ['EndpointSlice', 'endpointslices', 'discovery.k8s.io/v1', true],
  ['Ingress', 'ingresses', 'networking.k8s.io/v1', true],
  ['NetworkPolicy', 'networkpolicies', 'networking.k8s.io/v1', true],
  ['StorageClass', 'storageclasses', 'storage.k8s.io/v1', false],
  ['Namespace', 'namespaces', 'v1', false],
  ['HorizontalPodAutoscaler', 'horizontalpodautoscalers', 'autoscaling/v2', true],
] as const)('%s is %s of %s', (name, plural, apiVersion, namespaced) => {
  expect(kinds.find(({ kind }) => kind === name)).toMatchObject({ plural, apiVersion, namespaced });
});

it('the documents list every kind', async () => {
  const page = await readFile(path.resolve(import.meta.dirname, '../../docs/write/kinds-of-others.md'), 'utf8');
  const [, section = ''] = /kinds: begin -->(.*?)<!-- kinds: end/s.exec(page) ?? [];
  expect([...section.matchAll(/`([A-Z]\w+)`/g)].map(([, name]) => name)).toEqual(
    Object.keys(kubernetes).toSorted((a, b) => section.indexOf(`\`${a}\``) - section.indexOf(`\`${b}\``)),
  );
});
