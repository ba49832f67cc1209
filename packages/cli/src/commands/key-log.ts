// The log lines of one key, and what the logs say of functions: of the local system from its file, of a deployment from
// CloudWatch Logs.
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { toError, UserError } from 'outrigger/internal/core/errors';
import { parseJson } from 'outrigger/internal/core/json';
import { formatReconcileKey, type ReconcileKey } from 'outrigger/internal/core/key';
import * as z from 'zod';
import { functionNames, type NamedController } from '../aws/wakes.ts';
import { endPattern, endWords, FunctionTroubles } from '../console/health.ts';
import { logFileName, olderLogFile } from '../dev/log-file.ts';
import { readThrottles } from './console/function-figures.ts';
import { cloudWatchLines, deploymentPrefixOf, mostLines, type Newest, readHidden } from './function-log.ts';
import type { Installation } from './installation.ts';

// A controller may have logged a field of the same name with a value of another type.
const text = z.string().optional().catch(undefined);
const number = z.number().optional().catch(undefined);
const entry = z.looseObject({
  timestamp: text,
  level: text,
  message: text,
  key: z.string(),
  cause: text,
  attempt: number,
  postponements: number,
  outcome: text,
  reason: text,
  error: text,
  writes: number,
  durationMs: number,
  nextCause: text,
  dueAt: number,
  deadLetterReason: text,
});

/** A log line about a key. */
export type KeyLogEntry = z.infer<typeof entry>;

/** Reads the newest log lines of a key. Throws UserError if there is no log. */
export async function readKeyLog(
  installation: Pick<Installation, 'on' | 'urlPrefix' | 'region'>,
  key: ReconcileKey,
  { folder, sinceMs, signal }: { readonly folder: string; readonly sinceMs: number; readonly signal: AbortSignal },
): Promise<Newest<KeyLogEntry>> {
  const text = formatReconcileKey(key);
  const query = { filterPattern: keyPattern(text), sinceMs, signal };
  const read = installation.on === 'AWS' ? await cloudWatchLines(installation, key.controller, query) : undefined;
  const texts = read?.lines.map(({ message = '' }) => message) ?? (await fileLines(path.join(folder, logFileName)));
  const lines = texts
    .flatMap((line) => {
      // Most lines are about other keys, and need no parsing.
      const parsed = line.includes(key.name) ? entry.safeParse(parseJson(line)).data : undefined;
      return parsed === undefined || parsed.key !== text || timeOf(parsed) < sinceMs ? [] : [parsed];
    })
    .sort((a, b) => timeOf(a) - timeOf(b));
  return { lines, isCut: read?.isCut ?? false };
}

/** The lines of a key, as a filter of CloudWatch Logs. */
export const keyPattern = (text: string) => `{ $.key = ${JSON.stringify(text)} }`;

/** A function whose messages wait is invoked again within this time. */
const troubleMilliseconds = 900_000;

/**
 * The functions of which a failure is shown: those of controllers, and on AWS the shared ones, whose failed runs end
 * with a crash. Here a process that ended is started again, and nothing in its log says so.
 */
export function watchedFunctions(
  { on }: Pick<Installation, 'on'>,
  controllers: readonly NamedController[],
): readonly string[] {
  return on === 'AWS' ? functionNames(controllers) : controllers.map(({ name }) => name);
}

/** Why it is not known how the runs of a function ended that logs much. */
export const tooLong = `its log has more than ${mostLines} lines, of which the newest show no failure`;

/** Reads what the logs of the last 15 minutes say of functions. Never rejects: one that cannot be read is not known. */
export async function readTroubles(
  installation: Pick<Installation, 'on' | 'urlPrefix' | 'region'>,
  names: readonly string[],
  { folder, signal }: { readonly folder: string; readonly signal: AbortSignal },
): Promise<FunctionTroubles> {
  const troubles = new FunctionTroubles();
  const sinceMs = Date.now() - troubleMilliseconds;
  const unread = (name: string) => (error: unknown) => {
    signal.throwIfAborted();
    troubles.setUnread(name, `its log cannot be read: ${toError(error).message}`);
  };
  if (installation.on === 'AWS') {
    const query = { filterPattern: endPattern, sinceMs, signal };
    troubles.setHidden(await readHidden(installation, signal));
    const cut = new Set<string>();
    const read = async (name: string) => {
      const { lines, isCut } = await cloudWatchLines(installation, name, query);
      for (const { message = '', timestamp = 0 } of lines) troubles.add(message, name, timestamp);
      if (isCut) cut.add(name);
    };
    const throttles = readThrottles(names, { prefix: deploymentPrefixOf(installation), region: installation }).catch(
      toError,
    );
    await Promise.all(names.map((name) => read(name).catch(unread(name))));
    troubles.setThrottles(names, await throttles);
    for (const name of cut) if (troubles.healthOf(name, false).state === 'working') troubles.setUnread(name, tooLong);
    return troubles;
  }
  const lines = await fileLines(path.join(folder, logFileName)).catch((error: unknown) => {
    for (const name of names) unread(name)(error);
    return [];
  });
  for (const line of lines) {
    // Most lines are about successes, or are the author's.
    const at = endWords.some((word) => line.includes(word))
      ? Date.parse(/"timestamp":"([^"]+)"/.exec(line)?.[1] ?? '')
      : 0;
    if (at >= sinceMs) troubles.add(line, '', at);
  }
  return troubles;
}

function timeOf({ timestamp = '' }: KeyLogEntry): number {
  const time = Date.parse(timestamp);
  return Number.isNaN(time) ? 0 : time;
}

async function fileLines(file: string): Promise<readonly string[]> {
  const texts = await Promise.all(
    [olderLogFile(file), file].map(async (one) => await readFile(one, 'utf8').catch(() => undefined)),
  );
  if (texts.every((one) => one === undefined)) throw new UserError(`there is no ${file}; outrigger dev writes it`);
  return texts.flatMap((one) => one?.split('\n') ?? []);
}
