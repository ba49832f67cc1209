// The three things a reconcile can say by throwing: try again (any error), do not (TerminalError), and what the runtime
// itself says of an object whose spec it cannot read.

/** Thrown by a reconciler: do not try again until the object changes or the next resync comes. */
export class TerminalError extends Error {
  override readonly name = 'TerminalError';
}

/** An object whose spec the schema in hand cannot read. Shown as Ready=False with reason InvalidSpec. */
export class InvalidSpecError extends Error {
  override readonly name = 'InvalidSpecError';
}

/** A result that is not what the schema allows: the reconciler's own mistake, named by the field's path. */
export class InvalidResultError extends Error {
  override readonly name = 'InvalidResultError';
}

/** A setting that is missing or wrong, named by its environment variable. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError';
}

/**
 * A child's name is taken by an object that is not ours; it is never touched. `names` are `Kind namespace/name`, `live`
 * are the other children, which were made so all the same, as the API server has them.
 */
export class NotOwnedError extends Error {
  override readonly name = 'NotOwnedError';
  readonly names: readonly string[];
  readonly live: readonly object[] | undefined;

  constructor(names: readonly string[], live?: readonly object[]) {
    super(`not ours, left alone: ${names.join(', ')}`);
    this.names = names;
    this.live = live;
  }
}

/** Makes an Error of whatever was thrown. */
export function toError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}
