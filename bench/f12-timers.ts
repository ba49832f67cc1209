// f12: 50,000 timers that are due at once, with as many concurrent batches of ten as the template allows. Each batch at
// a time has a handler of its own, as each has an execution environment on Lambda. The queue server is a process of its
// own, and all handlers share this process.
import { setTimeout as wait } from 'node:timers/promises';
import {
  CreateQueueCommand,
  DeleteMessageBatchCommand,
  type Message as Received,
  ReceiveMessageCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs';
import { registry } from '../src/controllers/registry.ts';
import { controllerQueue } from '../src/core/names.ts';
import { createTimersHandler } from '../src/lambda/timers-handler.ts';
import { createDepth } from '../src/sqs/depth.ts';
import type { Message } from '../src/sqs/message.ts';
import { createSend } from '../src/sqs/send.ts';
import { createSqsClient } from '../src/sqs/sqs-client.ts';
import { timerEntry } from '../src/timers/timer-message.ts';
import { aContext } from '../test/lambda/invocation.ts';
import { startServerProcess } from '../test/support/server-process.ts';
import { invocationMs } from './f9-sheet.ts';
import { digits } from './populate.ts';
import type { Row } from './row.ts';

/** The event source mapping of the timers (infra/aws/functions.yml). */
const deployed = { concurrentBatches: 100, batchSize: 10, megabytes: 256 };
const sqsProgram = new URL('../test/support/sqs-program.ts', import.meta.url);

/** Measures this number of due timers, of all controllers in turn, each of another object. */
export async function f12({ objects = 50_000 }: { readonly objects?: number } = {}): Promise<readonly Row[]> {
  await using cleanup = new AsyncDisposableStack();
  const signal = AbortSignal.timeout(1_200_000);
  const server = cleanup.adopt(await startServerProcess(sqsProgram, signal), (one) => one.close());
  const endpoint = server.url.replace(/\/$/, '');
  const prefix = `${endpoint}/000000000000/`;
  Object.assign(process.env, {
    ...{ AWS_REGION: 'us-east-1', AWS_ACCESS_KEY_ID: 'local', AWS_SECRET_ACCESS_KEY: 'local' },
    ...{
      AWS_ENDPOINT_URL_SQS: endpoint,
      QUEUE_URL_PREFIX: prefix,
      POWERTOOLS_METRICS_DISABLED: 'true',
      LOG_LEVEL: 'ERROR',
    },
  });
  const sqs = createSqsClient({ region: 'us-east-1', endpoint });
  cleanup.defer(() => sqs.destroy());
  const controllers = registry.map(({ name }) => name);
  for (const name of ['timers', 'timers-dlq', ...controllers.map(controllerQueue)]) {
    const Attributes = name.endsWith('.fifo') ? { FifoQueue: 'true' } : {};
    await sqs.send(new CreateQueueCommand({ QueueName: name, Attributes }), { abortSignal: signal });
  }
  const nowMs = Date.now();
  const entries = Array.from({ length: objects }, (_, index) => timerEntry(dueTimer(index, nowMs), { nowMs }));
  const sent = await createSend(sqs, prefix)('timers', entries, { signal });
  if (!sent.every(({ accepted }) => accepted)) throw new Error('f12: timers were not sent');

  const startedAt = performance.now();
  const cpu = process.cpuUsage();
  const workers = Array.from({ length: deployed.concurrentBatches }, () =>
    drain(sqs, `${prefix}timers`, controllers, signal),
  );
  const batches = (await Promise.all(workers)).reduce((sum, one) => sum + one, 0);
  const seconds = (performance.now() - startedAt) / 1000;
  const { user, system } = process.cpuUsage(cpu);
  const depth = createDepth(sqs, prefix);
  const depths = await Promise.all(controllers.map((name) => depth(controllerQueue(name), { signal })));
  const forwarded = depths.reduce((sum, { visible, inFlight, delayed }) => sum + visible + inFlight + delayed, 0);
  const left = await depth('timers-dlq', { signal });
  return rows({
    objects,
    forwarded,
    deadLetters: left.visible,
    batches,
    seconds,
    cpuMilliseconds: (user + system) / 1000,
  });
}

type Result = {
  readonly objects: number;
  readonly forwarded: number;
  readonly deadLetters: number;
  readonly batches: number;
  readonly seconds: number;
  readonly cpuMilliseconds: number;
};

function rows({ objects, forwarded, deadLetters, batches, seconds, cpuMilliseconds }: Result): readonly Row[] {
  const { concurrentBatches, batchSize, megabytes } = deployed;
  const what = `${objects} due timers, ${concurrentBatches} batches at a time`;
  // One request to each controller's queue, at the same time: one round trip, and the CPU time of the function's share.
  const batchCpu = cpuMilliseconds / batches;
  const batchMs = invocationMs({ cpuMilliseconds: batchCpu, requests: 1, logBytes: 0, logLines: 0 }, 1, megabytes);
  const onLambda = (Math.ceil(objects / batchSize / concurrentBatches) * batchMs) / 1000;
  return [
    {
      ...{ figure: 'f12', what: `${what}: messages on the controllers’ queues`, goal: `${objects}` },
      ours: `${forwarded}, ${deadLetters} dead letters`,
      met: forwarded === objects && deadLetters === 0,
    },
    {
      ...{ figure: 'f12', what: `${what}: time, all on this machine`, goal: '-' },
      ours: `${seconds.toFixed(0)} s (${Math.round(objects / seconds)} a second, ${batches} batches)`,
    },
    {
      ...{ figure: 'f12', what: `CPU time of a batch of ${batchSize}, with its polls`, goal: '-' },
      ours: `${batchCpu.toFixed(1)} ms`,
    },
    {
      ...{ figure: 'f12', what: `${what}: calculated for functions of ${megabytes} MB`, goal: '-' },
      ours: `${onLambda.toFixed(1)} s`,
    },
  ];
}

/** Receives and invokes until the queue is empty, as one poller of the mapping does. Resolves with the batches. */
async function drain(
  sqs: SQSClient,
  queue: string,
  controllers: readonly string[],
  abortSignal: AbortSignal,
): Promise<number> {
  const handler = createTimersHandler(controllers);
  const depth = createDepth(sqs, queue.slice(0, -'timers'.length));
  for (let batches = 0; ; ) {
    const receive = new ReceiveMessageCommand({
      ...{ QueueUrl: queue, MaxNumberOfMessages: deployed.batchSize },
      MessageSystemAttributeNames: ['All'],
    });
    const { Messages = [] } = await sqs.send(receive, { abortSignal });
    if (Messages.length === 0) {
      const { visible, inFlight, delayed } = await depth('timers', { signal: abortSignal });
      if (visible + inFlight + delayed === 0) return batches;
      await wait(1_000);
      continue;
    }
    const { batchItemFailures } = await handler({ Records: Messages.map(recordOf) }, aContext());
    // What was not forwarded, because the server was too slow, is received again.
    const failed = new Set(batchItemFailures.map(({ itemIdentifier }) => itemIdentifier));
    const done = Messages.filter(({ MessageId = '' }) => !failed.has(MessageId));
    const Entries = done.map(({ ReceiptHandle }, index) => ({ Id: `${index}`, ReceiptHandle }));
    if (Entries.length > 0) {
      await sqs.send(new DeleteMessageBatchCommand({ QueueUrl: queue, Entries }), { abortSignal });
    }
    batches += 1;
  }
}

function dueTimer(index: number, nowMs: number): Message {
  const { name: controller, declaration } = registry[index % registry.length] ?? registry[0] ?? raise();
  const { group, plural, namespaced } = declaration.resource;
  const dueAt = Math.floor(nowMs / 1000);
  return {
    ...{ controller, cluster: 'alpha', group, resource: plural, name: `object-${digits(index, 6)}` },
    ...(namespaced ? { namespace: 'default' } : {}),
    cause: { type: 'requeue', slot: `30/${Math.floor(dueAt / 30)}`, dueAt },
  };
}

function raise(): never {
  throw new Error('the registry is empty');
}

/** The record that Lambda creates from a message. */
function recordOf({ MessageId = '', ReceiptHandle = '', Body = '', Attributes = {} }: Received) {
  const now = `${Date.now()}`;
  return {
    ...{ messageId: MessageId, receiptHandle: ReceiptHandle, body: Body, messageAttributes: {}, md5OfBody: '' },
    attributes: {
      ApproximateReceiveCount: Attributes.ApproximateReceiveCount ?? '1',
      SentTimestamp: Attributes.SentTimestamp ?? now,
      SenderId: Attributes.SenderId ?? '',
      ApproximateFirstReceiveTimestamp: Attributes.ApproximateFirstReceiveTimestamp ?? now,
    },
    ...{ eventSource: 'aws:sqs', eventSourceARN: 'arn:aws:sqs:us-east-1:000000000000:timers', awsRegion: 'us-east-1' },
  };
}
