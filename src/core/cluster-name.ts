// The name of a cluster in the clusters table: a part of every message, of metrics, and one level of the name of an SSM
// parameter.

/** What a name must be, for an error. */
export const nameRule = 'not a name of letters, digits, - _ and . (at most 100)';

/** Returns whether a text is valid as a cluster's name. */
export function isClusterName(name: string): boolean {
  return /^[A-Za-z0-9_-][A-Za-z0-9_.-]{0,99}$/.test(name);
}
