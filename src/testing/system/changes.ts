// What a watcher would forward, found by listing: every kind of the watch list is listed and compared with the last
// list, by the watcher's own predicates. Lists and not watches, because a test has to know when there is nothing more.

import type { ControllerDefinition } from '../../api/definition.ts';
import { keyOf } from '../../core/key.ts';
import { controllerQueue } from '../../core/names.ts';
import { changeEntry } from '../../forwarding/forwarder.ts';
import { type AffectedKey, affectedKeys } from '../../forwarding/predicates.ts';
import { desiredMetadata, type TrackedObject, toTrackedObject } from '../../forwarding/tracked-objects.ts';
import { watchListOf } from '../../generate/watch-list.ts';
import { listPages } from '../../kube/client/read.ts';
import { parsePartialMetadata } from '../../kube/watch/partial-metadata.ts';
import type { Send } from '../../sqs/sender.ts';
import type { TestApiServer } from '../api-server.ts';

/** The name of the only cluster of a test system. */
export const testCluster = 'test';

/** Creates a function that sends the keys of everything that changed since its last call, and returns their number. */
export function createChangeFinder(
  controllers: readonly ControllerDefinition[],
  { client, version }: Pick<TestApiServer, 'client' | 'version'>,
  { send, nowMs }: { readonly send: Send; readonly nowMs: () => number },
): (signal: AbortSignal) => Promise<number> {
  const collections = watchListOf(controllers).resources.map((resource) => ({
    resource,
    known: new Map<string, { readonly key: { name: string; namespace?: string }; readonly object: TrackedObject }>(),
  }));
  let listedAt: number | undefined;
  return async (signal) => {
    const at = version();
    if (at === listedAt) return 0;
    let found = 0;
    for (const { resource, known } of collections) {
      const listed = new Set<string>();
      const affected: AffectedKey[] = [];
      const collection = { resource, cluster: testCluster };
      let listVersion = '';
      const { labelSelector, fieldSelector } = resource;
      for await (const page of listPages(client, resource, { labelSelector, fieldSelector, signal })) {
        listVersion = page.resourceVersion;
        for (const item of page.items) {
          const key = keyOf(item.metadata);
          const id = JSON.stringify([key.namespace, key.name]);
          listed.add(id);
          const after = toTrackedObject(resource, parsePartialMetadata(item, desiredMetadata(resource)));
          const before = known.get(id)?.object;
          known.set(id, { key, object: after });
          if (before?.uid === after.uid && before.resourceVersion === after.resourceVersion) continue;
          affected.push(...affectedKeys(collection, key, before, { type: 'changed', after }));
        }
      }
      for (const [id, { key, object }] of known) {
        if (listed.has(id)) continue;
        known.delete(id);
        affected.push(...affectedKeys(collection, key, object, { type: 'gone', version: listVersion }));
      }
      found += affected.length;
      await sendAll(affected, send, nowMs(), signal);
    }
    listedAt = at;
    return found;
  };
}

async function sendAll(affected: readonly AffectedKey[], send: Send, observedAt: number, signal: AbortSignal) {
  for (const { target, source } of affected) {
    const entry = changeEntry({ target, sources: [source], observedAt });
    await send(controllerQueue(target.controller), [entry], { signal });
  }
}
