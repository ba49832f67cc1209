// A message into the timers queue and out of it, as values. The batch of the timers function is in run.test.ts.
import { describe, expect, it } from 'vitest';
import { maxRequeueSeconds } from '../../src/core/time.ts';
import { MessageError } from '../../src/sqs/body.ts';
import { createFunctionIds } from '../../src/sqs/deduplication.ts';
import { type Message, parseMessage } from '../../src/sqs/message.ts';
import { nextTimerStep, timerEntry } from '../../src/timers/timer-message.ts';
import { aMessage, asChange, asCommand, asRequeue, asResync, asRetry } from '../sqs/messages.ts';

const dueAt = 1_700_000_100;
const requeue = aMessage(asRequeue({ dueAt, slot: '30/7' }));
const ids = createFunctionIds('secret');
const early = (seconds: number) => ({ nowMs: (dueAt - seconds) * 1000, ids });

describe('timerEntry', () => {
  it('timerEntry delays a message until it is due, rounded up, with its due time and slot', () => {
    const { body, ...rest } = timerEntry(requeue, early(29.2));
    expect(rest).toEqual({ delaySeconds: 30 });
    expect(parseMessage(body)).toEqual(requeue);
  });

  it('timerEntry does not delay a message that is overdue or has no due time', () => {
    expect(timerEntry(requeue, early(-5)).delaySeconds).toBe(0);
    expect(timerEntry(aMessage(asResync()), early(0)).delaySeconds).toBe(0);
  });

  it.each<[string, Partial<Message>]>([
    ['a change', asChange()],
    ['a command', asCommand()],
    ['an external event without a due time', { cause: { type: 'wake', observedAt: 1, source: 's', id: 'e' } }],
  ])('timerEntry and nextTimerStep reject a message whose cause is %s', (_, cause) => {
    const message = aMessage(cause);
    expect(() => timerEntry(message, early(10))).toThrow(MessageError);
    expect(() => nextTimerStep(message, early(0))).toThrow(MessageError);
  });
});

describe('nextTimerStep', () => {
  it('nextTimerStep sends a due message to its controller’s queue, in its object’s group', () => {
    expect(nextTimerStep(requeue, early(0))).toMatchObject({
      type: 'forward',
      queue: 'gadget.fifo',
      entry: { groupId: 'gadget:alpha:gadgets.example.com/shop/one' },
    });
  });

  it('nextTimerStep treats a message as due one second before its time, because clocks differ, and no earlier', () => {
    expect(nextTimerStep(requeue, early(1)).type).toBe('forward');
    expect(nextTimerStep(requeue, early(1.1)).type).toBe('hop');
  });

  it('nextTimerStep refuses a due time that is later than any requeue can be, one and a half years', () => {
    const seconds = 1.5 * maxRequeueSeconds;
    expect(nextTimerStep(requeue, early(seconds)).type).toBe('hop');
    expect(() => nextTimerStep(requeue, early(seconds + 1))).toThrow('cause.dueAt: later than any requeue');
  });

  it('X21: a message with a delay of one day is sent after its hops, unchanged', () => {
    const nowMs = (dueAt - 86_400) * 1000;
    let entry = timerEntry(requeue, { nowMs });
    let waited = 0;
    let type = 'hop';
    const mostHops = 86_400 / 900 + 1;
    for (let hops = 0; type === 'hop' && hops <= mostHops; hops += 1) {
      expect(entry.delaySeconds).toBeLessThanOrEqual(900);
      waited += entry.delaySeconds ?? 0;
      const step = nextTimerStep(parseMessage(entry.body), { nowMs: nowMs + waited * 1000, ids });
      type = step.type;
      if (step.type === 'hop') entry = step.entry;
    }
    expect([type, waited]).toEqual(['forward', 86_400]);
    expect(parseMessage(entry.body)).toEqual(requeue);
  });

  it('an external event whose due time is of a clock hours ahead is forwarded at once', () => {
    const wake = aMessage({ cause: { type: 'wake', observedAt: 1, source: 's', id: 'e', dueAt } });
    expect([301, 300, 2].map((seconds) => nextTimerStep(wake, early(seconds)).type)).toEqual(['forward', 'hop', 'hop']);
    expect(nextTimerStep(wake, early(10 * 365 * 86_400)).type).toBe('forward');
  });

  it('messages of one id wait apart if their due times differ, so none replaces one that is due earlier', () => {
    const mergeIds = (...dueTimes: readonly number[]) =>
      new Set(dueTimes.map((one) => nextTimerStep(aMessage(asResync({ dueAt: one })), early(60)).mergeId)).size;
    expect([mergeIds(dueAt, dueAt + 300), mergeIds(dueAt, dueAt)]).toEqual([2, 1]);
  });

  it('a forwarded message has the deduplication id of its cause', () => {
    const idOf = (message: Message) => nextTimerStep(message, early(0)).entry.deduplicationId;
    expect(idOf(requeue)).toBe(ids.requeue(requeue, { slot: '30/7', dueAt }));
    const retry = aMessage(asRetry({ attempt: 2, postponements: 1, slot: '8/3', dueAt }));
    expect(idOf(retry)).toBe(ids.retry(retry, { attempt: 2, postponements: 1, slot: '8/3', dueAt }));
    expect(idOf(aMessage(asResync({ dueAt })))).toBe(ids.resync(requeue, { run: 'r' }));
    const wake = aMessage({ cause: { type: 'wake', observedAt: 1, source: 's', id: 'e', dueAt } });
    expect(idOf(wake)).toBe(ids.wake(requeue, { dueAt }));
  });
});
