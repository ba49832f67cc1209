// Detaches controllers from the objects of a collection: removes their finalizers, field ownership and labels, so that
// no object is stuck in deletion after the controllers have been removed.
//
// Guarantees: each object gets one write, of its metadata only. The operation is idempotent: it can be rerun after it
// was killed, or after it failed for some objects. Assumptions: the controllers no longer run, or with `finalizersOnly`
// have no finalize any more. A running controller writes all else again.

import { forEachConcurrently } from 'outrigger/internal/core/async';
import { toError } from 'outrigger/internal/core/errors';
import { formatKey } from 'outrigger/internal/core/key';
import { describeKind } from 'outrigger/internal/core/kind-names';
import { controllerLabel, ownerAnnotation } from 'outrigger/internal/core/names';
import type { KubeClient } from 'outrigger/internal/kube/client/client';
import { continueTokenOf, isConflict, isGone, isNotFound } from 'outrigger/internal/kube/client/errors';
import { type KubeObject, parseObject, type ResourceName } from 'outrigger/internal/kube/client/object';
import { objectPath } from 'outrigger/internal/kube/client/path';
import { getObject, type ListOptions, listPages } from 'outrigger/internal/kube/client/read';
import { controllersOn, type DetachScope, detachPatch, isLeftToController } from './detach-patch.ts';

/** A collection, and the controllers to detach from it. */
export type DetachTarget = { readonly resource: ResourceName; readonly scope: DetachScope };

/** The result for one collection. */
export type DetachCount = {
  readonly objects: number;
  /** The objects with metadata of the controllers; without `dryRun`, the objects that were detached. */
  readonly affected: number;
  readonly finalizers: number;
  readonly managers: number;
  /** Labels, annotations and controller references. */
  readonly metadata: number;
  /**
   * Objects that are being deleted and have a finalizer of the controllers. With `finalizersOnly` they keep it. Without
   * it, their external resources are not cleaned up.
   */
  readonly deleting: readonly string[];
  readonly failed: readonly { readonly object: string; readonly reason: string }[];
};

/** The options of detaching. */
export type DetachOptions = {
  /** Counts, and writes nothing. */
  readonly dryRun: boolean;
  /** Called after every page with the number of objects that were detached so far. */
  readonly onProgress?: (detached: number) => void;
  readonly signal: AbortSignal;
};

/** Concurrent writes: fast, without overloading the API server. */
const concurrency = 8;
/** Attempts for an object that other writers keep changing. */
const maxAttempts = 5;
const pageSeconds = 30;
/** How often a list may expire. A token is valid for five minutes. */
const maxExpired = 20;

/** Returns the controllers that left metadata on the objects of their kind. */
export async function findControllers(
  client: KubeClient,
  resource: ResourceName,
  { project, signal }: { readonly project?: string | undefined; readonly signal: AbortSignal },
): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  await eachPage(client, resource, { signal }, async (items) => {
    for (const item of items) for (const name of controllersOn(item, project)) found.add(name);
  });
  return found;
}

/**
 * Detaches the objects of a collection. Throws the client's error if the list fails. An object that fails is in the
 * result.
 */
export async function detach(
  client: KubeClient,
  { resource, scope }: DetachTarget,
  { dryRun, onProgress, signal }: DetachOptions,
): Promise<DetachCount> {
  const zero = { objects: 0, affected: 0, finalizers: 0, managers: 0, metadata: 0 };
  let count = zero;
  const deleting = new Set<string>();
  const failed: { object: string; reason: string }[] = [];
  const detachItem = async (item: KubeObject) => {
    const object = formatKey(item.metadata);
    if (isLeftToController(item, scope)) deleting.add(object);
    const removes = detachPatch(item, scope)?.removes;
    if (removes === undefined) return;
    try {
      if (scope.as === 'copy' && (await isCopyOfChild(client, item, signal))) return;
      if (!dryRun) await detachOne(client, resource, item, scope, signal);
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      failed.push({ object, reason: toError(error).message });
      return;
    }
    count = {
      ...count,
      affected: count.affected + 1,
      finalizers: count.finalizers + removes.finalizers,
      managers: count.managers + removes.managers,
      metadata: count.metadata + removes.metadata,
    };
    if (removes.finalizers > 0 && item.metadata.deletionTimestamp !== undefined) deleting.add(object);
  };
  await eachPage(client, resource, { labelSelector: selectorOf(scope), signal }, async (items, isFirst) => {
    // A restarted list returns the same objects again. Objects that were detached before stay counted.
    if (isFirst) count = dryRun ? zero : { ...count, objects: 0 };
    count = { ...count, objects: count.objects + items.length };
    await forEachConcurrently(concurrency, items, detachItem);
    onProgress?.(count.affected);
  });
  return { ...count, deleting: [...deleting], failed };
}

/**
 * Children are selected by the controller label with any value: a controller that was renamed has written its new name
 * there, and still owns fields under its former name. Objects of the kind itself and copies have no label, so all of
 * them are listed.
 */
function selectorOf({ as }: DetachScope): string | undefined {
  return as === 'child' ? controllerLabel : undefined;
}

/** Returns whether the object is a copy of an existing child. Its annotation then belongs to that child, and stays. */
async function isCopyOfChild(client: KubeClient, { metadata }: KubeObject, signal: AbortSignal): Promise<boolean> {
  const owner = metadata.ownerReferences?.find(({ controller }) => controller === true);
  if (owner === undefined) return false;
  const [version = '', group = ''] = owner.apiVersion.split('/').reverse();
  const parent = await getObject(
    client,
    describeKind({ group, version, kind: owner.kind }),
    { namespace: metadata.namespace, name: owner.name },
    { signal },
  );
  return parent?.metadata.annotations?.[ownerAnnotation] !== undefined;
}

async function detachOne(
  client: KubeClient,
  resource: ResourceName,
  read: KubeObject,
  scope: DetachScope,
  signal: AbortSignal,
): Promise<void> {
  let object = read;
  for (let attempt = 1; ; attempt += 1) {
    const patch = detachPatch(object, scope);
    if (patch === undefined) return;
    const path = objectPath(resource, object.metadata);
    try {
      const body = { metadata: patch.metadata };
      await client.request({ method: 'PATCH', path, contentType: 'application/merge-patch+json', body, signal });
      return;
    } catch (error) {
      if (isNotFound(error)) return;
      if (!isConflict(error) || attempt === maxAttempts) throw error;
    }
    try {
      object = parseObject((await client.request({ method: 'GET', path, signal })).body);
    } catch (error) {
      if (isNotFound(error)) return;
      throw error;
    }
  }
}

/**
 * Lists metadata page by page. If the continue token expires, the new token of the error continues the list with the
 * current state: the controllers no longer run, so an object that was created meanwhile has nothing of theirs. Without
 * a new token the list is restarted. Objects that were detached need no second write.
 */
export async function eachPage(
  client: KubeClient,
  resource: ResourceName,
  options: Pick<ListOptions, 'labelSelector' | 'signal'>,
  onPage: (items: readonly KubeObject[], isFirst: boolean) => Promise<void>,
): Promise<void> {
  let token: string | undefined;
  for (let expired = 0; ; expired += 1) {
    let pages = 0;
    try {
      for await (const page of listPages(client, resource, {
        ...options,
        continue: token,
        metadataOnly: true,
        timeoutSeconds: pageSeconds,
      })) {
        await onPage(page.items, token === undefined && pages === 0);
        pages += 1;
      }
      return;
    } catch (error) {
      if (!isGone(error) || pages === 0 || expired === maxExpired) throw error;
      token = continueTokenOf(error);
    }
  }
}
