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
