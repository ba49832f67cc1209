// Follows whole objects of one kind, for the eyes of a person: what the live lines, `--until-ready` and the journeys look
// at. It is no part of the system under watch, which follows metadata only and must survive everything; this just goes on.
import type { KubeClient } from '../kube/client/client.ts';
import { readFrames } from '../kube/frames.ts';
import { type KubeObject, parseObject, type ResourceName } from '../kube/client/object.ts';
import { collectionPath } from '../kube/client/path.ts';
import { listPages } from '../kube/client/read.ts';
import { isRecord } from '../kube/record.ts';
import { waitReally } from '../core/time.ts';

/** What is told. `listed` is the whole collection and replaces what was known. */
export type Followed =
  | { readonly type: 'listed'; readonly objects: readonly KubeObject[] }
  | { readonly type: 'changed'; readonly object: KubeObject }
  | { readonly type: 'deleted'; readonly object: KubeObject };

const pauseAfterTroubleSeconds = 1;

/** Follows a collection until the signal aborts. Whatever goes wrong, it lists and watches again. */
export async function* followObjects(
  client: KubeClient,
  resource: ResourceName,
  signal: AbortSignal,
): AsyncGenerator<Followed> {
  while (!signal.aborted) {
    try {
      const objects: KubeObject[] = [];
      let resourceVersion = '';
      for await (const page of listPages(client, resource, { signal })) {
        objects.push(...page.items);
        resourceVersion = page.resourceVersion;
      }
      yield { type: 'listed', objects };
      const stream = await client.stream({
        method: 'GET',
        path: collectionPath(resource),
        query: { watch: true, allowWatchBookmarks: true, resourceVersion },
        signal,
      });
      try {
        for await (const frame of readFrames(stream)) {
          const told = toldBy(frame);
          if (told === 'lost') break;
          if (told !== undefined) yield told;
        }
      } finally {
        stream.close();
      }
    } catch {
      if (!signal.aborted) await waitReally(pauseAfterTroubleSeconds, signal).catch(() => undefined);
    }
  }
}

function toldBy(frame: unknown): Followed | 'lost' | undefined {
  if (!isRecord(frame)) return undefined;
  if (frame.type === 'ERROR') return 'lost';
  if (frame.type === 'DELETED') return { type: 'deleted', object: parseObject(frame.object) };
  if (frame.type === 'ADDED' || frame.type === 'MODIFIED')
    return { type: 'changed', object: parseObject(frame.object) };
  return undefined;
}
