// The objects of a test, in a map: enough for a reconciler that a test calls directly. It has the behaviour on which
// reconcilers depend (whole sets of children, ownership by controller reference, generations), and nothing else of the
// API.
import * as z from 'zod';
import type { ApplyAllOptions } from '../api/apply.ts';
import type { UntypedContext } from '../api/context.ts';
import type { Kind, OwnerReference } from '../api/kind.ts';
import { NotOwnedError } from '../core/errors.ts';
import { formatKey, type Key } from '../core/key.ts';
import { controllerLabel, ownerUidLabel } from '../core/names.ts';
import { controllerUidOf } from '../core/owner.ts';
import { selectsLabels } from '../core/selector.ts';
import { hasGeneration } from '../generate/changing-kinds.ts';
import { checkPlace, encodedSecret } from '../kube/apply/child-object.ts';

const stored = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.looseObject({
    name: z.string(),
    namespace: z.string().optional(),
    uid: z.string().optional(),
    generation: z.number().optional(),
    labels: z.record(z.string(), z.string()).optional(),
    annotations: z.record(z.string(), z.string()).optional(),
    ownerReferences: z.array(z.looseObject({ uid: z.string(), controller: z.boolean().optional() })).optional(),
  }),
});
type Stored = z.infer<typeof stored>;

/** The part of a context that reads and writes objects, and a way to write as another client. */
export type ObjectMap = Pick<UntypedContext, 'get' | 'list' | 'apply' | 'applyAll'> & {
  /** Stores an object. Fields of an existing object that are not given are kept. */
  put(object: object): void;
};

/** Creates a map of objects. `owner` is the object whose children are set; without `namespace` it is cluster-scoped. */
export function createObjectMap(
  objects: readonly object[],
  {
    namespace,
    owner,
    controller,
  }: { readonly namespace: string | undefined; readonly owner: OwnerReference; readonly controller: string },
): ObjectMap {
  const all = new Map<string, Stored>();
  const place = (kind: Pick<Kind, 'apiVersion' | 'kind'>, key: Parameters<typeof formatKey>[0]) =>
    `${kind.apiVersion} ${kind.kind} ${formatKey(key)}`;
  const keyOf = (kind: Kind, { name, namespace: asked = namespace }: Key): Key =>
    kind.namespaced && asked !== undefined ? { name, namespace: asked } : { name };

  function put(object: object): void {
    const parsed = stored.parse(object);
    const isSecret = parsed.apiVersion === 'v1' && parsed.kind === 'Secret';
    const given = isSecret ? stored.parse(encodedSecret({ group: '', plural: 'secrets' }, parsed)) : parsed;
    const at = place(given, given.metadata);
    const there = all.get(at);
    const [group = ''] = given.apiVersion.includes('/') ? given.apiVersion.split('/') : [];
    const first = hasGeneration({ group, kind: given.kind }) ? { generation: 1 } : {};
    const metadata = { uid: `uid-of-${given.metadata.name}`, ...first, ...there?.metadata, ...given.metadata };
    all.set(at, { ...there, ...given, metadata });
  }
  const isOwned = (one: Stored) => {
    const isFar = namespace !== undefined && one.metadata.namespace !== namespace;
    const uid = controllerUidOf(one);
    return (uid ?? (isFar ? one.metadata.labels?.[ownerUidLabel] : undefined)) === owner.uid;
  };

  /**
   * A child without labels was made by the test. One with the label of another controller is not a child of this one.
   */
  const isListed = (one: Stored) =>
    isOwned(one) && (one.metadata.labels?.[controllerLabel] ?? controller) === controller;

  /** A child that is being deleted is neither written nor deleted. */
  const isEnding = ({ metadata }: Stored) => metadata.deletionTimestamp !== undefined;

  /** Applies one child; undefined if a foreign object has its name, which with `adopt` has a controller. */
  function set(kind: Kind, desired: Stored, { adopt, onChange }: ApplyAllOptions): Stored | undefined {
    const at = place(kind, desired.metadata);
    const live = all.get(at);
    if (live !== undefined && !isOwned(live) && (adopt !== true || controllerUidOf(live) !== undefined))
      return undefined;
    if (live !== undefined && isEnding(live)) return live;
    const changed = { ...live, ...desired, metadata: { ...live?.metadata, ...desired.metadata } };
    const same = live !== undefined && withoutMetadata(live) === withoutMetadata(changed);
    const counted = hasGeneration(kind) ? { generation: (live?.metadata.generation ?? 0) + (same ? 0 : 1) } : {};
    const after = { ...changed, metadata: { ...changed.metadata, ...counted } };
    const child = { ...after, metadata: { uid: `uid-of-${desired.metadata.name}`, ...after.metadata } };
    all.set(at, child);
    if (live === undefined) onChange?.({ type: 'created', child: structuredClone(child) });
    else if (!same) onChange?.({ type: 'updated', child: structuredClone(child), before: structuredClone(live) });
    return child;
  }

  for (const object of objects) put(object);
  return {
    put,
    get: async (kind, key) => structuredClone(all.get(place(kind, keyOf(kind, key)))),
    list: async (kind, matchLabels, { namespace: within = namespace ?? '*', matchExpressions } = {}) =>
      [...all.values()]
        .filter((one) => one.apiVersion === kind.apiVersion && one.kind === kind.kind)
        .filter(({ metadata }) => !kind.namespaced || within === '*' || metadata.namespace === within)
        .filter(({ metadata }) => selectsLabels({ matchLabels, matchExpressions }, metadata.labels ?? {}))
        .map((one) => structuredClone(one)),
    apply: async (kind, desired, options = {}) => {
      const child = asChild(kind, desired);
      const live = set(kind, child, options);
      if (live === undefined) throw new NotOwnedError([`${kind.kind} ${formatKey(child.metadata)}`], []);
      return structuredClone(live);
    },
    applyAll: async (kind, desired, options = {}) => {
      const { prune = true, onChange } = options;
      const existing = [...all.values()].filter(
        (one) => one.apiVersion === kind.apiVersion && one.kind === kind.kind && isListed(one),
      );
      const wanted = desired(structuredClone(existing)).map((child) => asChild(kind, child));
      const results = wanted.map((child) => ({ child, live: set(kind, child, options) }));
      const names = new Set(wanted.map(({ metadata }) => place(kind, metadata)));
      for (const [at, one] of all) {
        const isChild = one.apiVersion === kind.apiVersion && one.kind === kind.kind && isListed(one);
        if (prune && isChild && !names.has(at) && !isEnding(one)) {
          all.delete(at);
          onChange?.({ type: 'deleted', child: one });
        }
      }
      const live = results.flatMap((one) => (one.live === undefined ? [] : [structuredClone(one.live)]));
      const taken = results.filter((one) => one.live === undefined).map(({ child }) => child);
      if (taken.length > 0)
        throw new NotOwnedError(
          taken.map(({ metadata }) => `${kind.kind} ${formatKey(metadata)}`),
          live,
        );
      return live;
    },
  };

  function asChild(kind: Kind, child: object): Stored {
    // Through JSON, as on the wire: undefined fields are absent.
    const { metadata, ...rest } = z
      .looseObject({ metadata: stored.shape.metadata })
      .parse(JSON.parse(JSON.stringify(child)));
    const { inAnyNamespace } = kind;
    checkPlace({ resource: kind, kind: kind.kind, inAnyNamespace }, metadata, { name: owner.name, namespace });
    const isFar = namespace !== undefined && (metadata.namespace ?? namespace) !== namespace;
    return {
      ...encodedSecret(kind, rest),
      apiVersion: kind.apiVersion,
      kind: kind.kind,
      metadata: {
        name: metadata.name,
        ...(kind.namespaced ? { namespace: metadata.namespace ?? namespace } : {}),
        ...(metadata.annotations === undefined ? {} : { annotations: metadata.annotations }),
        labels: { ...metadata.labels, [controllerLabel]: controller, [ownerUidLabel]: owner.uid },
        ...(isFar ? {} : { ownerReferences: [owner] }),
      },
    };
  }
}

function withoutMetadata({ metadata: _, status: __, ...rest }: Stored): string {
  return JSON.stringify(Object.entries(rest).sort(([a], [b]) => (a < b ? -1 : 1)));
}
