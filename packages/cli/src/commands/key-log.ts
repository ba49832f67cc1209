// The log lines of one key: of the local system from its file, of a deployment from CloudWatch Logs. The client of
// CloudWatch is loaded only when it is needed.
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { FilteredLogEvent } from '@aws-sdk/client-cloudwatch-logs';
import { toError, UserError } from 'outrigger/internal/core/errors';
import { parseJson } from 'outrigger/internal/core/json';
import { formatReconcileKey, type ReconcileKey } from 'outrigger/internal/core/key';
import { callWithin } from 'outrigger/internal/sqs/call';
import * as z from 'zod';
import { functionNames, type NamedController } from '../aws/wakes.ts';
import { endPattern, endWords, FunctionTroubles } from '../console/health.ts';
import { logFileName, olderLogFile } from '../dev/log-file.ts';
import { disposable } from './command.ts';
import { readThrottles } from './console/function-figures.ts';
import type { Installation } from './installation.ts';
import { inRegion } from './stage-table.ts';

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

const callSeconds = 60;
/** A key that is reconciled every second has this many lines in an hour. */
const mostEntries = 10_000;

/** Reads the log lines of a key, oldest first. Throws UserError if there is no log. */
export async function readKeyLog(
  installation: Pick<Installation, 'on' | 'urlPrefix' | 'region'>,
  key: ReconcileKey,
  { folder, sinceMs, signal }: { readonly folder: string; readonly sinceMs: number; readonly signal: AbortSignal },
): Promise<readonly KeyLogEntry[]> {
  const text = formatReconcileKey(key);
  const lines =
    installation.on === 'AWS'
      ? (await cloudWatchLines(installation, key.controller, { filterPattern: keyPattern(text), sinceMs, signal })).map(
          ({ message = '' }) => message,
        )
      : await fileLines(path.join(folder, logFileName));
  return lines
    .flatMap((line) => {
      // Most lines are about other keys, and need no parsing.
      const parsed = line.includes(key.name) ? entry.safeParse(parseJson(line)).data : undefined;
      return parsed === undefined || parsed.key !== text || timeOf(parsed) < sinceMs ? [] : [parsed];
    })
    .sort((a, b) => timeOf(a) - timeOf(b));
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
    troubles.setUnread(name, toError(error).message);
  };
  if (installation.on === 'AWS') {
    const query = { filterPattern: endPattern, sinceMs, signal };
    const read = async (name: string) => {
      const events = await cloudWatchLines(installation, name, query);
      for (const { message = '', timestamp = 0 } of events) troubles.add(message, name, timestamp);
    };
    const throttles = readThrottles(names, { prefix: prefixOf(installation), region: installation }).catch(toError);
    await Promise.all(names.map((name) => read(name).catch(unread(name))));
    troubles.setThrottles(names, await throttles);
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

/** Returns the name of the log group of a function (AWS Lambda Developer Guide, "CloudWatch Logs"). */
export function logGroupOf(urlPrefix: string, name: string): string {
  return `/aws/lambda/${prefixOf({ urlPrefix })}${name}`;
}

/** The prefix of the names of a deployment. */
function prefixOf({ urlPrefix }: Pick<Installation, 'urlPrefix'>): string {
  return urlPrefix.split('/').at(-1) ?? '';
}

/** Reads lines of a function's log in CloudWatch. Throws the client's errors, and UserError if there is no log. */
export async function cloudWatchLines(
  { urlPrefix, region }: Pick<Installation, 'urlPrefix' | 'region'>,
  controller: string,
  { filterPattern, sinceMs, signal }: { filterPattern: string; sinceMs: number; signal: AbortSignal },
): Promise<readonly FilteredLogEvent[]> {
  const { CloudWatchLogsClient, paginateFilterLogEvents } = await import('@aws-sdk/client-cloudwatch-logs');
  using client = disposable(new CloudWatchLogsClient({ maxAttempts: 3, ...inRegion({ region }) }));
  const logGroupName = logGroupOf(urlPrefix, controller);
  try {
    return await callWithin(callSeconds, signal, async (abortSignal) => {
      const lines: FilteredLogEvent[] = [];
      const query = { logGroupName, filterPattern, startTime: sinceMs };
      for await (const { events = [] } of paginateFilterLogEvents({ client }, query, { abortSignal })) {
        lines.push(...events);
        if (lines.length >= mostEntries) break;
      }
      return lines;
    });
  } catch (error) {
    if (error instanceof Error && error.name === 'ResourceNotFoundException')
      throw new UserError(`there is no log group ${logGroupName}; name another --stage or --region`, { cause: error });
    throw error;
  }
}
