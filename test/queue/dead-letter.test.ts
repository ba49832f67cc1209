// Only how a letter is read from what was received, whatever that is; and the entry that a replay sends.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readDeadLetter } from '../../src/queue/dead-letter.ts';
import { replayId } from '../../src/queue/deduplication.ts';
import type { HeldMessage } from '../../src/queue/hold.ts';
import { formatMessage, parseMessage, targetOf } from '../../src/queue/message.ts';
import { replayEntry } from '../../src/queue/replay.ts';
import { aMessage } from './messages.ts';

const held = (changes: Partial<HeldMessage> = {}): HeldMessage => ({
  messageId: 'own-id',
  receiptHandle: 'handle',
  body: formatMessage(aMessage({ attempt: 9 })),
  attributes: {},
  sentAt: 1_700_000_005_000,
  ...changes,
});

describe('a dead letter', () => {
  it('says what was said of it when it was given up', () => {
    const attributes = {
      reason: 'gave up after 10 attempts',
      attempts: '10',
      error: 'no valve',
      firstSeenAt: '2026-11-21T10:00:00.000Z',
      messageId: 'original',
    };
    const { body } = held();
    expect(readDeadLetter(held({ attributes }))).toEqual({
      messageId: 'original',
      body,
      message: parseMessage(body),
      reason: 'gave up after 10 attempts',
      attempts: 10,
      error: 'no valve',
      firstSeenAt: new Date('2026-11-21T10:00:00.000Z'),
    });
  });

  it('that SQS moved itself has the reason unknown, its own id, and what its body knows', () => {
    const letter = readDeadLetter(held());
    expect(letter).toMatchObject({ reason: 'unknown', messageId: 'own-id', attempts: 9 });
    expect(letter.firstSeenAt).toEqual(new Date(1_700_000_000_000));
    expect(letter.error).toBeUndefined();
  });

  it('shows neither credentials nor what a terminal would obey', () => {
    const attributes = { reason: 'a\u001b[31mred', error: 'Bearer abcdefghijklmnop was refused', messageId: '\u0007' };
    const { reason, error, messageId } = readDeadLetter(held({ attributes }));
    expect(reason).toBe('a [31mred');
    expect(error).toBe('Bearer [redacted] was refused');
    expect(messageId).toBe('own-id');
  });

  it('of any bytes, with any attributes, is read, its body unchanged', () => {
    const text = fc.string({ unit: 'binary' });
    const any = fc.record({ reason: text, attempts: text, error: text, firstSeenAt: text, messageId: text });
    fc.assert(
      fc.property(text, any, (body, attributes) => {
        const letter = readDeadLetter(held({ body, attributes, sentAt: undefined }));
        expect(letter.body).toBe(body);
        expect(letter.reason).not.toBe('');
        JSON.stringify(letter);
      }),
    );
  });
});

describe('a replayed key', () => {
  const target = targetOf(aMessage());

  it('begins anew: nothing of the event, of attempts or of slots goes along', () => {
    const spent = aMessage({ attempt: 9, deferrals: 4, uid: 'u', resourceVersion: '7', dueAt: 5, slot: '30/1' });
    const { queue, entry } = replayEntry(targetOf(spent), { source: 'm', nowMs: 42 });
    expect(queue).toBe('gadget.fifo');
    expect(parseMessage(entry.body)).toEqual({ ...aMessage(), lane: 'replay', seenAt: 42, run: 'm' });
  });

  it('has the same deduplication id for the same source at any time, and another one for another source', () => {
    const idOf = (source: string, nowMs: number) => replayEntry(target, { source, nowMs }).entry.deduplicationId;
    expect(idOf('m', 1)).toBe(replayId(target, { source: 'm' }));
    expect(idOf('m', 2)).toBe(idOf('m', 1));
    expect(idOf('other', 1)).not.toBe(idOf('m', 1));
  });
});
