// Compares resourceVersions. Since KEP-5504 (Kubernetes 1.35), two resourceVersions of the same resource can be
// compared as integers. Those of aggregated APIs are opaque, so a comparison may have no result.

/**
 * Compares two resourceVersions of one resource. Returns a negative number if `a` is older, 0 if they are equal, a
 * positive number if `a` is newer, and undefined if they differ and one is not a decimal integer.
 */
export function compareVersions(a: string, b: string): number | undefined {
  if (a === b) return 0;
  if (!isComparable(a) || !isComparable(b)) return undefined;
  // Without leading zeros, the longer number is the larger one.
  if (a.length !== b.length) return a.length - b.length;
  return a < b ? -1 : 1;
}

/** Returns whether a resourceVersion is well-formed by KEP-5504: decimal digits without a leading zero. */
export function isComparable(version: string): boolean {
  return /^[1-9]\d*$/.test(version);
}
