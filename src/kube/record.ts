// The one check that turns a piece of somebody else's JSON into something with fields.

/** Tells whether a value is a JSON object: not null, not an array. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
