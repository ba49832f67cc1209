// What makes an object a child of ours: its labels, its annotation and its controller reference; and how it is told from what
// is somebody else's.

import { controllerUidOf } from '../../core/owner.ts';
import { formatKey } from '../../core/key.ts';
import { controllerLabel, ownerAnnotation, ownerUidLabel } from '../../core/names.ts';
import type { KubeObject, OwnerReference, ResourceName } from '../client/object.ts';
import { isRecord } from '../record.ts';

/** A wanted child: its name, labels and annotations, and whatever of it is ours to say. */
export interface DesiredChild {
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string | undefined;
    readonly labels?: Readonly<Record<string, string>> | undefined;
    readonly annotations?: Readonly<Record<string, string>> | undefined;
  };
  readonly [field: string]: unknown;
}

/** Which kind of children, and whose. */
export interface ChildKind {
  /** The owner as it was read: apiVersion, kind, name and uid are needed. */
  readonly owner: KubeObject;
  readonly controllerName: string;
  readonly resource: ResourceName;
  readonly apiVersion: string;
  readonly kind: string;
}

/** Completes a wanted child into what is applied. Throws a TypeError for a child outside its owner's namespace. */
export function childObject(request: ChildKind, desired: DesiredChild): KubeObject {
  const { owner, controllerName, resource, apiVersion, kind } = request;
  const { name, labels, annotations } = desired.metadata;
  const home = owner.metadata.namespace;
  const namespace = desired.metadata.namespace ?? home;
  if (
    resource.namespaced ? namespace === undefined || (home !== undefined && namespace !== home) : home !== undefined
  ) {
    throw new TypeError(
      `${kind} ${name} cannot be a child of ${keyOf(owner.metadata)}: it would live outside its namespace`,
    );
  }
  return {
    ...withoutNulls(desired),
    apiVersion,
    kind,
    metadata: {
      name,
      ...(resource.namespaced ? { namespace } : {}),
      labels: { ...labels, [controllerLabel]: controllerName, [ownerUidLabel]: uidOf(owner) },
      annotations: { ...annotations, [ownerAnnotation]: keyOf(owner.metadata) },
      ownerReferences: [ownerReference(owner)],
    },
  };
}

/** The API turns a null into whatever it likes (an empty text in a ConfigMap), so "nothing" is said by leaving it out. */
function withoutNulls(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const kept = Object.entries(fields).filter(([, value]) => value !== null && value !== undefined);
  return Object.fromEntries(kept.map(([name, value]) => [name, withoutNullsInside(value)]));
}

function withoutNullsInside(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNullsInside);
  return isRecord(value) ? withoutNulls(value) : value;
}

function ownerReference(owner: KubeObject): OwnerReference {
  const { apiVersion, kind } = owner;
  if (apiVersion === undefined || kind === undefined) throw new TypeError('an owner without apiVersion or kind');
  return { apiVersion, kind, name: owner.metadata.name, uid: uidOf(owner), controller: true, blockOwnerDeletion: true };
}

/** Tells whether an object's controller is this owner: this very one, by uid. */
export function isOwned(owner: KubeObject, live: KubeObject): boolean {
  return controllerUidOf(live) === uidOf(owner);
}

/** Returns an object's uid. Throws a TypeError for an object that was never read. */
export function uidOf({ metadata }: KubeObject): string {
  if (metadata.uid === undefined)
    throw new TypeError(`${metadata.name} has no uid: an owner is an object that was read`);
  return metadata.uid;
}

/** Writes `namespace/name` of an object's metadata. */
export function keyOf({ name, namespace }: { readonly name: string; readonly namespace?: string | undefined }): string {
  return formatKey(namespace === undefined ? { name } : { name, namespace });
}
