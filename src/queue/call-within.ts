// The deadline of every call to SQS. The SDK looks at a signal only while it is on the wire, not while it waits for
// credentials, so a call that hangs there is given up here.

/** Makes a call and gives it up after so many seconds or when the signal aborts. Rejects with the call's error, the signal's reason, or an Error naming the deadline. */
export async function callWithin<T>(
  seconds: number,
  signal: AbortSignal | undefined,
  call: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const over = new AbortController();
  const abort = () => over.abort(signal?.reason);
  if (signal?.aborted === true) abort();
  over.signal.throwIfAborted();
  const timer = setTimeout(() => over.abort(new Error(`no answer within ${seconds} s`)), seconds * 1000);
  signal?.addEventListener('abort', abort, { once: true });
  const givenUp = new Promise<never>((_, reject) => {
    over.signal.addEventListener('abort', () => reject(over.signal.reason), { once: true });
  });
  try {
    return await Promise.race([call(over.signal), givenUp]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', abort);
  }
}
