// The log of a stage's functions for the console: the runs and crashes that were logged since the last read, from
// CloudWatch Logs. The client is loaded only here.
import type { CloudWatchLogsClient, FilteredLogEvent } from '@aws-sdk/client-cloudwatch-logs';
import { callWithin } from 'outrigger/internal/sqs/call';
import { endPattern } from '../../console/health.ts';
import type { LogLine } from '../../console/stage/stage-source.ts';
import { logGroupOf } from '../key-log.ts';
import { inRegion, type RegionFlag } from '../stage-table.ts';

/** The log of a stage. */
export type StageLog = {
  newLines(controller: string, signal: AbortSignal): Promise<readonly LogLine[]>;
  /** How long before the start the first read begins. */
  readonly lookBackMilliseconds: number;
  close(): void;
};

/** Lines may be readable late and out of order, so each read begins this long before the end of the last one. */
const overlapMilliseconds = 30_000;
/** The first read, and one after a read with too many lines, which would otherwise get further and further behind. */
const lookBackMilliseconds = 120_000;
/** After CloudWatch did not respond, or no page was open, a read goes on after the last line, but not before that. */
const longestLookBackMilliseconds = 3_600_000;
/** The new lines of one read. */
const maxLines = 2_000;
const callSeconds = 20;

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
    { logGroupName, startTime }: { readonly logGroupName: string; readonly startTime: number },
    isKnown: (event: FilteredLogEvent) => boolean,
    signal: AbortSignal,
  ): Promise<readonly FilteredLogEvent[]> {
    try {
      return await callWithin(callSeconds, signal, async (abortSignal) => {
        const events: FilteredLogEvent[] = [];
        const query = { logGroupName, filterPattern: endPattern, startTime };
        for await (const page of sdk.paginateFilterLogEvents({ client }, query, { abortSignal })) {
          events.push(...(page.events ?? []).filter((event) => !isKnown(event)));
          if (events.length >= maxLines) break;
        }
        return events;
      });
    } catch (error) {
      // A function that was never invoked has no log group yet.
      if (error instanceof Error && error.name === 'ResourceNotFoundException') return [];
      throw error;
    }
  }

  return {
    lookBackMilliseconds,
    newLines: async (controller, signal) => {
      const before = known.get(controller);
      const latest = Math.max(startedAt - lookBackMilliseconds, ...(before?.values() ?? []));
      const next = before === undefined ? latest : latest - overlapMilliseconds;
      const longest = cut.has(controller) ? lookBackMilliseconds : longestLookBackMilliseconds;
      const from = Math.max(next, now() - longest);
      const query = { logGroupName: logGroupOf(urlPrefix, controller), startTime: from };
      const events = await read(query, ({ eventId = '' }) => before?.has(eventId) === true, signal);
      if (events.length < maxLines) cut.delete(controller);
      else cut.add(controller);
      const found = events.map(({ eventId = '', timestamp: at = now(), message: text = '' }) => ({
        eventId,
        at,
        text,
      }));
      const ids = [...(before ?? []), ...found.map(({ eventId, at }) => [eventId, at] as const)];
      const end = Math.max(latest, ...found.map(({ at }) => at)) - overlapMilliseconds;
      known.set(controller, new Map(ids.filter(([, at]) => at >= end)));
      return found.sort((a, b) => a.at - b.at);
    },
    close: () => client.destroy(),
  };
}
