// The state that two runs must agree on: the fields that controllers own of the objects in a namespace, without values that differ from run
// to run and mean the same (uids, times).
import type { ControllerDefinition } from '../../src/api/definition.ts';
import type { Kind } from '../../src/api/kind.ts';
import { kindOfRead } from '../../src/api/reads.ts';
import { isRecord } from '../../src/core/json.ts';
import { fieldManagerOf } from '../../src/core/names.ts';
import { ownedFields } from '../../src/kube/apply/managed-fields.ts';
import type { KubeObject } from '../../src/kube/client/object.ts';

/** `Kind/name` → the fields that the controllers own. */
export type EndState = Readonly<Record<string, object>>;

/** The kinds that the controllers write or read, without duplicates. */
export function kindsOf(registry: readonly ControllerDefinition[]): readonly Kind[] {
  const all = registry.flatMap(({ declaration: { resource, owns, reads } }) => [
    resource,
    ...owns,
    ...reads.map(kindOfRead),
  ]);
  return [...new Map(all.map((kind) => [`${kind.plural}.${kind.group}`, kind])).values()];
}

/** The controllers that a controller's sample triggers: itself, and those of the kinds that these own or reconcile. */
export function concernedBy(
  registry: readonly ControllerDefinition[],
  controller: ControllerDefinition,
): readonly ControllerDefinition[] {
  const concerned = new Set([controller]);
  for (const { declaration } of concerned) {
    for (const kind of [declaration.resource, ...declaration.owns]) {
      for (const other of registry) if (isOf(other, kind)) concerned.add(other);
    }
  }
  return [...concerned];
}

/** Returns whether a kind is the one that a controller reconciles. */
export function isOf({ declaration: { resource } }: ControllerDefinition, { group, plural }: Kind): boolean {
  return resource.group === group && resource.plural === plural;
}

/** Reduces objects to the fields that the controllers own. */
export function endStateOf(registry: readonly ControllerDefinition[], objects: readonly KubeObject[]): EndState {
  const names = objects.map(({ kind, metadata: { uid = 'none', name } }) => [uid, `uid of ${kind}/${name}`] as const);
  const stands = objects.flatMap((object) => {
    const { name, namespace, finalizers = [], deletionTimestamp, generation } = object.metadata;
    const owned = registry.flatMap(({ name: controller }) => {
      const manager = fieldManagerOf(controller);
      const [whole, status] = [ownedFields(object, manager), ownedFields(object, manager, 'status')];
      return whole === undefined && status === undefined ? [] : [[controller, { ...whole, ...status }] as const];
    });
    if (owned.length === 0 && finalizers.length === 0) return [];
    const about = { finalizers, deleting: deletionTimestamp !== undefined, ...Object.fromEntries(owned) };
    const text = JSON.stringify(about)
      .replaceAll(`"observedGeneration":${generation}`, '"observedGeneration":"present"')
      .replaceAll(`"${namespace}/`, '"namespace/')
      .replace(/"\d{4}-\d\d-\d\dT[\d:.]+Z"/g, '"a time"');
    const named: unknown = JSON.parse(names.reduce((said, [uid, one]) => said.replaceAll(uid, one), text));
    return [[`${object.kind}/${name}`, Object(named)] as const];
  });
  return Object.fromEntries(stands.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** The state that two runs in different namespaces must agree on: names may contain the namespace, and measurements depend on the time. */
export function alike(state: EndState): readonly string[] {
  return Object.entries(state)
    .map((entry) =>
      JSON.stringify(entry, (field, value: unknown) => {
        if (field !== 'status' || !isRecord(value)) return value;
        const { conditions } = value;
        return Array.isArray(conditions) ? conditions.map(({ type, status, reason }) => [type, status, reason]) : [];
      }).replace(/\b[0-9a-f]{5}\b/g, 'hash'),
    )
    .sort();
}
