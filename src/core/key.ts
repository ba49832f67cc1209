// The first word of the system: which object, and nothing else. A key never carries what happened, so that replaying,
// duplicating or reordering keys changes nothing.

/** Names one object of a kind that is known from elsewhere. `namespace` is absent for cluster-scoped kinds. */
export type Key = { readonly namespace?: string; readonly name: string };

/** Names one object of one controller's kind in one cluster: what is reconciled one at a time. */
export type TargetKey = Key & {
  readonly controller: string;
  readonly cluster: string;
  readonly group: string;
  readonly resource: string;
};

/** Writes a key as people write it: `namespace/name`, or `name` for a cluster-scoped object. */
export function formatKey({ namespace, name }: Key): string {
  return namespace === undefined ? name : `${namespace}/${name}`;
}

/** Writes a target as `controller:cluster:resource.group/namespace/name`, one string for one object of one controller. */
export function formatTarget(target: TargetKey): string {
  const collection = target.group === '' ? target.resource : `${target.resource}.${target.group}`;
  return `${target.controller}:${target.cluster}:${collection}/${target.namespace ?? ''}/${target.name}`;
}

/**
 * Tells whether a name may stand as one segment of an API path (Kubernetes' path-segment rule, IsValidPathSegmentName):
 * not `.` or `..`, neither `/` nor `%`, not empty. RBAC names contain `:`, so this is the widest rule that holds for all kinds.
 */
export function isPathSegment(name: string): boolean {
  return name !== '' && name !== '.' && name !== '..' && !name.includes('/') && !name.includes('%');
}
