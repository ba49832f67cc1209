// The small pieces that functions are put together from: records, time, credentials.
import { afterEach, describe, expect, it, vi } from 'vitest';
import { SettingsError } from '../../src/core/errors.ts';
import { createSqsClock, deadlineOf, usableMs, wait } from '../../src/lambda/clock.ts';
import { defaultProvider } from '../../src/lambda/function-credentials.ts';
import { toBatchResponse, toQueueRecord } from '../../src/lambda/records.ts';
import { aContext, aRecord } from './invocation.ts';

afterEach(() => vi.unstubAllEnvs());

describe('a record', () => {
  it('is read with its counts as numbers', () => {
    const record = aRecord('m', 'body');
    const attributes = { ...record.attributes, ApproximateReceiveCount: '3', ApproximateFirstReceiveTimestamp: '17' };
    expect(toQueueRecord({ ...record, attributes })).toEqual({
      messageId: 'm',
      receiptHandle: 'r-m',
      body: 'body',
      groupId: 'group',
      receiveCount: 3,
      firstReceivedAt: 17,
    });
  });

  it('that stays is named in the response', () => {
    expect(toBatchResponse(['a', 'b'])).toEqual({
      batchItemFailures: [{ itemIdentifier: 'a' }, { itemIdentifier: 'b' }],
    });
  });
});

describe('time', () => {
  it('that an invocation may use ends before the function does, and is never none', () => {
    expect(usableMs(aContext(30_000))).toBe(28_000);
    expect(usableMs(aContext(500))).toBe(1);
    expect(deadlineOf(aContext()).aborted).toBe(false);
  });

  it('to wait ends with the signal', async () => {
    const over = new AbortController();
    const waiting = wait(60_000, over.signal);
    over.abort();
    await waiting;
    await wait(60_000, over.signal);
    await wait(1, new AbortController().signal);
  });

  it('by SQS goes on from when the batch was received, whatever the local clock says', () => {
    const clock = createSqsClock();
    clock.received();
    const record = toQueueRecord(aRecord('m', ''));
    const now = clock.now({ ...record, firstReceivedAt: 5_000 });
    expect(now).toBeGreaterThanOrEqual(5_000);
    expect(now).toBeLessThan(10_000);
  });
});

describe('credentials', () => {
  it('are those that Lambda put into the environment', async () => {
    vi.stubEnv('AWS_ACCESS_KEY_ID', 'id');
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'hunter2');
    vi.stubEnv('AWS_SESSION_TOKEN', 'session');
    expect(await defaultProvider()()).toEqual({
      accessKeyId: 'id',
      secretAccessKey: 'hunter2',
      sessionToken: 'session',
    });
  });

  it('that are missing are named, and what is there is not shown', async () => {
    vi.stubEnv('AWS_ACCESS_KEY_ID', '');
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'hunter2');
    const error = await defaultProvider()().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(SettingsError);
    expect(String(error)).toContain('AWS_ACCESS_KEY_ID');
    expect(String(error)).not.toContain('hunter2');
  });
});
