// Booleans in queries, as Kubernetes reads them: clients in Python write `watch=True` (apimachinery, conversion.go).

/** Returns whether an option is true: every value is, also an empty one, but `false` and `0`. Undefined without one. */
export function isSet(query: URLSearchParams, name: string): boolean | undefined {
  const value = query.get(name)?.toLowerCase();
  return value === undefined ? undefined : value !== 'false' && value !== '0';
}
