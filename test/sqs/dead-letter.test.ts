// Only the writing of a dead letter, its reading from a received message of any content, and the entry that a replay sends.

import { replayEntry } from '@outrigger/cli/operations/replay';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ReceivedMessage } from '../../src/sqs/browse.ts';
import { deadLetterAttributes, readDeadLetter, sendToDeadLetterQueue } from '../../src/sqs/dead-letter.ts';
import { replayId } from '../../src/sqs/deduplication.ts';
import { formatMessage, keyOfMessage, parseMessage } from '../../src/sqs/message.ts';
import type { QueueEntry } from '../../src/sqs/sender.ts';
import { aMessage, asCommand, asRetry } from './messages.ts';

const received = (changes: Partial<ReceivedMessage> = {}): ReceivedMessage => ({
  messageId: 'own-id',
  receiptHandle: 'handle',
  body: formatMessage(aMessage(asRetry({ attempt: 9 }))),
  attributes: {},
  sentAt: 1_700_000_005_000,
  ...changes,
});

const bearer = 'Bearer abcdefghijklmnop';

describe('readDeadLetter', () => {
  it('a dead letter is read with the reason, attempts, error and time that were written with it', () => {
    const attributes = {
      reason: 'retries exhausted after 10 attempts',
      attempts: '10',
      error: 'no valve',
      firstSeenAt: '2023-11-14T10:00:00.000Z',
      messageId: 'original',
    };
    const { body } = received();
    expect(readDeadLetter(received({ attributes }))).toEqual({
      messageId: 'original',
      body,
      message: parseMessage(body),
      reason: 'retries exhausted after 10 attempts',
      attempts: 10,
      error: 'no valve',
      firstSeenAt: new Date('2023-11-14T10:00:00.000Z'),
    });
  });

  it('a dead letter that SQS moved itself has the reason unknown, its own id, and the attempts of its body', () => {
    const deadLetter = readDeadLetter(received());
    expect(deadLetter).toMatchObject({ reason: 'unknown', messageId: 'own-id', attempts: 9 });
    expect(deadLetter.firstSeenAt).toEqual(new Date(1_700_000_000_000));
    expect(deadLetter.error).toBeUndefined();
  });

  it('an event that the wake function failed for, or that EventBridge could not deliver, has its reason and error', () => {
    const failed = {
      version: '1.0',
      requestContext: { condition: 'RetriesExhausted', approximateInvokeCount: 3 },
      requestPayload: { source: 'plant' },
      responsePayload: { errorMessage: `no token: ${bearer}` },
    };
    expect(readDeadLetter(received({ body: JSON.stringify(failed) }))).toMatchObject({
      reason: 'event not processed by wake: RetriesExhausted',
      error: 'no token: Bearer [redacted]',
    });
    const attributes = {
      ERROR_CODE: 'NO_PERMISSIONS',
      ERROR_MESSAGE: 'may not invoke',
      RULE_ARN: 'arn:aws:events:...',
    };
    expect(readDeadLetter(received({ body: '{"source":"plant"}', attributes }))).toMatchObject({
      reason: 'event not delivered to wake: NO_PERMISSIONS',
      error: 'may not invoke',
    });
  });

  it('attempts that are no number are those of the body, and of two times the earlier is when it was first seen', () => {
    const attributes = { attempts: '12 or so', firstSeenAt: '2026-11-21T10:00:00.000Z' };
    const firstSeenAt = new Date(1_700_000_000_000);
    expect(readDeadLetter(received({ attributes }))).toMatchObject({ attempts: 9, firstSeenAt });
  });

  it('a dead letter contains neither credentials nor control characters', () => {
    const attributes = { reason: 'a\u001b[31mred', error: `${bearer} was refused`, messageId: '\u0007' };
    const { reason, error, messageId } = readDeadLetter(received({ attributes }));
    expect(reason).toBe('a [31mred');
    expect(error).toBe('Bearer [redacted] was refused');
    expect(messageId).toBe('own-id');
  });

  it('a dead letter of any bytes, with any attributes, is read with its body unchanged', () => {
    const text = fc.string({ unit: 'binary' });
    const any = fc.record({ reason: text, attempts: text, error: text, firstSeenAt: text, ERROR_CODE: text });
    fc.assert(
      fc.property(text, any, (body, attributes) => {
        const deadLetter = readDeadLetter(received({ body, attributes, sentAt: undefined }));
        expect(deadLetter.body).toBe(body);
        expect(deadLetter.reason).not.toBe('');
        JSON.stringify(deadLetter);
      }),
    );
  });
});

describe('writing a dead letter', () => {
  const record = {
    messageId: 'original',
    receiptHandle: 'handle',
    body: 'x',
    groupId: 'g',
    receiveCount: 1,
    firstReceivedAt: 1_700_000_000_000,
  };

  it.each<[string, Error | undefined, string | undefined]>([
    ['without an error', undefined, undefined],
    ['with an error', new Error('no valve'), 'no valve'],
    ['with an error without a message', new TypeError(''), 'TypeError'],
  ])('the attributes %s have its text, or none', (_, lastError, error) => {
    const cause = { reason: 'refused', ...(lastError === undefined ? {} : { lastError }) };
    const { messageId, firstReceivedAt } = record;
    expect(deadLetterAttributes(record, cause)).toEqual({
      reason: 'refused',
      messageId,
      firstSeenAt: new Date(firstReceivedAt).toISOString(),
      ...(error === undefined ? {} : { error }),
    });
  });

  it.each([
    ['a', 1],
    ['é', 2],
    ['😀', 4],
  ])('a body of %s has attributes up to 200 KiB in bytes, and none beyond', (character, bytes) => {
    const body = character.repeat((200 * 1024) / bytes);
    const namesOf = (text: string) =>
      Object.keys(deadLetterAttributes({ ...record, body: text }, { reason: 'refused' }));
    expect(namesOf(body)).toContain('reason');
    expect(namesOf(`${body}a`)).toEqual([]);
  });

  it('a record has one deduplication id, and another one for each object of its name', async () => {
    const idOf = async (uid?: string) => {
      const ids: (string | undefined)[] = [];
      const cause = { reason: 'gone', ...(uid === undefined ? {} : { uid }) };
      const send = async (_: string, entries: readonly QueueEntry[]) => {
        ids.push(...entries.map(({ deduplicationId }) => deduplicationId));
        return [];
      };
      const { signal } = new AbortController();
      await sendToDeadLetterQueue(send, { queue: 'gadget-dlq.fifo', records: [record], cause, signal });
      return ids[0];
    };
    expect(await idOf()).toBe(await idOf());
    expect(new Set([await idOf(), await idOf('a'), await idOf('b')]).size).toBe(3);
  });
});

describe('replayEntry', () => {
  const key = keyOfMessage(aMessage());

  it('a replayed key has no event, attempts or slot of its former message', () => {
    const spent = aMessage(asRetry({ attempt: 9, postponements: 4, dueAt: 5, slot: '30/1' }));
    const { queue, entry } = replayEntry(keyOfMessage(spent), { source: 'm', nowMs: 42 });
    expect(queue).toBe('gadget.fifo');
    expect(parseMessage(entry.body)).toEqual(aMessage(asCommand({ observedAt: 42, id: 'm' })));
  });

  it('a replayed key has one deduplication id for each source, at any time', () => {
    const idOf = (source: string, nowMs: number) => replayEntry(key, { source, nowMs }).entry.deduplicationId;
    expect(idOf('m', 1)).toBe(replayId(key, { source: 'm' }));
    expect(idOf('m', 2)).toBe(idOf('m', 1));
    expect(idOf('other', 1)).not.toBe(idOf('m', 1));
  });
});
