// The log of a stage's functions for the console, from CloudWatch Logs: the runs and crashes that were logged since the
// last read, and what was logged in a time range. The client is loaded only here.
import type { CloudWatchLogsClient, FilteredLogEvent } from '@aws-sdk/client-cloudwatch-logs';
import { callWithin } from 'outrigger/internal/sqs/call';
import { endPattern } from '../../console/health.ts';
import { type LogLine, maxPastLines, type PastDeps } from '../../console/stage/past-reader.ts';
import { logGroupOf } from '../function-log.ts';
import { keyPattern } from '../key-log.ts';
import { inRegion, type RegionFlag } from '../stage-table.ts';

/** The log of a stage. */
export type StageLog = {
  newLines(controller: string, signal: AbortSignal): Promise<readonly LogLine[]>;
  readonly linesBetween: PastDeps['linesBetween'];
  close(): void;
};

/** Lines may be readable late and out of order, so each read begins this long before the end of the last one. */
const overlapMilliseconds = 30_000;
/** The first read, and one after a read with too many lines, which would otherwise get further and further behind. */
const lookBackMilliseconds = 120_000;
/** After CloudWatch did not respond, or no page was open, a read goes on after the last line, but not before that. */
const longestLookBackMilliseconds = 3_600_000;
/** The new lines of one read. */
const maxLines = maxPastLines;
const callSeconds = 20;
/** A read of a long time has many pages without a line. */
const pastSeconds = 60;
/** Runs, crashes, warnings and errors. */
const pastPattern = `${endPattern} ?"WARN" ?"ERROR"`;

type Line = LogLine & { readonly eventId: string };

/** Opens the log. */
export async function openStageLog(urlPrefix: string, region: RegionFlag, now: () => number): Promise<StageLog> {
  const sdk = await import('@aws-sdk/client-cloudwatch-logs');
  const client: CloudWatchLogsClient = new sdk.CloudWatchLogsClient({ maxAttempts: 3, ...inRegion(region) });
  const startedAt = now();
  /** The ids of the events of the overlap, by controller. */
  const known = new Map<string, ReadonlyMap<string, number>>();
  /** The controllers whose last read had too many lines. */
  const cut = new Set<string>();

  /** Known events do not count: the overlap alone may have more than a read. */
  async function read(
    query: { logGroupName: string; filterPattern: string; startTime: number; endTime?: number },
    isKnown: (event: FilteredLogEvent) => boolean,
    signal: AbortSignal,
  ): Promise<readonly Line[]> {
    try {
      const seconds = query.endTime === undefined ? callSeconds : pastSeconds;
      const found = await callWithin(seconds, signal, async (abortSignal) => {
        const events: FilteredLogEvent[] = [];
        for await (const page of sdk.paginateFilterLogEvents({ client }, query, { abortSignal })) {
          events.push(...(page.events ?? []).filter((event) => !isKnown(event)));
          if (events.length >= maxLines) break;
        }
        return events;
      });
      const lines = found.map(({ eventId = '', timestamp: at = now(), message: text = '' }) => ({ eventId, at, text }));
      return lines.sort((a, b) => a.at - b.at);
    } catch (error) {
      // A function that was never invoked has no log group yet.
      if (error instanceof Error && error.name === 'ResourceNotFoundException') return [];
      throw error;
    }
  }

  return {
    linesBetween: async (name, { from, to, id }, signal) => {
      const filterPattern = id === undefined ? pastPattern : keyPattern(`${name}:${id}`);
      const logGroupName = logGroupOf(urlPrefix, name);
      return await read({ logGroupName, filterPattern, startTime: from, endTime: to }, () => false, signal);
    },
    newLines: async (controller, signal) => {
      const before = known.get(controller);
      const latest = Math.max(startedAt - lookBackMilliseconds, ...(before?.values() ?? []));
      const next = before === undefined ? latest : latest - overlapMilliseconds;
      const longest = cut.has(controller) ? lookBackMilliseconds : longestLookBackMilliseconds;
      const from = Math.max(next, now() - longest);
      const query = { logGroupName: logGroupOf(urlPrefix, controller), filterPattern: endPattern, startTime: from };
      const found = await read(query, ({ eventId = '' }) => before?.has(eventId) === true, signal);
      if (found.length < maxLines) cut.delete(controller);
      else cut.add(controller);
      const ids = [...(before ?? []), ...found.map(({ eventId, at }) => [eventId, at] as const)];
      const end = Math.max(latest, ...found.map(({ at }) => at)) - overlapMilliseconds;
      known.set(controller, new Map(ids.filter(([, at]) => at >= end)));
      return found;
    },
    close: () => client.destroy(),
  };
}
