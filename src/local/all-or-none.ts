// Starting what does not depend on each other at the same time, without losing sight of what was started.

/** Starts several things at once. When one fails the others are told, and waited for: whatever they started must be known. */
export async function allOrNone<T extends readonly unknown[]>(
  signal: AbortSignal,
  begin: (starting: AbortSignal) => { readonly [K in keyof T]: Promise<T[K]> },
): Promise<T> {
  const failed = new AbortController();
  const work = begin(AbortSignal.any([signal, failed.signal]));
  try {
    return await Promise.all(work);
  } catch (error) {
    failed.abort(error);
    await Promise.allSettled(work);
    throw error;
  }
}
