// Delivers messages as Lambda would, in the tests' own process and time: the code of batches, timers and resync over a real SQS
// server. Time is a number that tests move, so that minutes of waiting take none; queues know no delays, because what waits
// is decided by the timers, and they look at that number.
import { ReceiveMessageCommand } from '@aws-sdk/client-sqs';
import type { Log } from '../../src/core/context.ts';
import type { Registered } from '../../src/core/controller.ts';
import {
  controllerDeadLetters,
  controllerQueue,
  resyncDeadLetters,
  resyncQueue,
  timersDeadLetters,
  timersQueue,
} from '../../src/core/names.ts';
import type { KubeClient } from '../../src/kube/client/client.ts';
import { wait } from '../../src/lambda/clock.ts';
import { createDelete } from '../../src/sqs/delete.ts';
import { createDepth } from '../../src/sqs/depth.ts';
import { createSend } from '../../src/queue/send.ts';
import type { Entry, Send } from '../../src/sqs/sender.ts';
import { createBatch } from '../../src/runtime/batch.ts';
import { createBreaker } from '../../src/runtime/breaker.ts';
import type { QueueRecord } from '../../src/runtime/intake.ts';
import { createMapKeys, isMapped } from '../../src/runtime/map-keys.ts';
import { createReconcile } from '../../src/runtime/reconcile.ts';
import { createResync } from '../../src/runtime/resync.ts';
import { createTimers } from '../../src/runtime/timers.ts';
import { startTestQueues } from '../sqs/fauxqs.ts';

/** Now, in milliseconds; tests move it. */
export type Clock = { ms: number };

/** A running delivery. */
export type Pump = {
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
  readonly sent: readonly (Entry & { readonly queue: string })[];
  /** Everything that was logged, one line each; for whoever looks into a statement that failed. */
  readonly lines: readonly string[];
  /** One tick of the schedule: polls the world; what it finds is then in the timers. */
  tick(): Promise<void>;
  stop(): Promise<void>;
};

const meter = { count: () => {}, milliseconds: () => {} };
const limits = { reconcileMs: 15_000, graceMs: 500 };
/** Ten hours between two visits would only make the clock's numbers larger. */
export const resyncPeriodSeconds = 600;

/**
 * Starts the delivery for controllers that run against one cluster, `test`.
 * @param parts `clientOf`: as whom each controller comes, where that is not `client`
 */
export async function startPump({
  registry,
  environment,
  client,
  clientOf = () => client,
  clock,
}: {
  readonly registry: readonly Registered[];
  readonly environment: Readonly<Record<string, string>>;
  readonly client: KubeClient;
  readonly clientOf?: (controller: string) => KubeClient;
  readonly clock: Clock;
}): Promise<Pump> {
  const queues = await startTestQueues();
  const { sqs, urlPrefix } = queues;
  await queues.create(
    ...registry.flatMap(({ name }) => [controllerQueue(name), controllerDeadLetters(name)]),
    ...[timersQueue, timersDeadLetters, resyncQueue, resyncDeadLetters],
  );

  const lines: string[] = [];
  const log = (fields: object): Log => {
    const write = (level: string) => (message: string, more?: object) =>
      void lines.push(`${level} ${message} ${JSON.stringify({ ...fields, ...more })}`);
    return { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') };
  };
  const sendReally = createSend(sqs, urlPrefix);
  const waiting = new Map<string, string>();
  const everything: (Entry & { readonly queue: string })[] = [];
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
  const createFunction = (controller: Registered) => {
    const { name, declares } = controller;
    const parts = { name, declares, running: controller.start(environment), now: () => new Date(clock.ms) };
    const reconcile = createReconcile(parts);
    const mapKeys = createMapKeys(parts, send);
    return createBatch({
      controller: name,
      reconcile: async (job) => await (isMapped(declares, job.message) ? mapKeys(job) : reconcile(job)),
      findCluster: async () => ({ type: 'client', client: clientOf(name) }),
      breaker: createBreaker(() => clock.ms),
      send,
      deleteMessages: createDelete(sqs, urlPrefix, controllerQueue(controller.name)),
      log,
      meter,
      monotonicMs: () => performance.now(),
      sqsNow,
      wait,
      die: (reason) => {
        throw new Error(reason);
      },
    });
  };
  const controllers = registry.map((controller) => ({
    controller,
    queue: controllerQueue(controller.name),
    batch: createFunction(controller),
  }));
  const timers = createTimers({ send, log: log({}), meter, sqsNow });
  const resync = createResync({
    registry,
    findCluster,
    listClusters: async () => ['test'],
    send,
    depth: createDepth(sqs, urlPrefix),
    now: () => clock.ms,
    log,
    meter,
    pace: { tickSeconds: resyncPeriodSeconds, graceSeconds: 1, perSecond: 100 },
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
      (await queues.drain(controllerDeadLetters(controller))).map(({ Body = '' }) => Body),
    tick: async () => {
      const signal = AbortSignal.timeout(15_000);
      await resync.tick(new Date(clock.ms).toISOString(), { signal });
      const time = { signal, leftMs: () => 60_000 };
      while ((await giveTo(resyncQueue, async (records) => await resync.run(records, time))) > 0);
    },
    stop: () => queues.stop(),
  };
}

function dueMs(body: string): number {
  const message: unknown = JSON.parse(body);
  const isDue = typeof message === 'object' && message !== null && 'dueAt' in message;
  return isDue ? Number(message.dueAt) * 1000 : 0;
}
