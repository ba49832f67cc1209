// Finds the children of one owner and kind: by the labels that an apply gives them, by the names that a message has of
// those that may have lost these labels (strays), and for a thorough reconcile by a list of all others. Decides which
// objects are children, and what a child without its labels or its controller reference gets back.

import { isRecord } from '../../core/json.ts';
import { formatKey } from '../../core/key.ts';
import {
  controllerLabel,
  controllerLabelValue,
  controllerOfManager,
  fieldManagerOf,
  ownerAnnotation,
  ownerUidLabel,
} from '../../core/names.ts';
import { controllerUidOf } from '../../core/owner.ts';
import type { KubeClient } from '../client/client.ts';
import { type KubeObject, type ObjectKey, parseObject } from '../client/object.ts';
import { getObject, listPages, listPagesAs } from '../client/read.ts';
import { type ChildKind, type DesiredChild, isElsewhere, isOwned, uidOf } from './child-object.ts';
import { ownedFields } from './managed-fields.ts';

/** Which children are read: also the strays that are named, and with `isThorough` all without the labels. */
type OwnedRequest = ChildKind & {
  readonly isThorough?: boolean;
  readonly strays?: readonly ObjectKey[];
  readonly signal?: AbortSignal | undefined;
};

/** Reads the children of an owner and kind, by name. Labels can be copied: the controller reference is not checked. */
export async function listOwned(client: KubeClient, request: OwnedRequest): Promise<Map<string, KubeObject>> {
  const { owner, controllerName, project, resource, signal } = request;
  const owned = new Map<string, KubeObject>();
  const controller = controllerLabelValue(controllerName, project);
  const labelSelector = `${controllerLabel}=${controller},${ownerUidLabel}=${uidOf(owner)}`;
  const { namespace } = owner.metadata;
  const everywhere = request.inAnyNamespace === true;
  const within = { namespace: everywhere ? undefined : namespace, signal };
  for await (const page of listPages(client, resource, { ...within, labelSelector })) {
    for (const item of page.items) owned.set(formatKey(item.metadata), item);
  }
  for (const key of request.strays ?? []) {
    if (owned.has(formatKey(key)) || resource.namespaced !== (key.namespace !== undefined)) continue;
    const live = await getObject(client, resource, key, { signal });
    if (live !== undefined && (await isUnlisted(request, live))) owned.set(formatKey(live.metadata), live);
  }
  if (request.isThorough !== true) return owned;
  // A label can be removed while no watcher runs. The children of other owners are not read: they would be read once
  // for each owner.
  const unlabelled = [
    { namespace, labelSelector: `${controllerLabel}!=${controller}` },
    { namespace, labelSelector: `${controllerLabel}=${controller},!${ownerUidLabel}` },
    // Outside of the namespace a child is known by the label of its owner's uid.
    ...(everywhere ? [{ labelSelector: `${controllerLabel}!=${controller},${ownerUidLabel}=${uidOf(owner)}` }] : []),
  ];
  for (const selected of unlabelled) {
    const listed = { ...selected, metadataOnly: true, signal };
    for await (const { items } of listPagesAs(client, resource, parseObject, listed)) {
      for (const item of items) {
        if (owned.has(formatKey(item.metadata)) || !(await isUnlisted(request, item))) continue;
        const child = await getObject(client, resource, item.metadata, { signal });
        if (child !== undefined) owned.set(formatKey(child.metadata), child);
      }
    }
  }
  return owned;
}

/**
 * Returns whether an object that the labels did not find is a child. The controller must have applied it: other
 * controllers, also those of Kubernetes, give objects the same owner (a Service's EndpointSlices). One that another
 * controller of the project has applied since, and labelled as its own, is that controller's.
 */
async function isUnlisted(request: OwnedRequest, object: KubeObject): Promise<boolean> {
  const { controllerName, project } = request;
  const { labels, managedFields = [] } = object.metadata;
  const ours = fieldManagerOf(controllerName, project);
  if (!managedFields.some(({ manager }) => manager === ours)) return false;
  const isOfAnother = managedFields.some(({ manager = '', operation }) => {
    const other = operation === 'Apply' ? controllerOfManager(manager, project) : undefined;
    const label = other === undefined ? undefined : controllerLabelValue(other, project);
    return other !== controllerName && label !== undefined && label === labels?.[controllerLabel];
  });
  return !isOfAnother && (await isChild(request, object));
}

/**
 * Returns whether an object is a child of the owner: controlled by it, or marked as its child and outside of its
 * namespace, or without the reference that said so. While the owner is being deleted, the garbage collector may have
 * removed that (--cascade=orphan).
 */
export async function isChild(request: ChildKind, live: KubeObject): Promise<boolean> {
  const { owner } = request;
  if (isOwned(owner, live)) return true;
  if (!isMarkedChild(request, live)) return false;
  if (isElsewhere(owner, live.metadata)) return true;
  return owner.metadata.deletionTimestamp === undefined && ((await request.isOwnerKept?.()) ?? true);
}

/**
 * Returns whether an object without a controller reference is marked as a child: it has the uid of its owner as a
 * label, and the controller has applied it. Both can be forged by who can forge the reference.
 */
function isMarkedChild({ owner, controllerName, project }: ChildKind, live: KubeObject): boolean {
  if (controllerUidOf(live) !== undefined || live.metadata.labels?.[ownerUidLabel] !== uidOf(owner)) return false;
  const ours = fieldManagerOf(controllerName, project);
  return live.metadata.managedFields?.some((one) => one.manager === ours && one.operation === 'Apply') === true;
}

/**
 * Returns whether an object that is no child may become one on request: nothing controls it, and it has not the labels
 * of another controller, nor those of another owner (one of the same name that was deleted is the same to its author).
 */
export function isAdoptable({ owner, controllerName, project }: ChildKind, live: KubeObject): boolean {
  const { labels = {}, annotations = {} } = live.metadata;
  const { [controllerLabel]: controller, [ownerUidLabel]: uid } = labels;
  if (owner.metadata.deletionTimestamp !== undefined || controllerUidOf(live) !== undefined) return false;
  if (controller !== undefined && controller !== controllerLabelValue(controllerName, project)) return false;
  return uid === undefined || uid === uidOf(owner) || annotations[ownerAnnotation] === formatKey(owner.metadata);
}

/** Returns what the controller owns of an existing child; undefined if it owns nothing. */
export function withOwnFields({ controllerName, project }: ChildKind, live: KubeObject): DesiredChild | undefined {
  const fields = ownedFields(live, fieldManagerOf(controllerName, project));
  if (fields === undefined) return undefined;
  const own = isRecord(fields.metadata) ? fields.metadata : {};
  const { name, namespace, labels, annotations } = live.metadata;
  const among = (all: Readonly<Record<string, string>> = {}, owned: unknown) =>
    Object.fromEntries(Object.entries(all).filter(([key]) => isRecord(owned) && key in owned));
  const metadata = { labels: among(labels, own.labels), annotations: among(annotations, own.annotations) };
  return { ...fields, metadata: { name, namespace, ...metadata } };
}

/** Returns whether a child has its controller reference, and the labels by which each reconcile finds it. */
export function isIntact({ owner, controllerName, project }: ChildKind, live: KubeObject): boolean {
  const { labels } = live.metadata;
  const controller = controllerLabelValue(controllerName, project);
  const isLabelled = labels?.[controllerLabel] === controller && labels[ownerUidLabel] === uidOf(owner);
  return isLabelled && (isElsewhere(owner, live.metadata) || isOwned(owner, live));
}
