// The small parts of the functions: records, time, credentials.
import { afterEach, expect, it, onTestFinished, vi } from 'vitest';
import { SettingsError } from '../../src/core/errors.ts';
import { createSqsClock, deadlineOf, remainingMs, sleepMs } from '../../src/lambda/clock.ts';
import { defaultProvider } from '../../src/lambda/function-credentials.ts';
import { toQueueRecord } from '../../src/lambda/records.ts';
import { aContext, aRecord } from './invocation.ts';

afterEach(() => vi.unstubAllEnvs());

it('toQueueRecord reads the counts of a record as numbers, its sender, and what timers wrote', () => {
  const record = aRecord('m', 'body');
  const attributes = { ...record.attributes, ApproximateReceiveCount: '3', ApproximateFirstReceiveTimestamp: '17' };
  const since = '2026-01-01T00:00:00.000Z';
  const messageAttributes = {
    sender: { stringValue: 'AROASTAMP', dataType: 'String' },
    unknownSince: { stringValue: since, dataType: 'String' },
  };
  expect(toQueueRecord({ ...record, attributes, messageAttributes })).toEqual({
    messageId: 'm',
    receiptHandle: 'r-m',
    body: 'body',
    groupId: 'group',
    receiveCount: 3,
    firstReceivedAt: 17,
    senderId: 'x',
    stampedSender: 'AROASTAMP',
    unknownSince: since,
  });
});

it('remainingMs ends before the deadline of the function, and is at least 1', () => {
  expect(remainingMs(aContext(30_000))).toBe(28_000);
  expect(remainingMs(aContext(500))).toBe(1);
  expect(deadlineOf(aContext()).aborted).toBe(false);
});

it('sleepMs ends when the signal aborts', async () => {
  const controller = new AbortController();
  const waiting = sleepMs(60_000, controller.signal);
  controller.abort();
  await waiting;
  await sleepMs(60_000, controller.signal);
  await sleepMs(1, new AbortController().signal);
});

it('the clock of SQS learns the time from a record received once, whatever the local clock says', () => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.UTC(2050, 0, 1) });
  onTestFinished(() => void vi.useRealTimers());
  const clock = createSqsClock();
  const record = toQueueRecord(aRecord('m', ''));
  const retried = { ...record, firstReceivedAt: 5_000, receiveCount: 2 };
  const first = { ...record, firstReceivedAt: 700_000, receiveCount: 1 };
  clock.received([first, { ...first, firstReceivedAt: 600_000 }, retried]);
  expect(clock.now(retried)).toBeGreaterThanOrEqual(700_000);
  expect(clock.now(retried)).toBeLessThan(705_000);
});

it('the clock of SQS advances from the receipt of the batch', () => {
  const clock = createSqsClock();
  const record = toQueueRecord(aRecord('m', ''));
  clock.received([]);
  const now = clock.now({ ...record, firstReceivedAt: 5_000 });
  expect(now).toBeGreaterThanOrEqual(5_000);
  expect(now).toBeLessThan(10_000);
});

it('defaultProvider reads the credentials of the environment', async () => {
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'id');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'hunter2');
  vi.stubEnv('AWS_SESSION_TOKEN', 'session');
  expect(await defaultProvider()()).toEqual({
    accessKeyId: 'id',
    secretAccessKey: 'hunter2',
    sessionToken: 'session',
  });
});

it('defaultProvider names a missing variable, and does not show the others', async () => {
  vi.stubEnv('AWS_ACCESS_KEY_ID', '');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'hunter2');
  const error = await defaultProvider()().catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(SettingsError);
  expect(String(error)).toContain('AWS_ACCESS_KEY_ID');
  expect(String(error)).not.toContain('hunter2');
});
