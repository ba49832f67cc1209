// f12: 50,000 timers that are due at once, with as many concurrent batches of ten as the template allows. Each batch at
// a time has a handler of its own, as each has an execution environment on Lambda; all of them share this process. The
// batches are made here, because an emulated queue is slower than the function: what they send is counted.

import { invocationMs } from '@outrigger/cli/commands/cost/price-sheet';
import * as z from 'zod';
import { registry } from '../src/controllers/registry.ts';
import { createTimersHandler } from '../src/lambda/timers-handler.ts';
import { formatMessage, type Message } from '../src/sqs/message.ts';
import { aContext, anEvent, aRecord } from '../test/lambda/invocation.ts';
import { startMessageProcess } from './child-process.ts';
import { digits } from './populate.ts';
import type { Row } from './row.ts';

/** The event source mapping of the timers (packages/cli/src/aws/shared.ts), and the memory of the function. */
const deployed = { concurrentBatches: 100, batchSize: 10, megabytes: 256 };
const counted = z.union([z.object({ url: z.string() }), z.object({ keys: z.number(), requests: z.number() })]);

/** Measures this number of due timers, of all controllers in turn, each of another object. */
export async function f12({ objects = 50_000 }: { readonly objects?: number } = {}): Promise<readonly Row[]> {
  await using cleanup = new AsyncDisposableStack();
  const queue = await startMessageProcess(cleanup, 'frames/counting-queue.ts', [], (message) => counted.parse(message));
  const { first } = queue;
  if (!('url' in first)) throw new Error('f12: the queue sent no address');
  Object.assign(process.env, {
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'local',
    AWS_SECRET_ACCESS_KEY: 'local',
    AWS_ENDPOINT_URL_SQS: first.url,
    QUEUE_URL_PREFIX: `${first.url}/000000000000/`,
    MONITORING: 'off',
  });
  const controllers = registry.map(({ name }) => name);
  const dueAt = Math.floor(Date.now() / 1000);
  const batches = Array.from({ length: Math.ceil(objects / deployed.batchSize) }, (_, batch) => {
    const numbers = Array.from({ length: deployed.batchSize }, (__, index) => batch * deployed.batchSize + index);
    return anEvent(
      ...numbers
        .filter((number) => number < objects)
        .map((number) => aRecord(`t-${number}`, formatMessage(dueTimer(number, dueAt)))),
    );
  });
  // All handlers share the iterator: each batch is invoked by one of them.
  const pending = batches.values();
  const startedAt = performance.now();
  const cpu = process.cpuUsage();
  const invokeAll = async () => {
    const handler = createTimersHandler(controllers);
    for (const event of pending) {
      const { batchItemFailures } = await handler(event, aContext());
      if (batchItemFailures.length > 0) throw new Error(`f12: ${batchItemFailures.length} timers were not forwarded`);
    }
  };
  await Promise.all(Array.from({ length: deployed.concurrentBatches }, invokeAll));
  const seconds = (performance.now() - startedAt) / 1000;
  const { user, system } = process.cpuUsage(cpu);
  const sent = await queue.request({});
  if (!('keys' in sent)) throw new Error('f12: the queue sent no counts');
  return rows({ objects, batches: batches.length, ...sent, seconds, cpuMilliseconds: (user + system) / 1000 });
}

type Result = {
  readonly objects: number;
  readonly batches: number;
  readonly keys: number;
  readonly requests: number;
  readonly seconds: number;
  readonly cpuMilliseconds: number;
};

function rows({ objects, batches, keys, requests, seconds, cpuMilliseconds }: Result): readonly Row[] {
  const { concurrentBatches, batchSize, megabytes } = deployed;
  const what = `${objects} due timers, ${concurrentBatches} batches at a time`;
  const batchCpu = cpuMilliseconds / batches;
  // The requests of a batch go to different queues at the same time: one round trip.
  const batchMs = invocationMs({ cpuMilliseconds: batchCpu, requests: 1, logBytes: 0, logLines: 0 }, 1, megabytes);
  const onLambda = (Math.ceil(batches / concurrentBatches) * batchMs) / 1000;
  return [
    {
      figure: 'f12',
      what: `${what}: forwarded, once each`,
      goal: `${objects}`,
      ours: `${keys}`,
      met: keys === objects,
    },
    {
      figure: 'f12',
      what: `requests to SQS for a batch of ${batchSize}, one for each controller’s queue`,
      goal: '-',
      ours: (requests / batches).toFixed(1),
    },
    {
      figure: 'f12',
      what: `${what}: time in one process`,
      goal: '-',
      ours: `${seconds.toFixed(1)} s (${Math.round(objects / seconds)} a second)`,
    },
    { figure: 'f12', what: `CPU time of a batch of ${batchSize}`, goal: '-', ours: `${batchCpu.toFixed(1)} ms` },
    {
      figure: 'f12',
      what: `${what}: calculated for warm functions of ${megabytes} MB`,
      goal: '-',
      ours: `${onLambda.toFixed(1)} s`,
    },
  ];
}

function dueTimer(number: number, dueAt: number): Message {
  const controller = registry[number % registry.length];
  if (controller === undefined) throw new Error('the registry is empty');
  const { group, plural, namespaced } = controller.declaration.resource;
  const key = {
    controller: controller.name,
    cluster: 'alpha',
    group,
    resource: plural,
    name: `object-${digits(number, 6)}`,
  };
  const cause = { type: 'requeue', slot: `30/${Math.floor(dueAt / 30)}`, dueAt } as const;
  return { ...key, ...(namespaced ? { namespace: 'default' } : {}), cause };
}
