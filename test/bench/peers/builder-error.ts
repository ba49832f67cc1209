// What the bench says of a contestant that cannot be built: one line, in its column of the table.

/** npm ends everything it says with where its log is. */
const notTheError = /complete log of this run|Log files were not written/;

/** Resolves as the building does. Rejects with the last line of what the builder said, whose whole error is the cause. */
export async function orLastLine<T>(building: Promise<T>): Promise<T> {
  try {
    return await building;
  } catch (error) {
    throw new Error(lastLine(error), { cause: error });
  }
}

/** Returns the last line that says something: of what the program at the root of an error wrote, or else of the error. */
export function lastLine(error: unknown): string {
  let said = String(error);
  for (let at = error; at instanceof Error; at = at.cause) {
    if ('stderr' in at && typeof at.stderr === 'string' && at.stderr.trim() !== '') said = at.stderr;
    else if (said === String(error)) said = at.message;
  }
  const lines = said.split('\n').map((line) => line.trim());
  return lines.findLast((line) => line !== '' && !notTheError.test(line)) ?? String(error);
}
