// Finds the children of one owner and kind: by the labels that an apply gives them, and for a thorough reconcile also
// those that have lost their labels.
import { controllerLabel, controllerLabelValue, fieldManagerOf, ownerUidLabel } from '../../core/names.ts';
import type { KubeClient } from '../client/client.ts';
import { type KubeObject, parseObject } from '../client/object.ts';
import { getObject, listPages, listPagesAs } from '../client/read.ts';
import { type ChildKind, isOwned, keyOf, uidOf } from './child-object.ts';

/** Which children are read: with `isThorough` and `prune` also those without the labels of Outrigger. */
type OwnedRequest = ChildKind & {
  readonly prune: boolean;
  readonly isThorough?: boolean;
  readonly signal?: AbortSignal | undefined;
};

/** Returns whether an object has the labels by which listOwned finds the children of an owner. */
export function isLabelled(
  { owner, controllerName, project }: ChildKind,
  { metadata: { labels } }: KubeObject,
): boolean {
  const controller = controllerLabelValue(controllerName, project);
  return labels?.[controllerLabel] === controller && labels[ownerUidLabel] === uidOf(owner);
}

/** Reads the children of an owner and kind, by name. Labels can be copied: the controller reference is not checked. */
export async function listOwned(client: KubeClient, request: OwnedRequest): Promise<Map<string, KubeObject>> {
  const { owner, controllerName, project, resource, signal } = request;
  const owned = new Map<string, KubeObject>();
  const controller = controllerLabelValue(controllerName, project);
  const labelSelector = `${controllerLabel}=${controller},${ownerUidLabel}=${uidOf(owner)}`;
  for await (const page of listPages(client, resource, {
    namespace: owner.metadata.namespace,
    labelSelector,
    signal,
  })) {
    for (const item of page.items) owned.set(keyOf(item.metadata), item);
  }
  if (request.isThorough !== true || !request.prune) return owned;
  // A label can be removed while no watcher runs. The children of other owners are not read: they would be read once
  // for each owner.
  const unlabelled = [`${controllerLabel}!=${controller}`, `${controllerLabel}=${controller},!${ownerUidLabel}`];
  for (const selector of unlabelled) {
    const listed = { namespace: owner.metadata.namespace, labelSelector: selector, metadataOnly: true, signal };
    const parse = (item: unknown) => unlistedChild(request, owned, item);
    for await (const { items } of listPagesAs(client, resource, parse, listed)) {
      for (const metadata of items) {
        const child = metadata === undefined ? undefined : await getObject(client, resource, metadata, { signal });
        if (child !== undefined) owned.set(keyOf(child.metadata), child);
      }
    }
  }
  return owned;
}

/**
 * Returns the metadata of a child that was not listed by its labels. The controller must have applied it: other
 * controllers, also those of Kubernetes, give objects the same owner (a Service's EndpointSlices).
 */
function unlistedChild(
  { owner, controllerName, project }: ChildKind,
  listed: ReadonlyMap<string, KubeObject>,
  item: unknown,
) {
  const object = parseObject(item);
  const { metadata } = object;
  if (!isOwned(owner, object) || listed.has(keyOf(metadata))) return undefined;
  const ours = fieldManagerOf(controllerName, project);
  return metadata.managedFields?.some(({ manager }) => manager === ours) === true ? metadata : undefined;
}
