// Errors of the local system that a person can fix, as one line with the option or field and the fix. Every other error
// is a bug of Outrigger, and keeps its stack.
import { maxCauses, UserError } from 'outrigger/internal/core/errors';

/** The first error code (`ECONNREFUSED`, `EADDRINUSE`) in an error or its causes. */
export function errorCode(error: unknown, causes = 0): string | undefined {
  if (!(error instanceof Error) || causes > maxCauses) return undefined;
  if ('code' in error && typeof error.code === 'string') return error.code;
  const next: readonly unknown[] = error instanceof AggregateError ? [...error.errors, error.cause] : [error.cause];
  return next.map((one) => errorCode(one, causes + 1)).find((code) => code !== undefined);
}

/** Starts a server that listens. Throws UserError with the option for a port that cannot be used. */
export async function explainListening<T>(option: string, port: number, start: () => Promise<T>): Promise<T> {
  try {
    return await start();
  } catch (error) {
    const code = errorCode(error);
    if (code !== 'EADDRINUSE' && code !== 'EACCES') throw error;
    const problem =
      code === 'EADDRINUSE' ? 'is in use; stop what listens there' : 'needs privileges; use one above 1023';
    throw new UserError(`${option} ${port}: the port ${problem}, or leave the option out for a free one`, {
      cause: error,
    });
  }
}

const responseMilliseconds = 3_000;

/** Checks that a server responds at an SQS endpoint. SQS's own errors are left to the later calls. */
export async function explainQueueEndpoint(endpoint: string, signal: AbortSignal): Promise<void> {
  const url = URL.parse(endpoint);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new UserError(`--queue-endpoint ${endpoint}: not an http address; give one like http://127.0.0.1:9324`);
  }
  try {
    // Every response counts, also an error.
    await (
      await fetch(url, { signal: AbortSignal.any([signal, AbortSignal.timeout(responseMilliseconds)]) })
    ).body?.cancel();
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    const code = errorCode(error) ?? `no response within ${responseMilliseconds / 1000} s`;
    const fix = 'start an SQS server there, or leave the option out for the embedded one';
    throw new UserError(`--queue-endpoint ${endpoint}: does not respond (${code}); ${fix}`, { cause: error });
  }
}
