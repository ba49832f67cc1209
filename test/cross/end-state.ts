// What two runs must agree on: everything that any controller says of the objects in a namespace, without what differs from run to
// run although it means the same (uids, times).
import type { Registered } from '../../src/core/controller.ts';
import type { Kind } from '../../src/core/kind.ts';
import { fieldManagerOf } from '../../src/core/words.ts';
import { ownedBy } from '../../src/kube/managed-fields.ts';
import type { KubeObject } from '../../src/kube/object.ts';

/** `Kind/name` → what the controllers own of it. */
export type EndState = Readonly<Record<string, object>>;

/** The kinds that the controllers write or read, each once. */
export function kindsOf(registry: readonly Registered[]): readonly Kind[] {
  const all = registry.flatMap(({ declares: { resource, owns, reads } }) => [resource, ...owns, ...reads]);
  return [...new Map(all.map((kind) => [`${kind.plural}.${kind.group}`, kind])).values()];
}

/** Reduces objects to what the controllers own of them. */
export function endStateOf(registry: readonly Registered[], objects: readonly KubeObject[]): EndState {
  const stands = objects.flatMap((object) => {
    const { name, finalizers = [], deletionTimestamp } = object.metadata;
    const owned = registry.flatMap(({ name: controller }) => {
      const manager = fieldManagerOf(controller);
      const [whole, status] = [ownedBy(object, manager), ownedBy(object, manager, 'status')];
      return whole === undefined && status === undefined ? [] : [[controller, { ...whole, ...status }] as const];
    });
    if (owned.length === 0 && finalizers.length === 0) return [];
    const about = { finalizers, deleting: deletionTimestamp !== undefined, ...Object.fromEntries(owned) };
    return [[`${object.kind}/${name}`, about] as const];
  });
  const names = objects.map(({ kind, metadata: { uid = 'none', name } }) => [uid, `uid of ${kind}/${name}`] as const);
  const text = JSON.stringify(Object.fromEntries(stands.sort(([a], [b]) => (a < b ? -1 : 1))));
  const timeless = text.replace(/"\d{4}-\d\d-\d\dT[\d:.]+Z"/g, '"a time"');
  return JSON.parse(names.reduce((said, [uid, name]) => said.replaceAll(uid, name), timeless));
}
