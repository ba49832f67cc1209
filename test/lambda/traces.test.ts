// The trace in which a function's messages are sent, recorded between the function and SQS (the emulator stores no
// traces). The link of traces in X-Ray is the part of AWS.
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import * as z from 'zod';
import { createReconcileHandler } from '../../src/lambda/reconcile-handler.ts';
import { createResyncHandler } from '../../src/lambda/resync-handler.ts';
import { createTimersHandler } from '../../src/lambda/timers-handler.ts';
import { formatMessage } from '../../src/sqs/message.ts';
import { type ChaosProxy, startChaosProxy } from '../../tools/chaos/chaos-proxy.ts';
import { asRequeue } from '../sqs/messages.ts';
import { functionSystem, widgetMessage } from './function-system.ts';
import { aContext, anEvent, aRecord } from './invocation.ts';
import { widget } from './widget.ts';

const sendMessageBatch = z.object({
  Entries: z.array(
    z.object({
      MessageBody: z.string(),
      MessageSystemAttributes: z
        .record(z.string(), z.object({ DataType: z.string(), StringValue: z.string() }))
        .optional(),
    }),
  ),
});
const currentTrace = 'Root=1-5759e988-bd862e3fe1be46a994272793;Parent=557abcec3ee5a047;Sampled=1;Lineage=1:a87bd80c:0';
const earlierTrace = 'Root=1-67891233-abcdef012345678912345678;Parent=463ac35c9f6413ad;Sampled=1';

const functions = functionSystem();
/** Between the functions and SQS. */
let proxy: ChaosProxy;
const sent: { readonly name: string; readonly trace: unknown }[] = [];

beforeAll(async () => {
  proxy = await startChaosProxy({ url: functions.queues.endpoint });
  proxy.rule(({ headers, body }) => {
    if (headers['x-amz-target'] !== 'AmazonSQS.SendMessageBatch') return undefined;
    for (const { MessageBody, MessageSystemAttributes } of sendMessageBatch.parse(JSON.parse(body)).Entries) {
      const { object, name = object?.[3] } = JSON.parse(MessageBody);
      sent.push({ name, trace: MessageSystemAttributes });
    }
    return undefined;
  });
});
afterAll(async () => await proxy.close());
beforeEach(() => {
  sent.length = 0;
  const { endpoint, urlPrefix } = functions.queues;
  vi.stubEnv('AWS_ENDPOINT_URL_SQS', proxy.url);
  vi.stubEnv('QUEUE_URL_PREFIX', urlPrefix.replace(endpoint, proxy.url));
});

const dueAt = Math.floor(Date.now() / 1000) - 10;
const body = (name: string) => formatMessage(widgetMessage(name, asRequeue({ dueAt, slot: `30/${name}` })));
const traceOf = (header: string) => ({ AWSTraceHeader: { DataType: 'String', StringValue: header } });

const controller = widget.controller('widget', {
  reconcile: async () => ({ status: { note: '' }, conditions: { Built: { status: 'True', reason: 'Built' } } }),
});

it.each([
  ['a reconcile function', () => createReconcileHandler(controller)],
  ['the timers function', () => createTimersHandler(['widget'])],
  ['the resync function', () => createResyncHandler([controller])],
] as const)('%s sends messages in the trace of its invocation', async (_, create) => {
  vi.stubEnv('_X_AMZN_TRACE_ID', currentTrace);
  await create()(anEvent(aRecord('m', '{"name":"a dead letter"}')), aContext());
  expect(sent).toEqual([{ name: 'a dead letter', trace: traceOf(currentTrace) }]);
});

it('the timers function forwards a message in its own trace, if it has one', async () => {
  vi.stubEnv('_X_AMZN_TRACE_ID', currentTrace);
  const old = aRecord('old', body('old'));
  const traced = { ...old, attributes: { ...old.attributes, AWSTraceHeader: earlierTrace } };
  const handler = createTimersHandler(['widget']);
  expect(await handler(anEvent(traced, aRecord('new', body('new'))), aContext())).toEqual({ batchItemFailures: [] });
  expect(sent).toEqual([
    { name: 'old', trace: traceOf(earlierTrace) },
    { name: 'new', trace: traceOf(currentTrace) },
  ]);
  expect(await functions.queues.drain('widget.fifo')).toHaveLength(2);
});

it('the timers function sends in the trace of the current invocation, not of the first one, and in none without one', async () => {
  const handler = createTimersHandler(['widget']);
  for (const trace of [currentTrace, earlierTrace]) {
    vi.stubEnv('_X_AMZN_TRACE_ID', trace);
    await handler(anEvent(aRecord('m', body(trace.slice(7, 15)))), aContext());
  }
  vi.stubEnv('_X_AMZN_TRACE_ID', undefined);
  await handler(anEvent(aRecord('m', body('untraced'))), aContext());
  expect(sent.map(({ trace }) => trace)).toEqual([traceOf(currentTrace), traceOf(earlierTrace), undefined]);
});
