// Every generated manifest of a registry, as text by path. `generate` writes them, and `generate --check` compares
// them. The functions are in functions.ts.

import { writeYaml } from '@outrigger/common/yaml/write';
import type { AnyCustomKind } from '../api/custom-kind.ts';
import type { ControllerDefinition } from '../api/definition.ts';
import { SchemaError } from '../core/errors.ts';
import type { JsonObject } from '../core/json.ts';
import { awsOf } from './aws/resources.ts';
import { checkRegistry } from './check-registry.ts';
import { crdOf } from './crd/crd.ts';
import { ruleHints } from './crd/rule-hints.ts';
import { structuralSchema } from './crd/schema.ts';
import { ownKinds, rbacOf } from './rbac/rbac.ts';
import { isAlwaysSelectable } from './selectable-fields.ts';
import { watchListOf } from './watch-list.ts';
import { requireOneZod } from './zod-copy.ts';

/** Folders that contain only generated files. */
export const generatedFolders = ['infra/kubernetes/generated', 'infra/aws/generated'] as const;

/**
 * Makes all files. Throws SchemaError for an invalid registry.
 * @param kinds the kinds without a controller: each gets only a CRD
 * @param namespaces the only namespaces of the project; absent: all
 */
export function generatedFiles(
  registry: readonly ControllerDefinition[],
  kinds: readonly AnyCustomKind[] = [],
  project?: string,
  namespaces?: readonly string[],
): ReadonlyMap<string, string> {
  requireOneZod(registry, kinds);
  checkRegistry(registry, project, namespaces);
  const watchList = watchListOf(registry, project, namespaces);
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

/** Makes the CRD of every kind, by name. Throws SchemaError, naming the kind and the field. */
export function definitionsOf(
  registry: readonly ControllerDefinition[],
  kinds: readonly AnyCustomKind[] = [],
): readonly (readonly [name: string, crd: JsonObject])[] {
  const nameOf = ({ plural, group }: Pick<AnyCustomKind, 'plural' | 'group'>) => `${plural}.${group}`;
  const controlled = new Set(registry.map(({ declaration: { resource } }) => nameOf(resource)));
  return ownKinds(registry, kinds).map((kind) => {
    const selectors = registry
      .filter(({ declaration: { resource } }) => nameOf(resource) === nameOf(kind))
      .map(({ declaration: { selector } }) => Object.keys(selector?.fields ?? {}));
    const selectable = [...new Set(selectors.flat())].filter((field) => !isAlwaysSelectable(field)).sort();
    try {
      return [nameOf(kind), crdOf(kind, { controlled: controlled.has(nameOf(kind)), selectable })];
    } catch (error) {
      throw error instanceof SchemaError ? new SchemaError(kind.kind, error.message) : error;
    }
  });
}

/** Lists the fields of the registry's kinds whose rules an API server may reject for their cost. */
export function generatedHints(
  registry: readonly ControllerDefinition[],
  kinds: readonly AnyCustomKind[] = [],
): readonly string[] {
  return ownKinds(registry, kinds).flatMap(({ kind, definition: { spec, status } }) =>
    [
      ...ruleHints(structuralSchema(spec, 'spec'), 'spec'),
      ...ruleHints(structuralSchema(status, 'status'), 'status'),
    ].map((hint) => `${kind}: ${hint}`),
  );
}

/** The manifests for `kubectl apply -k`. The watch list is not one of them; it is for the watcher's bundle. */
function kustomizationOf(resources: readonly string[]): JsonObject {
  return { apiVersion: 'kustomize.config.k8s.io/v1beta1', kind: 'Kustomization', resources };
}

function yaml(documents: readonly JsonObject[]): string {
  const header = '# Generated from the registry by npm run generate; change that, not this.\n';
  return header + writeYaml(documents);
}
