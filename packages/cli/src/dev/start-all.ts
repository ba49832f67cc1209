// Starts several parts of the local system at the same time.

/**
 * Starts several parts at the same time. If one fails the others are aborted, and waited for: each started part must be
 * stopped.
 */
export async function startAll<T extends readonly unknown[]>(
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
