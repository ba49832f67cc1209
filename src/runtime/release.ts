// The verb "release": takes what controllers have left off every object of a collection, so that nothing hangs when they are gone.
//
// Guarantees: each object is one write, of metadata alone; what is done stays done, so that a run that was killed, or that
// failed for some objects, is simply run again. Assumptions: the controllers no longer run; one that does puts all of it back.
import { atATime } from '../core/at-a-time.ts';
import { toError } from '../core/errors.ts';
import { formatKey } from '../core/key.ts';
import { describeKind } from '../core/kind.ts';
import { controllerLabel, ownerAnnotation } from '../core/names.ts';
import type { KubeClient } from '../kube/client/client.ts';
import { isConflict, isGone, isNotFound } from '../kube/client/errors.ts';
import { type KubeObject, parseObject, type ResourceName } from '../kube/client/object.ts';
import { objectPath } from '../kube/client/path.ts';
import { getObject, type ListOptions, listPages } from '../kube/client/read.ts';
import { controllersOn, releasePatch, type Traces } from './traces.ts';

/** A collection, and whose traces are on it. */
export type ReleaseTarget = { readonly resource: ResourceName; readonly traces: Traces };

/** What came of one collection. */
export type ReleaseCount = {
  readonly objects: number;
  /** Objects with traces; in a run that writes, those that were released. */
  readonly ours: number;
  readonly finalizers: number;
  readonly managers: number;
  readonly marks: number;
  /** Objects that are being deleted and wait for a finalizer of ours: what it would clean up outside the cluster stays. */
  readonly deleting: readonly string[];
  readonly failed: readonly { readonly object: string; readonly why: string }[];
};

/** How it is done. */
export type ReleaseOptions = {
  /** Only counts. */
  readonly dryRun: boolean;
  /** Told after every page how many objects were released so far. */
  readonly onProgress?: (released: number) => void;
  readonly signal: AbortSignal;
};

/** Writes at the same time: quick, and no burden to an API server. */
const atOnce = 8;
/** An object that somebody else keeps writing is read again so often. */
const tries = 5;
const pageSeconds = 30;

/** Finds the controllers of a kind by what is on its objects. */
export async function findControllers(
  client: KubeClient,
  resource: ResourceName,
  { signal }: { readonly signal: AbortSignal },
): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  await eachPage(client, resource, { signal }, async (items) => {
    for (const item of items) for (const name of controllersOn(item)) found.add(name);
  });
  return found;
}

/** Releases a collection. Throws what the client throws when it cannot be listed; an object that fails is in the count. */
export async function release(
  client: KubeClient,
  { resource, traces }: ReleaseTarget,
  { dryRun, onProgress, signal }: ReleaseOptions,
): Promise<ReleaseCount> {
  const none = { objects: 0, ours: 0, finalizers: 0, managers: 0, marks: 0 };
  let count = none;
  const deleting: string[] = [];
  const failed: { object: string; why: string }[] = [];
  const visit = async (item: KubeObject) => {
    const takes = releasePatch(item, traces)?.takes;
    if (takes === undefined) return;
    const object = nameOf(item);
    try {
      if (traces.as === 'copy' && (await isOfAChild(client, item, signal))) return;
      if (!dryRun) await releaseOne(client, resource, item, traces, signal);
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      failed.push({ object, why: toError(error).message });
      return;
    }
    count = {
      ...count,
      ours: count.ours + 1,
      finalizers: count.finalizers + takes.finalizers,
      managers: count.managers + takes.managers,
      marks: count.marks + takes.marks,
    };
    if (takes.finalizers > 0 && item.metadata.deletionTimestamp !== undefined) deleting.push(object);
  };
  await eachPage(client, resource, { labelSelector: selectorOf(traces), signal }, async (items, isFirst) => {
    // Begun anew, it meets the same objects again; those that were released by then are counted.
    if (isFirst) count = dryRun ? none : { ...count, objects: 0 };
    count = { ...count, objects: count.objects + items.length };
    await atATime(atOnce, items, visit);
    onProgress?.(count.ours);
  });
  return { ...count, deleting, failed };
}

/**
 * Children are found by our label, whichever controller it names: one that was renamed has put its new name there, and still owns
 * fields under the former. Of the kind itself every object may have something, and copies have no label.
 */
function selectorOf({ as }: Traces): string | undefined {
  return as === 'child' ? controllerLabel : undefined;
}

/** Tells whether what an object was copied from is still a child of ours: then the copy is none that was left over. */
async function isOfAChild(client: KubeClient, { metadata }: KubeObject, signal: AbortSignal): Promise<boolean> {
  const owner = metadata.ownerReferences?.find(({ controller }) => controller === true);
  if (owner === undefined) return false;
  const [version = '', group = ''] = owner.apiVersion.split('/').reverse();
  const place = metadata.namespace === undefined ? {} : { namespace: metadata.namespace };
  const parent = await getObject(
    client,
    describeKind({ group, version, kind: owner.kind }),
    { ...place, name: owner.name },
    { signal },
  );
  return parent?.metadata.annotations?.[ownerAnnotation] !== undefined;
}

async function releaseOne(
  client: KubeClient,
  resource: ResourceName,
  read: KubeObject,
  traces: Traces,
  signal: AbortSignal,
): Promise<void> {
  let object = read;
  for (let attempt = 1; ; attempt += 1) {
    const patch = releasePatch(object, traces);
    if (patch === undefined) return;
    const path = objectPath(resource, object.metadata);
    try {
      const body = { metadata: patch.metadata };
      await client.request({ method: 'PATCH', path, contentType: 'application/merge-patch+json', body, signal });
      return;
    } catch (error) {
      if (isNotFound(error)) return;
      if (!isConflict(error) || attempt === tries) throw error;
    }
    try {
      object = parseObject((await client.request({ method: 'GET', path, signal })).body);
    } catch (error) {
      if (isNotFound(error)) return;
      throw error;
    }
  }
}

/** Lists metadata page by page. A list that grows too old while its objects are written is begun anew: what is done stays done. */
async function eachPage(
  client: KubeClient,
  resource: ResourceName,
  options: Pick<ListOptions, 'labelSelector' | 'signal'>,
  visit: (items: readonly KubeObject[], isFirst: boolean) => Promise<void>,
): Promise<void> {
  for (let pages = 0; ; pages = 0) {
    try {
      for await (const page of listPages(client, resource, {
        ...options,
        metadataOnly: true,
        timeoutSeconds: pageSeconds,
      })) {
        await visit(page.items, pages === 0);
        pages += 1;
      }
      return;
    } catch (error) {
      if (!isGone(error) || pages === 0) throw error;
    }
  }
}

function nameOf({ metadata: { name, namespace } }: KubeObject): string {
  return formatKey(namespace === undefined ? { name } : { name, namespace });
}
