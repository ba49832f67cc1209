// Whether a watcher sends the keys of a cluster to the queues of a stage, as the watch checkpoint in the cluster shows
// it: the names of its entries contain the queues.
import type { ControllerDefinition } from '../../../api/definition.ts';
import { readCheckpoint } from '../../../checkpoint/config-map.ts';
import { entryNameOf, parseCheckpoint } from '../../../checkpoint/document.ts';
import { watchListOf } from '../../../generate/watch-list.ts';
import type { KubeClient } from '../../../kube/client/client.ts';

/** A watcher confirms its entries at least once in 60 s. */
const recentMs = 180_000;

/**
 * Tells whether a watcher of these queues has listed, recently, every primary kind that any watcher lists in the
 * cluster. Throws the client's errors.
 * @param queues the URL prefix and the generation of the queues, as the watcher has them
 */
export async function isWatched(
  client: KubeClient,
  {
    cluster,
    registry,
    project,
    namespaces,
    queues,
  }: {
    /** The name of the cluster in the clusters table of the stage. */
    readonly cluster: string;
    readonly registry: readonly ControllerDefinition[];
    readonly project: string;
    readonly namespaces: readonly string[] | undefined;
    readonly queues: string;
  },
  { nowMs, signal }: { readonly nowMs: number; readonly signal: AbortSignal },
): Promise<boolean> {
  const checkpoint = await readCheckpoint(client, { project, signal });
  const parsed = parseCheckpoint(checkpoint?.text);
  if (parsed.type !== 'read') return false;
  const recent = [...parsed.document.entries].filter(([, { confirmedAtMs }]) => nowMs - confirmedAtMs < recentMs);
  const primaries = watchListOf(registry, project, namespaces).resources.filter(({ subscribers }) =>
    subscribers.some(({ as }) => as === 'primary'),
  );
  // A watcher may have namespaces of its own, which are between the kind and the subscribers in an entry's name.
  const wanted = primaries.map((resource) => {
    // A watcher of version 0.1 names no cluster.
    const names = [entryNameOf(resource, { cluster, queues }), entryNameOf(resource, { queues })];
    const [name = ''] = names;
    return {
      kind: name.slice(0, name.lastIndexOf('_')),
      subscribers: names.map((one) => one.slice(one.lastIndexOf('_'))),
    };
  });
  const found = wanted.map(({ kind, subscribers }) => {
    const ofKind = recent.filter(([name]) => name.startsWith(kind));
    return {
      isListed: ofKind.length > 0,
      isOurs: ofKind.some(([name]) => subscribers.some((one) => name.endsWith(one))),
    };
  });
  // A kind that the cluster does not serve has no entry of any watcher.
  const needed = found.filter(({ isListed }) => isListed);
  return needed.length > 0 && needed.every(({ isOurs }) => isOurs);
}
