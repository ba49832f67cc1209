// The files of a cluster that follow from a registry, as text by name: kinds, roles and policies, and the watch list.
import { writeYaml } from '@outrigger/common/yaml/write';
import type { AnyCustomKind } from '../api/custom-kind.ts';
import type { ControllerDefinition } from '../api/definition.ts';
import { SchemaError } from '../core/errors.ts';
import type { JsonObject } from '../core/json.ts';
import { parametersOf } from './aws/parameters.ts';
import { checkRegistry } from './check-registry.ts';
import { crdOf } from './crd/crd.ts';
import { ruleHints } from './crd/rule-hints.ts';
import { structuralSchema } from './crd/schema.ts';
import { ownKinds, rbacOf } from './rbac/rbac.ts';
import { isAlwaysSelectable } from './selectable-fields.ts';
import { watchListOf } from './watch-list.ts';
import { requireOneZod } from './zod-copy.ts';

/**
 * Makes all files, by name. Throws SchemaError for an invalid registry.
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
  parametersOf(registry);
  const watchList = watchListOf(registry, project, namespaces);
  return new Map([
    ...definitionsOf(registry, kinds).map(([name, crd]) => [`crd-${name}.yaml`, writeYaml([crd])] as const),
    ['rbac.yaml', writeYaml(rbacOf(registry, watchList))],
    // For the watcher's bundle, and for commands that need only the names of the controllers.
    ['watch-list.json', `${JSON.stringify(watchList, undefined, 2)}\n`],
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
