// Resource versions are opaque, except that since KEP-5504 (Kubernetes 1.35) two of one resource may be compared as
// integers. Those of aggregated APIs may be anything, so "cannot tell" is an answer here.

/**
 * Compares two versions of one resource: negative when `a` is older, 0 when equal, positive when newer; undefined when
 * either is no decimal integer and they differ.
 */
export function compareVersions(a: string, b: string): number | undefined {
  if (a === b) return 0;
  if (!isComparable(a) || !isComparable(b)) return undefined;
  if (a.length !== b.length) return a.length - b.length;
  return a < b ? -1 : 1;
}

/** Tells KEP-5504's well-formed version: decimal digits without a leading zero, so that comparing lengths compares sizes. */
export function isComparable(version: string): boolean {
  return /^[1-9]\d*$/.test(version);
}
