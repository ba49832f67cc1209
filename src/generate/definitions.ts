// The CRDs of a registry, and hints about their rules.
import type { AnyCustomKind } from '../api/custom-kind.ts';
import type { ControllerDefinition } from '../api/definition.ts';
import { SchemaError } from '../core/errors.ts';
import type { JsonObject } from '../core/json.ts';
import { crdOf } from './crd/crd.ts';
import { ruleHints } from './crd/rule-hints.ts';
import { structuralSchema } from './crd/schema.ts';
import { ownKinds } from './rbac/rbac.ts';
import { isAlwaysSelectable } from './selectable-fields.ts';

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
