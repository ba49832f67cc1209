// The log of a function of a deployment, in CloudWatch Logs. Its client is loaded only when it is needed.
import type { FilteredLogEvent } from '@aws-sdk/client-cloudwatch-logs';
import { toError, UserError } from 'outrigger/internal/core/errors';
import { resyncQueue } from 'outrigger/internal/core/names';
import { readAwsSettings } from 'outrigger/internal/settings';
import { callWithin } from 'outrigger/internal/sqs/call';
import { disposable } from './command.ts';
import type { Installation } from './installation.ts';
import { inRegion, readVariables } from './stage-table.ts';

const callSeconds = 60;
/** The newest lines that are read. A key that is reconciled every second has this many in an hour. */
export const mostLines = 10_000;

/** What was read of a log, the oldest line first. `isCut`: there are older lines in its time, which were not read. */
export type Newest<Line> = { readonly lines: readonly Line[]; readonly isCut: boolean };

/** The prefix of the names of a deployment. */
export function deploymentPrefixOf({ urlPrefix }: Pick<Installation, 'urlPrefix'>): string {
  return urlPrefix.split('/').at(-1) ?? '';
}

/** Returns the name of the log group of a function (AWS Lambda Developer Guide, "CloudWatch Logs"). */
export function logGroupOf(urlPrefix: string, name: string): string {
  return `/aws/lambda/${deploymentPrefixOf({ urlPrefix })}${name}`;
}

/**
 * Reads the newest lines of a function's log in CloudWatch. Throws the client's errors, and UserError if there is no
 * log.
 */
export async function cloudWatchLines(
  { urlPrefix, region }: Pick<Installation, 'urlPrefix' | 'region'>,
  controller: string,
  { filterPattern, sinceMs, signal }: { filterPattern: string; sinceMs: number; signal: AbortSignal },
): Promise<Newest<FilteredLogEvent>> {
  const { CloudWatchLogsClient, paginateFilterLogEvents } = await import('@aws-sdk/client-cloudwatch-logs');
  using client = disposable(new CloudWatchLogsClient({ maxAttempts: 3, ...inRegion({ region }) }));
  const logGroupName = logGroupOf(urlPrefix, controller);
  try {
    return await callWithin(callSeconds, signal, async (abortSignal) =>
      readBackwards(sinceMs, async (window) => {
        const lines: FilteredLogEvent[] = [];
        const query = { logGroupName, filterPattern, ...window };
        for await (const { events = [] } of paginateFilterLogEvents({ client }, query, { abortSignal })) {
          lines.push(...events);
          if (lines.length > mostLines) break;
        }
        return lines;
      }),
    );
  } catch (error) {
    if (error instanceof Error && error.name === 'ResourceNotFoundException')
      throw new UserError(`there is no log group ${logGroupName}; name another --stage or --region`, { cause: error });
    throw error;
  }
}

/** The window with the newest lines: longer than the time that a status reads. */
const windowMilliseconds = 1_200_000;

/**
 * Reads windows of a time from its end on, because CloudWatch begins with the oldest lines. Of a window with more lines
 * than are read, the half of what these lines cover is tried, and at most the part after them. One with few is followed
 * by a longer one.
 */
async function readBackwards(
  sinceMs: number,
  readWindow: (window: { startTime: number; endTime?: number }) => Promise<readonly FilteredLogEvent[]>,
): Promise<Newest<FilteredLogEvent>> {
  let lines: readonly FilteredLogEvent[] = [];
  let [before, length, floor] = [Date.now(), windowMilliseconds, sinceMs];
  for (let isFirst = true; before > sinceMs && lines.length < mostLines; ) {
    const startTime = Math.max(floor, before - length);
    // The newest line may be of a clock that is ahead.
    const found = await readWindow(isFirst ? { startTime } : { startTime, endTime: before - 1 });
    const last = found.at(-1)?.timestamp ?? startTime;
    if (found.length > mostLines && last > startTime) {
      [floor, length] = [last, Math.ceil((last - startTime) / 2)];
      continue;
    }
    if (found.length * 4 < mostLines) length *= 4;
    [lines, before, floor, isFirst] = [[...found, ...lines], startTime, sinceMs, false];
  }
  return { lines, isCut: before > sinceMs };
}

/**
 * Says why the logs do not show each run: with LOG_LEVEL=WARN those that succeed are not in them, with ERROR the failed
 * ones neither. Undefined if they do, as always here (dev/local-stack.ts). Rejects only with the signal's reason.
 */
export async function readHidden(
  { on, urlPrefix, region }: Pick<Installation, 'on' | 'urlPrefix' | 'region'>,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (on !== 'AWS' || readAwsSettings().isQueueElsewhere) return undefined;
  const functionName = `${deploymentPrefixOf({ urlPrefix })}${resyncQueue}`;
  try {
    const { LOG_LEVEL } = await readVariables(functionName, { region }, signal);
    const hides = LOG_LEVEL === 'WARN' || LOG_LEVEL === 'ERROR';
    return hides ? `with LOG_LEVEL=${LOG_LEVEL} functions log no run that succeeds` : undefined;
  } catch (error) {
    signal.throwIfAborted();
    return `the LOG_LEVEL of the functions cannot be read: ${toError(error).message}`;
  }
}
