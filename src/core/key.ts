// The key of an object: which object, and nothing else. A key never carries what changed, so replaying, duplicating or
// reordering keys does not change the result.

/** Names one object of a kind that the context determines. `namespace` is absent for cluster-scoped kinds. */
export type Key = {
  /** The namespace. */
  readonly namespace?: string;
  /** The name. */
  readonly name: string;
};

/** Names one object of one controller's kind in one cluster. A ReconcileKey is reconciled once at a time. */
export type ReconcileKey = Key & {
  readonly controller: string;
  readonly cluster: string;
  readonly group: string;
  readonly resource: string;
};

/** A key, or what names an object as one does: its metadata, or a message. */
type Named = { readonly name: string; readonly namespace?: string | undefined };

/** Makes the key of what names an object. */
export function keyOf({ namespace, name }: Named): Key {
  return namespace === undefined ? { name } : { namespace, name };
}

/** Formats a key as `namespace/name`, or as `name` for a cluster-scoped object. */
export function formatKey({ namespace, name }: Named): string {
  return namespace === undefined ? name : `${namespace}/${name}`;
}

/** Formats a collection as the API server names its CRD: `watertanks.plant.example.com`, `pods` in the core group. */
export function collectionName({ group, plural }: { readonly group: string; readonly plural: string }): string {
  return group === '' ? plural : `${plural}.${group}`;
}

/** Formats a key as `controller:cluster:resource.group/namespace/name`. */
export function formatReconcileKey(key: ReconcileKey): string {
  const collection = collectionName({ group: key.group, plural: key.resource });
  return `${key.controller}:${key.cluster}:${collection}/${key.namespace ?? ''}/${key.name}`;
}

/** The longest name of a key: that of a custom resource. Of the built-in kinds, those of RBAC may have longer ones. */
export const maxNameCharacters = 253;

/**
 * Returns whether a name is valid as one segment of an API path, as Kubernetes' IsValidPathSegmentName does: it is not
 * empty, not `.` or `..`, and contains neither `/` nor `%`. RBAC names contain `:`, so no narrower rule fits all kinds.
 * Half of a surrogate pair is valid in JSON, and cannot be encoded in a path.
 */
export function isPathSegment(name: string): boolean {
  return name !== '' && name !== '.' && name !== '..' && !/[/%]/.test(name) && name.isWellFormed();
}
