// In which trace a function's messages are sent, seen on the wire between the function and SQS (the emulator keeps no trace). That
// X-Ray links what is said here is AWS's part.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import * as z from 'zod';
import { defineController } from '../../src/core/controller.ts';
import { defineResource } from '../../src/core/resource.ts';
import { createReconcileHandler } from '../../src/lambda/reconcile-handler.ts';
import { createResyncHandler } from '../../src/lambda/resync-handler.ts';
import { createTimersHandler } from '../../src/lambda/timers-handler.ts';
import { formatMessage } from '../../src/queue/message.ts';
import { type ChaosProxy, startChaosProxy } from '../chaos/chaos-proxy.ts';
import { startTestQueues, type TestQueues } from '../sqs/fauxqs.ts';
import { aMessage } from '../queue/messages.ts';
import { aContext, anEvent, aRecord } from './invocation.ts';

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
const present = 'Root=1-5759e988-bd862e3fe1be46a994272793;Parent=557abcec3ee5a047;Sampled=1;Lineage=1:a87bd80c:0';
const past = 'Root=1-67891233-abcdef012345678912345678;Parent=463ac35c9f6413ad;Sampled=1';

let queues: TestQueues;
let proxy: ChaosProxy;
const sent: { readonly name: string; readonly trace: unknown }[] = [];

beforeAll(async () => {
  queues = await startTestQueues();
  await queues.create('gadget.fifo', 'gadget-dlq.fifo', 'timers', 'timers-dlq', 'resync-dlq');
  proxy = await startChaosProxy({ url: queues.endpoint });
  proxy.rule(({ headers, body }) => {
    if (headers['x-amz-target'] !== 'AmazonSQS.SendMessageBatch') return undefined;
    for (const { MessageBody, MessageSystemAttributes } of sendMessageBatch.parse(JSON.parse(body)).Entries) {
      sent.push({ name: JSON.parse(MessageBody).name, trace: MessageSystemAttributes });
    }
    return undefined;
  });
});
afterAll(async () => {
  await proxy.close();
  await queues.stop();
});
beforeEach(() => {
  sent.length = 0;
  vi.stubEnv('AWS_REGION', 'us-east-1');
  vi.stubEnv('AWS_ENDPOINT_URL_SQS', proxy.url);
  vi.stubEnv('QUEUE_URL_PREFIX', queues.urlPrefix.replace(queues.endpoint, proxy.url));
  vi.stubEnv('POWERTOOLS_METRICS_DISABLED', 'true');
  vi.stubEnv('LOG_LEVEL', 'ERROR');
  vi.stubEnv('CLUSTERS', 'nobody-asks');
});
afterEach(() => vi.unstubAllEnvs());

const dueAt = Math.floor(Date.now() / 1000) - 10;
const body = (name: string) => formatMessage(aMessage({ name, lane: 'requeue', dueAt, slot: `30/${name}` }));
const traceOf = (header: string) => ({ AWSTraceHeader: { DataType: 'String', StringValue: header } });

const gadget = defineResource({
  ...{ group: 'g.example.com', version: 'v1', kind: 'Gadget', spec: z.object({}), status: z.object({}) },
  conditions: [],
});
const controller = defineController(gadget)({
  name: 'gadget',
  reconcile: async () => ({ status: {}, conditions: {} }),
});

it.each([
  ['a reconcile', () => createReconcileHandler(controller)],
  ['the timers', createTimersHandler],
  ['the resync', () => createResyncHandler([controller])],
] as const)('%s sends in the trace of its invocation', async (_, create) => {
  vi.stubEnv('_X_AMZN_TRACE_ID', present);
  await create()(anEvent(aRecord('m', '{"name":"no message, and so a dead letter"}')), aContext());
  expect(sent).toEqual([{ name: 'no message, and so a dead letter', trace: traceOf(present) }]);
});

describe('the timers', () => {
  it('send a message on in the trace it came in, and one that came in none in their own', async () => {
    vi.stubEnv('_X_AMZN_TRACE_ID', present);
    const old = aRecord('old', body('old'));
    const traced = { ...old, attributes: { ...old.attributes, AWSTraceHeader: past } };
    const handler = createTimersHandler();
    expect(await handler(anEvent(traced, aRecord('new', body('new'))), aContext())).toEqual({ batchItemFailures: [] });
    expect(sent).toEqual([
      { name: 'old', trace: traceOf(past) },
      { name: 'new', trace: traceOf(present) },
    ]);
    expect(await queues.drain('gadget.fifo')).toHaveLength(2);
  });

  it('send in the trace of the invocation under way, not of the first', async () => {
    const handler = createTimersHandler();
    for (const trace of [present, past]) {
      vi.stubEnv('_X_AMZN_TRACE_ID', trace);
      await handler(anEvent(aRecord('m', body(trace.slice(7, 15)))), aContext());
    }
    expect(sent.map(({ trace }) => trace)).toEqual([traceOf(present), traceOf(past)]);
  });

  it('say nothing of traces where there is none', async () => {
    await createTimersHandler()(anEvent(aRecord('m', body('untraced'))), aContext());
    expect(sent).toEqual([{ name: 'untraced', trace: undefined }]);
  });

  it('send a message although the trace it came in is not one', async () => {
    const strange = aRecord('strange', body('strange'));
    const record = { ...strange, attributes: { ...strange.attributes, AWSTraceHeader: 'Root=\u0000' } };
    await createTimersHandler()(anEvent(record), aContext());
    expect(sent).toEqual([{ name: 'strange', trace: undefined }]);
  });
});
