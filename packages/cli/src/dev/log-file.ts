// The log of the functions and watchers of the local system, as one JSON object a line: outrigger logs, history and
// explain read it. It begins empty with the system, and its size is bounded.
import { appendFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { toError } from 'outrigger/internal/core/errors';

/** The name of the log in the folder of the local system. */
export const logFileName = 'log.jsonl';

/** The file is renamed at this size, and the one before is deleted. */
const maxBytes = 32 * 1024 * 1024;

/** The path of the file before, of a long-running system. */
export function olderLogFile(file: string): string {
  return `${file}.1`;
}

/**
 * Creates the log. `write` appends one line. A full disk is reported at the first line that is lost, and stops nothing:
 * the log is no part of the system.
 */
export function createLogFile(
  file: string,
  { onFailed = () => undefined }: { readonly onFailed?: (error: Error) => void } = {},
): { write(line: string): void } {
  for (const one of [file, olderLogFile(file)]) rmSync(one, { force: true });
  let bytes = 0;
  let isFailing = false;
  return {
    write: (line) => {
      try {
        if (bytes > maxBytes) {
          renameSync(file, olderLogFile(file));
          bytes = 0;
        }
        appendFileSync(file, `${line}\n`, { mode: 0o600 });
        bytes += Buffer.byteLength(line) + 1;
        isFailing = false;
      } catch (error) {
        if (!isFailing) onFailed(toError(error));
        isFailing = true;
        bytes = sizeOf(file);
      }
    },
  };
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}
