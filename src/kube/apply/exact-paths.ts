// The paths of a child that its controller owns completely, and those that are never its own alone.

/** Returns the names of a dotted path. */
export function namesOf(path: string): readonly string[] {
  return path.split('.');
}

/**
 * Throws a TypeError for a path that a controller cannot own completely: one that is none, the child's own metadata, in
 * which other tools keep their notes (a Deployment's revision), its status, and what contains `spec.replicas`, which an
 * autoscaler sets.
 */
export function checkExactPaths(paths: readonly string[]): void {
  for (const path of paths) {
    const names = namesOf(path);
    if (names.some((name) => !/^[^\s[\]*]+$/.test(name)))
      throw new TypeError(`exact: ${JSON.stringify(path)} is not a path; name fields with dots: spec.ports`);
    if (isShared(names))
      throw new TypeError(`exact: ${path} has fields of others; name what is only yours below it: spec.ports, data`);
  }
}

/** Returns whether a path is, contains or is inside what others set on a child by design. */
export function isShared([root = '', ...rest]: readonly string[]): boolean {
  if (['apiVersion', 'kind', 'metadata', 'status'].includes(root)) return true;
  return root === 'spec' && (rest.length === 0 || (rest.length === 1 && rest[0] === 'replicas'));
}
