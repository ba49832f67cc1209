// Delivers messages as Lambda would, in the tests' own process and time: the code of batches, timers and resync over a real SQS
// server. Time is a number that tests move, so that minutes of waiting take none; queues know no delays, because what waits
// is decided by the timers, and they look at that number.
import { ReceiveMessageCommand } from '@aws-sdk/client-sqs';
import type { ControllerDefinition } from '../../src/api/definition.ts';
import type { Log } from '../../src/core/log.ts';
import { silentMetrics } from '../../src/core/metrics.ts';
import {
  controllerDeadLetterQueue,
  controllerQueue,
  resyncDeadLetterQueue,
  resyncQueue,
  timersDeadLetterQueue,
  timersQueue,
} from '../../src/core/names.ts';
import { sleep, type Wait } from '../../src/core/time.ts';
import type { KubeClient } from '../../src/kube/client/client.ts';
import { sleepMs } from '../../src/lambda/clock.ts';
import { createBatch } from '../../src/reconciling/batch.ts';
import { createBreaker } from '../../src/reconciling/breaker.ts';
import { createMapKeys, isMapped } from '../../src/reconciling/map-keys.ts';
import { createReconcile } from '../../src/reconciling/reconcile.ts';
import { createResync } from '../../src/resync/run.ts';
import { createFunctionIds } from '../../src/sqs/deduplication.ts';
import { createDelete } from '../../src/sqs/delete.ts';
import { createDepth } from '../../src/sqs/depth.ts';
import { dueAtOf, parseMessage } from '../../src/sqs/message.ts';
import type { QueueRecord } from '../../src/sqs/record.ts';
import { createReturn } from '../../src/sqs/return.ts';
import { createSend } from '../../src/sqs/send.ts';
import type { QueueEntry, Send } from '../../src/sqs/sender.ts';
import { createTimers } from '../../src/timers/run.ts';
import { startTestQueues } from '../sqs/fauxqs.ts';

/** Now, in milliseconds; tests move it. */
export type Clock = { ms: number };

/** A running delivery. */
export type QueueRunner = {
  readonly send: Send;
  /** Delivers what is due until nothing is, without moving the clock. Returns how many messages were delivered. */
  deliver(): Promise<number>;
  /** Hands a message to so many functions at the same time, as no queue ever would. */
  atOnce(controller: string, body: string, functions: number): Promise<void>;
  /** Delivers, moving the clock on from one due timer to the next, until so many seconds have passed. */
  pass(seconds: number): Promise<void>;
  /** What waits in the timers queue, as bodies. */
  waiting(): readonly string[];
  /** Loses what waits there. */
  lose(): void;
  /** Bodies in a controller's dead-letter queue; they are taken. */
  deadLetters(controller: string): Promise<readonly string[]>;
  /** Everything that was put on a queue, with the queue's name, oldest first. */
  readonly sent: readonly (QueueEntry & { readonly queue: string })[];
  /** All log lines, for the analysis of a failed test. */
  readonly lines: readonly string[];
  /** One resync run: lists all objects; the keys that it finds are then in the timers. */
  tick(): Promise<void>;
  stop(): Promise<void>;
};

const limits = { reconcileMs: 15_000, graceMs: 500 };
/** Ten hours between two visits would only make the clock's numbers larger. */
export const resyncPeriodSeconds = 600;

/**
 * Starts the delivery for controllers that run against one cluster, `test`.
 * @param parts `clientOf`: the client of each controller, where it is not `client`; `wait`: of a reconcile
 */
export async function startQueueRunner({
  registry,
  environment,
  client,
  clientOf = () => client,
  clock,
  wait = sleep,
}: {
  readonly registry: readonly ControllerDefinition[];
  readonly environment: Readonly<Record<string, string>>;
  readonly client: KubeClient;
  readonly clientOf?: (controller: string) => KubeClient;
  readonly clock: Clock;
  readonly wait?: Wait;
}): Promise<QueueRunner> {
  const queues = await startTestQueues();
  const { sqs, urlPrefix } = queues;
  await queues.create(
    ...registry.flatMap(({ name }) => [controllerQueue(name), controllerDeadLetterQueue(name)]),
    ...[timersQueue, timersDeadLetterQueue, resyncQueue, resyncDeadLetterQueue],
  );

  const lines: string[] = [];
  const log = (fields: object): Log => {
    const write = (level: string) => (message: string, more?: object) =>
      void lines.push(`${level} ${message} ${JSON.stringify({ ...fields, ...more })}`);
    return { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') };
  };
  const sendReally = createSend(sqs, urlPrefix);
  const waiting = new Map<string, string>();
  const everything: (QueueEntry & { readonly queue: string })[] = [];
  const send: Send = async (queue, entries, options) => {
    everything.push(...entries.map((entry) => ({ ...entry, queue })));
    if (queue !== timersQueue) return await sendReally(queue, entries, options);
    return entries.map(({ body }, index) => {
      const messageId = `${clock.ms}-${waiting.size}-${index}`;
      waiting.set(messageId, body);
      return { accepted: true, messageId };
    });
  };
  const findCluster = async () => ({ type: 'client', client }) as const;
  const sqsNow = () => clock.ms;
  const ids = async () => createFunctionIds('secret');
  const createFunction = (controller: ControllerDefinition) => {
    const { name, declaration } = controller;
    const parts = { name, declaration, instance: controller.start(environment), now: () => new Date(clock.ms) };
    const reconcile = createReconcile({ ...parts, wait });
    const mapKeys = createMapKeys(parts, send, ids);
    return createBatch({
      controller: name,
      reconcile: async (job) => await (isMapped(declaration, job.message) ? mapKeys(job) : reconcile(job)),
      findCluster: async () => ({ type: 'client', client: clientOf(name) }),
      breaker: createBreaker(() => clock.ms),
      send,
      deleteMessages: createDelete(sqs, urlPrefix, controllerQueue(controller.name)),
      returnMessages: createReturn(sqs, urlPrefix, controllerQueue(controller.name)),
      log,
      metrics: silentMetrics,
      monotonicMs: () => performance.now(),
      sqsNow,
      wait: sleepMs,
      exitProcess: (reason) => {
        throw new Error(reason);
      },
    });
  };
  const controllers = registry.map((controller) => ({
    controller,
    queue: controllerQueue(controller.name),
    batch: createFunction(controller),
  }));
  const timers = createTimers({
    ...{
      ids,
      send,
      log: log({}),
      metrics: silentMetrics,
      sqsNow,
      controllers: new Set(registry.map(({ name }) => name)),
    },
    returnMessages: createReturn(sqs, urlPrefix, timersQueue),
  });
  const resync = createResync({
    registry,
    findCluster,
    listClusters: async () => ['test'],
    send,
    depth: createDepth(sqs, urlPrefix),
    sqsNow: () => clock.ms,
    log,
    metrics: silentMetrics,
    rate: { runIntervalSeconds: resyncPeriodSeconds, missedAfterSeconds: 1, perSecond: 100 },
    periodSeconds: resyncPeriodSeconds,
  });

  async function receive(queue: string): Promise<readonly QueueRecord[]> {
    const { Messages = [] } = await sqs.send(
      new ReceiveMessageCommand({
        QueueUrl: `${urlPrefix}${queue}`,
        MaxNumberOfMessages: 10,
        MessageSystemAttributeNames: ['All'],
      }),
    );
    return Messages.map(({ MessageId = '', ReceiptHandle = '', Body = '', Attributes = {} }) => ({
      messageId: MessageId,
      receiptHandle: ReceiptHandle,
      body: Body,
      groupId: Attributes.MessageGroupId,
      receiveCount: Number(Attributes.ApproximateReceiveCount ?? 1),
      firstReceivedAt: Number(Attributes.ApproximateFirstReceiveTimestamp ?? 0),
    }));
  }
  async function giveTo(
    queue: string,
    handle: (records: readonly QueueRecord[]) => Promise<readonly string[]>,
  ): Promise<number> {
    // Most queues are empty most of the time; asking each of them in each round would be most of what a test does.
    const records = queues.holds(queue) ? await receive(queue) : [];
    if (records.length === 0) return 0;
    const kept = new Set(await handle(records));
    const done = records.filter(({ messageId }) => !kept.has(messageId));
    await createDelete(sqs, urlPrefix, queue)(done.map(({ receiptHandle }) => receiptHandle));
    return records.length;
  }
  /** Hands everything that waits to the timers: what is not due hops, and so waits again. */
  async function turnTimers(): Promise<void> {
    const records = [...waiting].map(([messageId, body]) => ({
      messageId,
      receiptHandle: messageId,
      body,
      groupId: undefined,
      receiveCount: 1,
      firstReceivedAt: clock.ms,
    }));
    waiting.clear();
    const kept = await timers(records, { signal: AbortSignal.timeout(15_000) });
    if (kept.length > 0) throw new Error('the timers kept what they should have moved');
  }

  async function deliver(): Promise<number> {
    let delivered = 0;
    for (;;) {
      await turnTimers();
      const counts = await Promise.all(
        controllers.map(
          async ({ queue, batch }) => await giveTo(queue, async (records) => await batch(records, limits)),
        ),
      );
      const now = counts.reduce((sum, count) => sum + count, 0);
      if (now === 0) return delivered;
      delivered += now;
    }
  }

  return {
    send,
    sent: everything,
    lines,
    deliver,
    atOnce: async (name, body, functions) => {
      const record = { receiptHandle: 'none', body, groupId: undefined, receiveCount: 1, firstReceivedAt: clock.ms };
      const several = controllers
        .filter(({ controller }) => controller.name === name)
        .flatMap(({ controller }) => Array.from({ length: functions }, () => createFunction(controller)));
      await Promise.all(several.map((batch, index) => batch([{ ...record, messageId: `at-once-${index}` }], limits)));
    },
    pass: async (seconds) => {
      const end = clock.ms + seconds * 1000;
      for (;;) {
        await deliver();
        const due = [...waiting.values()].map((body) => dueMs(body)).filter((at) => at <= end);
        if (due.length === 0) break;
        clock.ms = Math.max(clock.ms, Math.min(...due));
      }
      clock.ms = end;
    },
    waiting: () => [...waiting.values()],
    lose: () => waiting.clear(),
    deadLetters: async (controller) =>
      (await queues.drain(controllerDeadLetterQueue(controller))).map(({ Body = '' }) => Body),
    tick: async () => {
      const signal = AbortSignal.timeout(15_000);
      await resync.startRun(new Date(clock.ms).toISOString(), { signal });
      const time = { signal, remainingMs: () => 60_000 };
      while ((await giveTo(resyncQueue, async (records) => await resync.run(records, time))) > 0);
    },
    stop: () => queues.stop(),
  };
}

/** Creates a wait that only advances the clock. It rejects when a function would be out of time. */
export function createVirtualWait(clock: Clock): Wait {
  const waitedMs = new WeakMap<AbortSignal, number>();
  return async (seconds, signal) => {
    signal.throwIfAborted();
    const total = (waitedMs.get(signal) ?? 0) + seconds * 1000;
    if (total > limits.reconcileMs) throw new Error('out of time');
    waitedMs.set(signal, total);
    clock.ms += seconds * 1000;
  };
}

function dueMs(body: string): number {
  return (dueAtOf(parseMessage(body)) ?? 0) * 1000;
}
