// Only which lines of a stage's log the console reads, and that it reads each once. CloudWatch Logs is a fake with pages.
import {
  CloudWatchLogsClient,
  FilterLogEventsCommand,
  ResourceNotFoundException,
} from '@aws-sdk/client-cloudwatch-logs';
import { openStageLog } from '@outrigger/cli/commands/console/stage-log';
import { mockClient } from 'aws-sdk-client-mock';
import { afterAll, beforeEach, expect, it } from 'vitest';

const { signal } = new AbortController();
const startedAt = 1_700_000_000_000;
const group = '/aws/lambda/outrigger-prod-tank';
const pageSize = 500;
let events: { readonly eventId: string; readonly timestamp: number; readonly message: string }[] = [];
/** The time since the start. */
let seconds = 0;
/** The filters that were asked for. */
const patterns = new Set<string>();
const cloudWatch = mockClient(CloudWatchLogsClient);
afterAll(() => cloudWatch.restore());
beforeEach(() => {
  [events, seconds] = [[], 0];
  patterns.clear();
  cloudWatch.on(FilterLogEventsCommand).callsFake((query) => {
    const { logGroupName, startTime, endTime = Number.POSITIVE_INFINITY, filterPattern = '', nextToken = '0' } = query;
    if (logGroupName !== group) throw new ResourceNotFoundException({ message: 'no log group', $metadata: {} });
    patterns.add(filterPattern);
    const found = events
      .filter(({ timestamp }) => timestamp >= startTime && timestamp <= endTime)
      .sort((a, b) => a.timestamp - b.timestamp);
    const end = Number(nextToken) + pageSize;
    return { events: found.slice(Number(nextToken), end), ...(found.length > end ? { nextToken: String(end) } : {}) };
  });
});

/** Writes a line that many seconds after the console started. */
const write = (text: string, at: number) =>
  events.push({ eventId: `${events.length}`, timestamp: startedAt + at * 1_000, message: text });
async function open() {
  const now = () => startedAt + seconds * 1_000;
  const log = await openStageLog('https://sqs/1/outrigger-prod-', { region: 'eu-west-1' }, now);
  return async (controller = 'tank') => (await log.newLines(controller, signal)).map(({ text }) => text);
}

it('a line is read once, from two minutes before the start on, also if it is late by less than half a minute', async () => {
  const read = await open();
  for (const [text, seconds] of Object.entries({ old: -121, past: -119, first: 40 })) write(text, seconds);
  expect(await read()).toEqual(['past', 'first']);
  expect(await read()).toEqual([]);
  for (const [text, seconds] of Object.entries({ second: 41, late: 11, 'too late': 9 })) write(text, seconds);
  expect(await read()).toEqual(['late', 'second']);
  expect(await read()).toEqual([]);
});

it('a controller with more lines than one read has is shown completely by the next reads', async () => {
  const read = await open();
  for (let line = 0; line < 5_000; line += 1) write(`${line}`, line / 1_000);
  const all = [...(await read()), ...(await read()), ...(await read())];
  expect(all).toEqual(events.map(({ message }) => message));
});

it('a read after a pause or a failure goes on after the last line, and leaves out those that are older than an hour', async () => {
  const read = await open();
  write('first', -10);
  expect(await read()).toEqual(['first']);
  for (const at of [390, 410, 900]) write(`at ${at}`, at);
  seconds = 4_000;
  expect(await read()).toEqual(['at 410', 'at 900']);
});

it('a read after one with too many lines leaves out those that are older than two minutes', async () => {
  const read = await open();
  seconds = 600;
  for (let line = 0; line < 2_500; line += 1) write('long ago', 100);
  for (const at of [479, 481]) write(`at ${at}`, at);
  expect(await read()).toHaveLength(2_000);
  expect(await read()).toEqual(['at 481']);
});

it('a function that was never invoked has no lines, and any other error is thrown', async () => {
  const read = await open();
  expect(await read('pump')).toEqual([]);
  cloudWatch.on(FilterLogEventsCommand).rejects(new Error('AccessDenied'));
  await expect(read()).rejects.toThrow('AccessDenied');
});

it('the lines of a time range are read again each time: of an object all, of a function those that tell of trouble', async () => {
  const { linesBetween } = await openStageLog(
    'https://sqs/1/outrigger-prod-',
    { region: 'eu-west-1' },
    () => startedAt,
  );
  for (const [text, at] of Object.entries({ before: -901, late: -100, early: -900, after: -99 })) write(text, at);
  const range = { from: startedAt - 900_000, to: startedAt - 100_000 };
  const read = async (id?: string) =>
    (await linesBetween('tank', { ...range, ...(id === undefined ? {} : { id }) }, signal)).map(({ text }) => text);
  for (const id of [undefined, undefined, 'lab:tanks/default/north']) expect(await read(id)).toEqual(['early', 'late']);
  const [troubles, object] = patterns;
  expect(troubles).toMatch(/^\?"reconciled" .*\?"Task timed out" .*\?"WARN" \?"ERROR"$/);
  expect(object).toBe('{ $.key = "tank:lab:tanks/default/north" }');
});
