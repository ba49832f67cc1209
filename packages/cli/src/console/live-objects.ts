// The objects of a system as they are, with what has happened to each: filled by changes of objects and by log lines.
// The console of a local system and that of a stage share it.
import type { ControllerDefinition } from 'outrigger/internal/api/definition';
import { collectionName } from 'outrigger/internal/core/key';
import type { KubeClient } from 'outrigger/internal/kube/client/client';
import type { CachedChange, ObjectCache } from '../dev/object-cache.ts';
import { isForeignKind, statusSlicesOf } from '../dev/readiness.ts';
import { createHistory, type History, type HistoryOptions } from './history.ts';
import { controllersOf, objectId } from './object-id.ts';
import { objectRow } from './object-row.ts';
import { objectYaml } from './planned-yaml.ts';
import { type ChildKind, readChildren } from './resource-tree.ts';
import type { SourceEvent } from './source.ts';
import { type WhyDeps, whyOf } from './why.ts';
import type { ObjectDetail, ObjectRow, TimelineEntry } from './wire.ts';

/** The objects of a system. */
export type LiveObjects = {
  readonly history: History;
  readonly listeners: Set<(event: SourceEvent) => void>;
  rows(): readonly ObjectRow[];
  addChange(cluster: string, change: CachedChange): void;
  /** Forgets the objects of a cluster that is not shown any more. */
  forget(cluster: string): void;
  onEvent(listener: (event: SourceEvent) => void): () => void;
  /** Reads one object. `earlier` are entries of its timeline from before the start, newest first. */
  detail(id: string, reads: DetailReads, signal: AbortSignal): Promise<ObjectDetail | undefined>;
};

/** How the object of an id is read. */
export type DetailReads = {
  readonly client: KubeClient;
  readonly view: Pick<ObjectCache, 'get'>;
  readonly earlier?: readonly TimelineEntry[];
  readonly why: Omit<WhyDeps, 'troubles'>;
};

/** Creates an empty one. */
export function createLiveObjects(
  controllers: readonly ControllerDefinition[],
  options: Pick<HistoryOptions, 'logDelayMilliseconds'> = {},
): LiveObjects {
  const listeners = new Set<(event: SourceEvent) => void>();
  const notify = (event: SourceEvent) => {
    for (const listener of listeners) listener(event);
  };
  const history = createHistory(controllers, { ...options, onEntry: (entry) => notify({ type: 'entry', entry }) });
  const rows = new Map<string, ObjectRow>();
  const kinds = new Map(controllers.map(({ declaration: { resource } }) => [collectionName(resource), resource.kind]));
  const put = (id: string, row: ObjectRow | undefined) => {
    if (row === undefined) rows.delete(id);
    else rows.set(id, row);
    notify({ type: 'object', id, row });
  };

  return {
    history,
    listeners,
    rows: () => [...rows.values()],
    addChange: (cluster, change) => {
      const { resource, before, after } = change;
      const object = after ?? before;
      if (object === undefined) return;
      const id = objectId(cluster, resource, object.metadata);
      const kind = kinds.get(collectionName(resource)) ?? resource.plural;
      const sliceConditions = statusSlicesOf(controllers, resource);
      const isForeign = isForeignKind(controllers, resource);
      const about = { kind, cluster, sliceConditions, isForeign };
      const row = after === undefined ? undefined : objectRow(resource, after, about);
      history.addChange(id, change, row?.tone);
      put(id, row);
    },
    forget: (cluster) => {
      for (const row of [...rows.values()]) {
        if (row.cluster !== cluster) continue;
        history.forget(row.id);
        put(row.id, undefined);
      }
    },
    onEvent: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    detail: async (id, { client, view, earlier = [], why: deps }, signal) => {
      const row = rows.get(id);
      const owners = controllersOf(controllers, id);
      const [first] = owners;
      if (row === undefined || first === undefined) return undefined;
      const { resource } = first.declaration;
      const object = view.get(resource, row);
      if (object === undefined) return undefined;
      const owned = owners.flatMap(({ declaration }) => declaration.owns);
      const childKinds = [...new Map(owned.map((one): [string, ChildKind] => [collectionName(one), one])).values()];
      const dueAt = history.dueAt(id);
      const timeline = [...history.timeline(id), ...earlier];
      const { troubles } = history;
      const [why, { children, unlisted }] = await Promise.all([
        whyOf(owners, object, { id, timeline }, { ...deps, troubles }, signal),
        readChildren({ cluster: row.cluster, client }, object, childKinds, signal),
      ]);
      return {
        row,
        why,
        yaml: objectYaml(object),
        tree: {
          id,
          kind: row.kind,
          name: row.name,
          state: row.state,
          tone: row.tone,
          children,
        },
        ...(unlisted.length === 0 ? {} : { unlisted }),
        timeline,
        ...(dueAt === undefined ? {} : { dueAt }),
      };
    },
  };
}
