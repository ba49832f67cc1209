// What two runs must agree on: everything that any controller says of the objects in a namespace, without what differs from run to
// run although it means the same (uids, times).
import type { Registered } from '../../src/core/controller.ts';
import type { Kind } from '../../src/core/kind.ts';
import { fieldManagerOf } from '../../src/core/names.ts';
import { ownedBy } from '../../src/kube/apply/managed-fields.ts';
import type { KubeObject } from '../../src/kube/client/object.ts';
import { isRecord } from '../../src/kube/record.ts';

/** `Kind/name` → what the controllers own of it. */
export type EndState = Readonly<Record<string, object>>;

/** The kinds that the controllers write or read, each once. */
export function kindsOf(registry: readonly Registered[]): readonly Kind[] {
  const all = registry.flatMap(({ declares: { resource, owns, reads } }) => [resource, ...owns, ...reads]);
  return [...new Map(all.map((kind) => [`${kind.plural}.${kind.group}`, kind])).values()];
}

/** The controllers that a controller's sample sets to work: itself, and whoever has a kind that one of them owns or has, too. */
export function concernedBy(registry: readonly Registered[], controller: Registered): readonly Registered[] {
  const concerned = new Set([controller]);
  for (const { declares } of concerned) {
    for (const kind of [declares.resource, ...declares.owns]) {
      for (const other of registry) if (isOf(other, kind)) concerned.add(other);
    }
  }
  return [...concerned];
}

/** Tells whether a kind is the one that a controller reconciles. */
export function isOf({ declares: { resource } }: Registered, { group, plural }: Kind): boolean {
  return resource.group === group && resource.plural === plural;
}

/** Reduces objects to what the controllers own of them. */
export function endStateOf(registry: readonly Registered[], objects: readonly KubeObject[]): EndState {
  const names = objects.map(({ kind, metadata: { uid = 'none', name } }) => [uid, `uid of ${kind}/${name}`] as const);
  const stands = objects.flatMap((object) => {
    const { name, namespace, finalizers = [], deletionTimestamp, generation } = object.metadata;
    const owned = registry.flatMap(({ name: controller }) => {
      const manager = fieldManagerOf(controller);
      const [whole, status] = [ownedBy(object, manager), ownedBy(object, manager, 'status')];
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

/** What two runs in different namespaces must agree on: names may be made of the namespace, and what was measured depends on when. */
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
