// The audit of a stage's console: one JSON line for each action before it begins and after it has ended, with the
// operator as STS names the credentials. An action whose first line cannot be written is not carried out.
import { constants } from 'node:fs';
import { appendFile, mkdir } from 'node:fs/promises';
import path from 'node:path';
import { toError, UserError } from 'outrigger/internal/core/errors';
import { redact } from 'outrigger/internal/core/redact';
import type { ConsoleSource } from '../../console/source.ts';
import type { ConsoleAction } from '../../console/wire.ts';

/** The file below the folder of local files. */
export const auditFileName = 'audit.jsonl';

/** A symbolic link at the path is an error. */
const appending = constants.O_APPEND | constants.O_CREAT | constants.O_WRONLY | constants.O_NOFOLLOW;

/** What an audit needs. `who` is the ARN of the operator. */
export type AuditDeps = {
  readonly folder: string;
  readonly stage: string;
  readonly who: string;
  readonly now: () => Date;
  readonly print: (line: string) => void;
};

/** Wraps the actions of a source. */
export function withAudit(
  act: ConsoleSource['act'],
  { folder, stage, who, now, print }: AuditDeps,
): ConsoleSource['act'] {
  const file = path.join(folder, auditFileName);
  const write = async (action: ConsoleAction, fields: object): Promise<void> => {
    const line = JSON.stringify({
      timestamp: now().toISOString(),
      message: 'console action',
      stage,
      who,
      action: action.type,
      ...targetOf(action),
      ...fields,
    });
    await mkdir(folder, { recursive: true });
    await appendFile(file, `${line}\n`, { mode: 0o600, flag: appending });
    print(line);
  };
  return async (action, signal) => {
    await write(action, { state: 'started' }).catch((error: unknown) => {
      throw new UserError(`nothing was done: ${file} cannot be written (${toError(error).message})`);
    });
    const result = await act(action, signal).catch(async (error: unknown) => {
      await write(action, { state: 'failed', error: redact(toError(error).message) });
      throw error;
    });
    await write(action, { state: 'done', result: redact(result.text) }).catch((error: unknown) => {
      throw new UserError(`${result.text} But ${file} cannot be written (${toError(error).message})`);
    });
    return result;
  };
}

/** What an action works on. Names come from a page, so they are cleaned as all text in logs. */
function targetOf({ type: _, ...target }: ConsoleAction): object {
  return Object.fromEntries(Object.entries(target).map(([name, value]) => [name, redact(String(value))]));
}
