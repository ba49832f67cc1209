// The labels, the annotation and the controller reference that make an object a child of an owner, and the check that
// an object is one.
import { givenValues } from '../../api/set-metadata.ts';
import { isRecord } from '../../core/json.ts';
import { formatKey } from '../../core/key.ts';
import { controllerLabel, controllerLabelValue, ownerAnnotation, ownerUidLabel } from '../../core/names.ts';
import { controllerUidOf } from '../../core/owner.ts';
import type { KubeObject, ParsedOwnerReference, ResourceName } from '../client/object.ts';
import { inexactText, isInexact } from '../client/wire-text.ts';

/** A desired child: its name, labels and annotations, and the fields that the controller sets. */
export type DesiredChild = {
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string | undefined;
    readonly labels?: Readonly<Record<string, string>> | undefined;
    readonly annotations?: Readonly<Record<string, string>> | undefined;
  };
  readonly [field: string]: unknown;
};

/** The kind of the children, their owner and their controller. */
export interface ChildKind {
  /** The owner as it was read, with apiVersion, kind, name and uid. */
  readonly owner: KubeObject;
  readonly controllerName: string;
  /** The project of the controller. Absent: the default one. */
  readonly project?: string | undefined;
  /** What is remembered of an apply is of this cluster alone. */
  readonly cluster?: string | undefined;
  readonly resource: ResourceName;
  readonly apiVersion: string;
  readonly kind: string;
  /** Whether children of a namespaced owner may be in other namespaces. Absent: no. */
  readonly inAnyNamespace?: true | undefined;
  /** Whether null is a value, as in a kind of the project, whose schema says which fields are nullable. */
  readonly keepsNull?: boolean | undefined;
  /**
   * Reads whether the owner still exists and is not being deleted, before an object without a controller reference is
   * treated as its child. Absent: as it was read.
   */
  readonly isOwnerKept?: (() => Promise<boolean>) | undefined;
}

/** Completes a desired child into the object to apply. Throws a TypeError for a child outside its owner's namespace. */
export function childObject(request: ChildKind, desired: DesiredChild): KubeObject {
  const { owner, controllerName, project, resource, apiVersion, kind } = request;
  const controller = controllerLabelValue(controllerName, project);
  const { name, labels, annotations } = desired.metadata;
  const namespace = desired.metadata.namespace ?? owner.metadata.namespace;
  const isFar = isElsewhere(owner, { namespace });
  checkPlace(request, desired.metadata, owner.metadata);
  return {
    ...encodedSecret(resource, wireFields(desired, request.keepsNull === true)),
    apiVersion,
    kind,
    metadata: {
      name,
      ...(resource.namespaced ? { namespace } : {}),
      labels: { ...givenValues(labels), [controllerLabel]: controller, [ownerUidLabel]: uidOf(owner) },
      annotations: { ...givenValues(annotations), [ownerAnnotation]: formatKey(owner.metadata) },
      ...(isFar ? {} : { ownerReferences: [ownerReference(owner)] }),
    },
  };
}

/** Throws a TypeError for a child outside its owner's namespace. */
export function checkPlace(
  { resource, kind, inAnyNamespace }: Pick<ChildKind, 'resource' | 'kind' | 'inAnyNamespace'>,
  { name, namespace }: DesiredChild['metadata'],
  owner: { readonly name: string; readonly namespace?: string | undefined },
): void {
  const place = namespace ?? owner.namespace;
  const isAllowed = resource.namespaced
    ? place !== undefined && (inAnyNamespace || owner.namespace === undefined || place === owner.namespace)
    : owner.namespace === undefined;
  if (isAllowed) return;
  if (resource.namespaced && place === undefined)
    throw new TypeError(`${kind} ${name} needs metadata.namespace, as ${formatKey(owner)} has none`);
  throw new TypeError(
    `${kind} ${name} cannot be a child of ${formatKey(owner)}: it is outside the owner's namespace; ` +
      (resource.namespaced
        ? `give inAnyNamespace(${kind}) to owns and to this call`
        : "reconcile a cluster-scoped kind, such as Namespace or one with scope: 'Cluster'"),
  );
}

/**
 * Encodes a Secret's stringData into data, as the API server does. The server stores no stringData, so an apply of it
 * would look like a difference each time, and would neither own the keys nor remove them. Throws a TypeError for a
 * value that is no string, which the server's error would show in the status and in logs, and for one that is no
 * base64.
 */
export function encodedSecret(
  { group, plural }: Pick<ResourceName, 'group' | 'plural'>,
  fields: Record<string, unknown>,
): Record<string, unknown> {
  if (group !== '' || plural !== 'secrets') return fields;
  const { stringData, data, ...rest } = fields;
  if (data === undefined && stringData === undefined) return rest;
  const encoded = secretValues('stringData', stringData).map(([key, value]) => [
    key,
    Buffer.from(value).toString('base64'),
  ]);
  return { ...rest, data: Object.fromEntries([...secretValues('data', data), ...encoded]) };
}

/** What Go's decoder accepts, without its line breaks. */
const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

function secretValues(field: string, values: unknown = {}): readonly (readonly [string, string])[] {
  if (!isRecord(values)) throw new TypeError(`${field} of a Secret is not an object`);
  return Object.entries(values).map(([key, value]) => {
    if (typeof value !== 'string') throw new TypeError(`${field}.${key} of a Secret is not a string`);
    if (field === 'data' && !base64.test(value.replaceAll(/[\r\n]/g, '')))
      throw new TypeError(`data.${key} of a Secret is not base64; give it as stringData`);
    return [key, value];
  });
}

/**
 * Writes times as text, half a character as U+FFFD, which the API stores, and omits null fields unless null is a value:
 * the API converts a null to another value (an empty string in a ConfigMap, a default), and an apply of it takes the
 * field from its other manager. Throws a TypeError for a number that JSON cannot express, which would become null and
 * the field be left out, or that may not be exact.
 */
function wireFields(fields: Readonly<Record<string, unknown>>, keepsNull: boolean, path = ''): Record<string, unknown> {
  const kept = Object.entries(fields).filter(([, value]) => value !== undefined && (keepsNull || value !== null));
  return Object.fromEntries(
    kept.map(([name, value]) => [name.toWellFormed(), wireValue(value, keepsNull, `${path}${name}`)]),
  );
}

function wireValue(value: unknown, keepsNull: boolean, path: string): unknown {
  if (Array.isArray(value)) return value.map((one, index) => wireValue(one, keepsNull, `${path}[${index}]`));
  const isTime = value instanceof Date;
  if (isTime && Number.isNaN(value.getTime())) throw new TypeError(`${path}: ${String(value)} is not a value of JSON`);
  if (typeof value === 'number' && isInexact(value)) throw new TypeError(inexactText(value, path));
  if (isTime) return value.toISOString();
  if (typeof value === 'string') return value.toWellFormed();
  return isRecord(value) ? wireFields(value, keepsNull, `${path}.`) : value;
}

function ownerReference(owner: KubeObject): ParsedOwnerReference {
  const { apiVersion, kind } = owner;
  if (apiVersion === undefined || kind === undefined) throw new TypeError('the owner has no apiVersion or kind');
  return { apiVersion, kind, name: owner.metadata.name, uid: uidOf(owner), controller: true, blockOwnerDeletion: true };
}

/**
 * Returns whether a child is outside of its owner's namespace. It has no reference to the owner: the garbage collector
 * would look for the owner in the child's namespace, and delete the child.
 */
export function isElsewhere(owner: KubeObject, { namespace }: { readonly namespace?: string | undefined }): boolean {
  return owner.metadata.namespace !== undefined && namespace !== owner.metadata.namespace;
}

/** Returns whether this owner controls an object, by uid. */
export function isOwned(owner: KubeObject, live: KubeObject): boolean {
  return controllerUidOf(live) === uidOf(owner);
}

/** Returns an object's uid. Throws a TypeError for an object that was not read from the API. */
export function uidOf({ metadata }: KubeObject): string {
  if (metadata.uid === undefined)
    throw new TypeError(`${metadata.name} has no uid: an owner has to be an object that was read from the API`);
  return metadata.uid;
}
