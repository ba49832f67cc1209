// Which watchers send the keys of a cluster, as the watch checkpoint in the cluster shows it: the names of its entries
// contain the queues and the name of the cluster. The rest of the checkpoint is that of the watcher that wrote last.
import type { ControllerDefinition } from 'outrigger/internal/api/definition';
import { readCheckpoint } from 'outrigger/internal/checkpoint/config-map';
import { type CheckpointDocument, entryNameOf, parseCheckpoint } from 'outrigger/internal/checkpoint/document';
import { watchListOf } from 'outrigger/internal/generate/watch-list';
import type { KubeClient } from 'outrigger/internal/kube/client/client';

/** A watcher confirms its entries at least once in 60 s. */
const recentMs = 180_000;

/** The queues of a watcher whose settings have no QUEUE_GENERATION, as `readWatched` takes them. */
export function queuesWithoutGeneration(urlPrefix: string): string {
  return `${urlPrefix} `;
}

/** Who has listed kinds of a cluster in the last three minutes. */
export type Watched = {
  /** A watcher of these queues, under this name of the cluster, lists every primary kind that any watcher lists. */
  readonly byOurs: boolean;
  /** A watcher of other queues, under another name of the cluster, or with another watch list lists a primary kind. */
  readonly byOthers: boolean;
};

/** Which watchers are expected: those of a cluster of the stage, with its queues. */
export type ExpectedWatchers = {
  /** The name of the cluster in the clusters table of the stage. */
  readonly cluster: string;
  readonly registry: readonly ControllerDefinition[];
  readonly project: string;
  readonly namespaces: readonly string[] | undefined;
  /** The URL prefix and the generation of the queues, as the watcher has them. */
  readonly queues: string;
};

/** Reads who watches a cluster. Throws the client's errors. */
export async function readWatched(
  client: KubeClient,
  expected: ExpectedWatchers,
  { nowMs, signal }: { readonly nowMs: number; readonly signal: AbortSignal },
): Promise<Watched> {
  const checkpoint = await readCheckpoint(client, { project: expected.project, signal });
  const parsed = parseCheckpoint(checkpoint?.text);
  return watchedBy(
    parsed.type === 'read' ? parsed.document.entries : new Map(),
    expected,
    checkpoint?.readAtMs ?? nowMs,
  );
}

/** Returns who watches a cluster by the entries of its checkpoint. */
export function watchedBy(
  entries: CheckpointDocument['entries'],
  { cluster, registry, project, namespaces, queues }: ExpectedWatchers,
  nowMs: number,
): Watched {
  const recent = [...entries].filter(([, { confirmedAtMs }]) => nowMs - confirmedAtMs < recentMs);
  // A watcher may have namespaces of its own, which are between the kind and the subscribers in an entry's name.
  const wanted = watchListOf(registry, project, namespaces).resources.map((resource) => {
    // A watcher of version 0.1 names no cluster.
    const names = [entryNameOf(resource, { cluster, queues }), entryNameOf(resource, { queues })];
    const [name = ''] = names;
    return {
      isPrimary: resource.subscribers.some(({ as }) => as === 'primary'),
      kind: name.slice(0, name.lastIndexOf('_')),
      subscribers: names.map(subscribersIn),
    };
  });
  const all = new Set(wanted.flatMap(({ subscribers }) => subscribers));
  const found = wanted
    .filter(({ isPrimary }) => isPrimary)
    .map(({ kind, subscribers }) => {
      const listed = recent.filter(([name]) => name.startsWith(kind)).map(([name]) => subscribersIn(name));
      return {
        isListed: listed.length > 0,
        byOurs: listed.some((one) => subscribers.includes(one)),
        byOthers: listed.some((one) => !all.has(one)),
      };
    });
  // A kind that the cluster does not serve has no entry of any watcher.
  const needed = found.filter(({ isListed }) => isListed);
  return {
    byOurs: needed.length > 0 && needed.every(({ byOurs }) => byOurs),
    byOthers: needed.some(({ byOthers }) => byOthers),
  };
}

function subscribersIn(entryName: string): string {
  return entryName.slice(entryName.lastIndexOf('_'));
}
