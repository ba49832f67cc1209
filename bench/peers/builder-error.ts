// The error of a contestant that cannot be built: one line, in its column of the table.

/** The last lines of npm's output, which only name its log. */
const notTheError = /complete log of this run|Log files were not written/;

/** Resolves as the build does. Rejects with the last line of the builder's output; the cause is the whole error. */
export async function orLastLine<T>(build: Promise<T>): Promise<T> {
  try {
    return await build;
  } catch (error) {
    throw new Error(lastLine(error), { cause: error });
  }
}

/** Returns the last meaningful line: of the output of the program at the root of an error, or else of the error. */
export function lastLine(error: unknown): string {
  let output = String(error);
  for (let at = error; at instanceof Error; at = at.cause) {
    if ('stderr' in at && typeof at.stderr === 'string' && at.stderr.trim() !== '') output = at.stderr;
    else if (output === String(error)) output = at.message;
  }
  const lines = output.split('\n').map((line) => line.trim());
  return lines.findLast((line) => line !== '' && !notTheError.test(line)) ?? String(error);
}
