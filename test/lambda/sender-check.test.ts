import { expect, it } from 'vitest';
import { wake } from '../../src/api/wake.ts';
import type { SqsRecord } from '../../src/lambda/events.ts';
import { createReconcileHandler } from '../../src/lambda/reconcile-handler.ts';
import { createResyncHandler } from '../../src/lambda/resync-handler.ts';
import { createTimersHandler } from '../../src/lambda/timers-handler.ts';
import { formatResyncMessage } from '../../src/resync/message.ts';
import type { Message } from '../../src/sqs/message.ts';
import { asChange, asCommand, asRetry } from '../sqs/messages.ts';
import { functionSystem, widgetRecord } from './function-system.ts';
import { aContext, anEvent, aRecord } from './invocation.ts';
import { widget } from './widget.ts';

const watcher = 'AROAWATCHER000001';
const controller = widget.controller('widget', {
  // The environment has no role of the wake function any more: a deployment removes the wakes, and the code is the former.
  wakes: [wake({ source: 'shop', detailType: 'Sold' }, () => [])],
  reconcile: async () => ({ status: { note: 'done' }, conditions: { Built: { status: 'True', reason: 'Built' } } }),
});

const functions = functionSystem({
  clusters: (entry) => {
    const watchers = [{ arn: 'arn:aws:iam::123456789012:role/watcher', id: watcher }];
    return { alpha: { ...entry, watchers }, open: entry };
  },
  environment: {
    SENDER_CHECK: 'on',
    SENDER_IDS: 'widget=AROAWIDGET,timers=AROATIMERS,resync=AROARESYNC',
    SENDERS: 'AROAREQUESTER',
  },
});
const { deadLetters } = functions;

/** A record with the name of its object as its id, as SQS delivers it from this sender. */
const from = (senderId: string, name: string, more: Partial<Message>) => sentBy(senderId, widgetRecord(name, more));
const sentBy = (senderId: string, one: SqsRecord): SqsRecord => ({
  ...one,
  attributes: { ...one.attributes, SenderId: senderId },
});

// Control T50.
it('a reconcile function reconciles the keys of the watcher that the table names, and refuses those of another', async () => {
  for (const name of ['genuine', 'forged', 'requested', 'announced']) await functions.apply(name);
  const records = [
    from(`${watcher}:session`, 'genuine', asChange()),
    from(`AROAOTHER:${watcher}`, 'forged', asChange()),
    from('AROAREQUESTER:session', 'requested', { cluster: 'open', ...asCommand() }),
    from('AROAREQUESTER:session', 'announced', { cluster: 'open', ...asChange() }),
  ];
  expect(await createReconcileHandler(controller)(anEvent(...records), aContext())).toEqual({ batchItemFailures: [] });
  const noted = await Promise.all(
    ['genuine', 'forged', 'requested', 'announced'].map(async (name) => {
      const object = await functions.read(name);
      return object?.status === undefined ? [] : [name];
    }),
  );
  expect(noted.flat()).toEqual(['genuine', 'requested']);
  expect(await deadLetters('widget-dlq.fifo')).toEqual({ forged: 'sender', announced: 'sender' });
});

// Control T51.
it('the timers function forwards retries of the controller’s own role, with that sender, and refuses a watcher’s', async () => {
  const due = asRetry({ dueAt: Math.floor(Date.now() / 1000) });
  const records = [from('AROAWIDGET:session', 'genuine', due), from(`${watcher}:AROAWIDGET`, 'forged', due)];
  // Of a controller that a deployment removes, the code still has the name when the environment has no role any more.
  const timers = createTimersHandler(['widget', 'removed']);
  expect(await timers(anEvent(...records), aContext())).toEqual({ batchItemFailures: [] });
  expect(await functions.queues.drain('widget.fifo')).toMatchObject([
    { MessageAttributes: { sender: { StringValue: 'AROAWIDGET' } } },
  ]);
  expect(await deadLetters('timers-dlq')).toEqual({ forged: 'sender' });
});

// Control T52.
it('the resync function refuses a message that it did not send', async () => {
  const run = new Date().toISOString();
  const body = formatResyncMessage({ v: 1, type: 'resync', run, cluster: 'alpha', controller: 'widget' });
  const records = [sentBy(`${watcher}:AROARESYNC`, aRecord('forged', body))];
  expect(await createResyncHandler([controller])(anEvent(...records), aContext())).toEqual({ batchItemFailures: [] });
  expect(await deadLetters('resync-dlq')).toEqual({ forged: 'sender' });
});
