// The audit of a stage's console: one JSON line for each action before it begins and after it has ended, with the
// operator as STS names the credentials. An action whose first line cannot be written is not carried out. The console
// shows the actions again.
import { constants } from 'node:fs';
import { appendFile, mkdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { toError, UserError } from 'outrigger/internal/core/errors';
import { isRecord, parseJson } from 'outrigger/internal/core/json';
import { redact } from 'outrigger/internal/core/redact';
import * as z from 'zod';
import type { ConsoleSource } from '../../console/source.ts';
import type { ConsoleAction, PastEntry, TimeRange } from '../../console/wire.ts';

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

const auditLine = z.looseObject({
  timestamp: z.string(),
  stage: z.string(),
  who: z.string(),
  action: z.string(),
  state: z.string(),
  id: z.string().optional(),
  result: z.string().optional(),
  error: z.string().optional(),
});

type AuditLine = z.infer<typeof auditLine>;

/**
 * Reads the actions on a stage in a time range. One without its second line has not ended, or its console was killed.
 * Throws the error of the file.
 */
export async function readAudit(
  { folder, stage }: Pick<AuditDeps, 'folder' | 'stage'>,
  { from, to }: TimeRange,
): Promise<readonly PastEntry[]> {
  const flag = constants.O_RDONLY | constants.O_NOFOLLOW;
  const text = await readFile(path.join(folder, auditFileName), { encoding: 'utf8', flag }).catch((error: unknown) => {
    if (isRecord(error) && error.code === 'ENOENT') return '';
    throw error;
  });
  const ended: AuditLine[] = [];
  const started = new Map<string, AuditLine>();
  for (const line of text.split('\n')) {
    const found = auditLine.safeParse(parseJson(line)).data;
    if (found?.stage !== stage) continue;
    const { timestamp: _, state, result: __, error: ___, ...what } = found;
    const key = JSON.stringify(what);
    // The second line takes the place of the first one.
    ended.push(...(state === 'started' ? [started.get(key)] : [found]).filter((one) => one !== undefined));
    if (state === 'started') started.set(key, found);
    else started.delete(key);
  }
  return [...ended, ...started.values()].map(actionEntry).filter(({ at }) => at >= from && at <= to);
}

function actionEntry({ timestamp, who, action, state, result, error, ...fields }: AuditLine): PastEntry {
  const { id, message: _, stage: __, ...target } = fields;
  const about = Object.values(target).map((value) => ` ${String(value)}`);
  const end = result ?? error ?? (state === 'started' ? 'it has not ended' : state);
  return {
    at: Date.parse(timestamp),
    type: 'action',
    text: redact(`${action}${about.join('')} by ${who}: ${end}`),
    id,
    ...(state === 'failed' ? { failed: true } : {}),
  };
}

/** What an action works on. Names come from a page, so they are cleaned as all text in logs. */
function targetOf({ type: _, ...target }: ConsoleAction): object {
  return Object.fromEntries(Object.entries(target).map(([name, value]) => [name, redact(String(value))]));
}
