// A message into the timers queue and out of it, as values. What the timers function does with a batch is runtime/timers.test.ts.
import { describe, expect, it } from 'vitest';
import { MessageError } from '../../src/sqs/body.ts';
import { requeueId, resyncId, retryId } from '../../src/queue/deduplication.ts';
import { type Message, parseMessage, targetOf } from '../../src/queue/message.ts';
import { stepTimer, timerEntry } from '../../src/queue/timer.ts';
import { aMessage } from './messages.ts';

const dueAt = 1_700_000_100;
const requeue = aMessage({ dueAt, slot: '30/7' });
const early = (seconds: number) => ({ nowMs: (dueAt - seconds) * 1000 });

describe('a message that is due later', () => {
  it('waits until it is due, rounded up, and carries its due time and slot to the other end', () => {
    const { body, ...rest } = timerEntry(requeue, early(29.2));
    expect(rest).toEqual({ delaySeconds: 30 });
    expect(parseMessage(body)).toEqual(requeue);
  });

  it('waits not at all when its time has passed or it names none', () => {
    expect(timerEntry(requeue, early(-5)).delaySeconds).toBe(0);
    expect(timerEntry(aMessage({ lane: 'resync', run: 'r' }), early(0)).delaySeconds).toBe(0);
  });

  it.each<[string, Partial<Message>]>([
    ['a requeue without a slot', { lane: 'requeue' }],
    ['a retry without a slot', { lane: 'retry' }],
    ['a resync without a run', { lane: 'resync', slot: '30/7' }],
    ['a change that a watch saw', { lane: 'watch', slot: '30/7', run: 'r' }],
    ['a replay', { lane: 'replay', slot: '30/7', run: 'r' }],
  ])('is refused at both ends when it is %s', (_, changes) => {
    const message = aMessage({ dueAt, ...changes });
    expect(() => timerEntry(message, early(10))).toThrow(MessageError);
    expect(() => stepTimer(message, early(0))).toThrow(MessageError);
  });
});

describe('a message out of the timers queue', () => {
  it('goes to its controller’s queue when it is due, in its object’s group', () => {
    expect(stepTimer(requeue, early(0))).toMatchObject({
      type: 'forward',
      queue: 'gadget.fifo',
      entry: { groupId: 'gadget:alpha:gadgets.example.com/shop/one' },
    });
  });

  it('is due a second before its time, because two clocks differ, and no earlier', () => {
    expect(stepTimer(requeue, early(1)).type).toBe('forward');
    expect(stepTimer(requeue, early(1.1)).type).toBe('hop');
  });

  it('waits for what is left when it came too early', () => {
    expect(stepTimer(requeue, early(40)).entry.delaySeconds).toBe(40);
  });

  it('of a day hops through and arrives once, unchanged', () => {
    const nowMs = (dueAt - 86_400) * 1000;
    let entry = timerEntry(requeue, { nowMs });
    let waited = 0;
    let hops = 0;
    for (;;) {
      waited += entry.delaySeconds ?? 0;
      const step = stepTimer(parseMessage(entry.body), { nowMs: nowMs + waited * 1000 });
      if (step.type === 'forward') break;
      entry = step.entry;
      hops += 1;
    }
    expect(waited).toBe(86_400);
    expect(hops).toBeLessThanOrEqual(86_400 / 900 + 1);
    expect(parseMessage(entry.body)).toEqual(requeue);
  });

  it('has the id that its lane’s row of the table says', () => {
    const target = targetOf(requeue);
    const idOf = (message: Message) => stepTimer(message, early(0)).entry.deduplicationId;
    expect(idOf(requeue)).toBe(requeueId(target, { slot: '30/7' }));
    const retry = aMessage({ lane: 'retry', attempt: 2, deferrals: 1, slot: '8/3', dueAt });
    expect(idOf(retry)).toBe(retryId(target, { attempt: 2, deferrals: 1, slot: '8/3' }));
    expect(idOf(aMessage({ lane: 'resync', run: 'r', dueAt }))).toBe(resyncId(target, { run: 'r' }));
  });
});
