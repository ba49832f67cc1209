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

/**
 * Lists the fields of the registry's kinds whose rules an API server may reject for their cost, and the kinds of which
 * kubectl prefers a former version.
 */
export function generatedHints(
  registry: readonly ControllerDefinition[],
  kinds: readonly AnyCustomKind[] = [],
): readonly string[] {
  return ownKinds(registry, kinds).flatMap(({ kind, version, definition: { spec, status, formerVersions } }) =>
    [
      ...formerVersions
        .filter((former) => isPreferred(former, version))
        .map((former) => `kubectl and other clients prefer the former version ${former} to ${version} by its name`),
      ...ruleHints(structuralSchema(spec, 'spec'), 'spec'),
      ...ruleHints(structuralSchema(status, 'status'), 'status'),
    ].map((hint) => `${kind}: ${hint}`),
  );
}

const stages = ['alpha', 'beta', ''];

/**
 * Returns whether clients prefer a version to another one: v2 to v1, and both to v3beta1 ("Versions in
 * CustomResourceDefinitions", version priority).
 */
function isPreferred(one: string, other: string): boolean {
  const rank = (version: string) => {
    const [, major, stage = '', minor = 0] = /^v(\d+)(?:(alpha|beta)(\d+))?$/.exec(version) ?? [];
    return major === undefined ? [-1] : [stages.indexOf(stage), Number(major), Number(minor)];
  };
  const [left, right] = [rank(one), rank(other)];
  const index = left.findIndex((part, at) => part !== right[at]);
  return index === -1 ? one < other : (left[index] ?? 0) > (right[index] ?? 0);
}
