// Secrets in the settings of controllers: from Secrets Manager, and in local development from files. Entries of the
// clusters table cannot refer to files: the author of an entry also chooses the server that would receive the content.

import { readFile } from 'node:fs/promises';
import type { SecretReader } from '../../api/secret.ts';
import { toError, UserError } from '../../core/errors.ts';

const filePrefix = 'file:';

/** Adds `file:` references to a reader. A file is read at each use, and its surrounding whitespace is removed. */
export function withFileSecrets(reader: SecretReader): SecretReader {
  return {
    ...reader,
    async read(reference, where) {
      if (!reference.secret.startsWith(filePrefix)) return await reader.read(reference, where);
      try {
        return (await readFile(reference.secret.slice(filePrefix.length), 'utf8')).trim();
      } catch (error) {
        throw new UserError(`${where}: ${reference.secret} cannot be read (${toError(error).message})`, {
          cause: error,
        });
      }
    },
  };
}
