// Every generated file of a registry, as text by path: what `generate` writes and what its check compares.
import { stringify } from 'yaml';
import type { Registered } from '../core/controller.ts';
import type { AnyResource } from '../core/resource.ts';
import { awsOf } from './aws/resources.ts';
import { checkRegistry } from './check-registry.ts';
import { costHints } from './crd/cost-hints.ts';
import { crdOf } from './crd/crd.ts';
import type { JsonObject } from './json.ts';
import { ownKinds, rbacOf } from './rbac/rbac.ts';
import { structuralSchema } from './crd/schema.ts';
import { watchListOf } from './watch-list.ts';

/** Folders that hold nothing but generated files. */
export const generatedFolders = ['infra/kubernetes/generated', 'infra/aws/generated'] as const;

/**
 * Makes all files. Throws SchemaError for what cannot be generated from.
 * @param kinds those without a controller: each gets its CRD, and nothing else
 */
export function generatedFiles(
  registry: readonly Registered[],
  kinds: readonly AnyResource[] = [],
): ReadonlyMap<string, string> {
  checkRegistry(registry);
  const watchList = watchListOf(registry);
  const [kubernetes, aws] = generatedFolders;
  const manifests = [
    ...definitionsOf(registry, kinds).map(([name, crd]) => [`crd-${name}.yaml`, yaml([crd])] as const),
    ['rbac.yaml', yaml(rbacOf(registry, watchList))] as const,
  ];
  return new Map([
    ...manifests.map(([name, text]) => [`${kubernetes}/${name}`, text] as const),
    [`${kubernetes}/kustomization.yaml`, yaml([kustomizationOf(manifests.map(([name]) => name))])],
    [`${kubernetes}/watch-list.json`, `${JSON.stringify(watchList, undefined, 2)}\n`],
    [`${aws}/controllers.yml`, yaml([awsOf(registry)])],
  ]);
}

/** Makes the CRD of every kind, by its name. */
export function definitionsOf(
  registry: readonly Registered[],
  kinds: readonly AnyResource[] = [],
): readonly (readonly [name: string, crd: JsonObject])[] {
  const nameOf = ({ plural, group }: AnyResource) => `${plural}.${group}`;
  const controlled = new Set(registry.map(({ declares }) => nameOf(declares.resource)));
  return ownKinds(registry, kinds).map((kind) => [
    nameOf(kind),
    crdOf(kind, { controlled: controlled.has(nameOf(kind)) }),
  ]);
}

/** Names what an API server may find too costly in the rules of the registry's kinds. */
export function generatedHints(registry: readonly Registered[], kinds: readonly AnyResource[] = []): readonly string[] {
  return ownKinds(registry, kinds).flatMap(({ kind, definition: { spec, status } }) =>
    [
      ...costHints(structuralSchema(spec, 'spec'), 'spec'),
      ...costHints(structuralSchema(status, 'status'), 'status'),
    ].map((hint) => `${kind}: ${hint}`),
  );
}

/** What `kubectl apply -k` takes of the folder: the watch list beside the manifests is for the watcher's bundle. */
function kustomizationOf(resources: readonly string[]): JsonObject {
  return { apiVersion: 'kustomize.config.k8s.io/v1beta1', kind: 'Kustomization', resources };
}

function yaml(documents: readonly JsonObject[]): string {
  const header = '# Generated from the registry by npm run generate; change that, not this.\n';
  return (
    header +
    documents.map((document) => stringify(document, { lineWidth: 140, aliasDuplicateObjects: false })).join('---\n')
  );
}
