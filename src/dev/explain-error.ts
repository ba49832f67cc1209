// What keeps the local system from starting or from getting there, for a person to mend: one line that says where, which
// field or option, and what to do. Anything else that is thrown is a bug of ours and keeps its stack.

/** A problem of the person who started the system, not of the system. */
export class DevProblem extends Error {
  override readonly name = 'DevProblem';

  constructor(message: string, options?: ErrorOptions) {
    super(message.replaceAll(/\s*[\r\n]+\s*/g, ' '), options);
  }
}

/** The first error code (`ECONNREFUSED`, `EADDRINUSE`) in an error or its causes. */
export function errorCode(error: unknown): string | undefined {
  for (let one = error; one instanceof Error; one = one.cause) {
    if ('code' in one && typeof one.code === 'string') return one.code;
    if (one instanceof AggregateError) {
      const code = one.errors.map(errorCode).find((found) => found !== undefined);
      if (code !== undefined) return code;
    }
  }
  return undefined;
}

/** Starts a server that listens; a port that is taken is a problem that names the option. */
export async function explainListening<T>(option: string, port: number, start: () => Promise<T>): Promise<T> {
  try {
    return await start();
  } catch (error) {
    const code = errorCode(error);
    if (code !== 'EADDRINUSE' && code !== 'EACCES') throw error;
    const why =
      code === 'EADDRINUSE' ? 'is in use; stop what listens there' : 'may not be listened on; take one above 1023';
    throw new DevProblem(`${option} ${port}: the port ${why}, or leave the option out for a free one`, {
      cause: error,
    });
  }
}

const answerMilliseconds = 3_000;

/** Makes sure that something answers at an SQS endpoint; SQS' own errors come later, from the calls that meet them. */
export async function explainQueueEndpoint(endpoint: string, signal: AbortSignal): Promise<void> {
  const url = URL.parse(endpoint);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new DevProblem(`--queue-endpoint ${endpoint}: not an http address; give one like http://127.0.0.1:9324`);
  }
  try {
    // Any answer will do, an error included.
    await (
      await fetch(url, { signal: AbortSignal.any([signal, AbortSignal.timeout(answerMilliseconds)]) })
    ).body?.cancel();
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    const code = errorCode(error) ?? `no answer within ${answerMilliseconds / 1000} s`;
    const what = 'start an SQS server there, or leave the option out for the embedded one';
    throw new DevProblem(`--queue-endpoint ${endpoint}: does not answer (${code}); ${what}`, { cause: error });
  }
}
