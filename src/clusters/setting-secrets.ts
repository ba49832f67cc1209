// Secrets that are settings of controllers: those of Secrets Manager, and on one machine files. Entries of the clusters table get no
// files: whoever writes an entry also says which server gets what is read.
import { readFile } from 'node:fs/promises';
import { toError } from '../core/errors.ts';
import type { SecretReader } from '../api/secret.ts';
import { ConnectionProblem } from './connection-problem.ts';

const file = 'file:';

/** Adds files to a reader; one is read each time, its line end left out. */
export function settingSecrets(reader: SecretReader): SecretReader {
  return {
    ...reader,
    async read(reference, where) {
      if (!reference.secret.startsWith(file)) return await reader.read(reference, where);
      try {
        return (await readFile(reference.secret.slice(file.length), 'utf8')).trim();
      } catch (error) {
        throw new ConnectionProblem(`${where}: ${reference.secret} cannot be read (${toError(error).message})`, {
          cause: error,
        });
      }
    },
  };
}
