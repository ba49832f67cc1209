// Delivers messages as Lambda would, on the functions and queues of outrigger/testing: with a client for each controller, each
// message that was sent, and concurrent functions. Time is a number that tests move, so that minutes of waiting take none.
import type { ControllerDefinition } from '../../src/api/definition.ts';
import type { Log } from '../../src/core/log.ts';
import { controllerDeadLetterQueue, controllerQueue, timersQueue } from '../../src/core/names.ts';
import { sleep, type Wait } from '../../src/core/time.ts';
import type { KubeClient } from '../../src/kube/client/client.ts';
import { groupIdOf } from '../../src/sqs/deduplication.ts';
import { formatMessage, hashOf, keyOfMessage, type Message } from '../../src/sqs/message.ts';
import type { QueueEntry, Send } from '../../src/sqs/sender.ts';
import { createSystemFunctions } from '../../src/testing/system/functions.ts';
import { createSystemQueues } from '../../src/testing/system/queues.ts';

/** Now, in milliseconds; tests move it. */
export type Clock = { ms: number };

/** A running delivery. */
export type QueueRunner = {
  readonly send: Send;
  /** Sends messages to the queues of their controllers, each with an id of its own, so that none is deduplicated. */
  enqueue(...messages: readonly Message[]): Promise<void>;
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
};

const reconcileMs = 15_000;
/** Ten hours between two visits would only make the clock's numbers larger. */
const resyncPeriodSeconds = 600;

/** The message of a change of an object. */
export function changeOf(
  { name: controller, declaration: { resource } }: ControllerDefinition,
  { namespace, name, observedAt }: { readonly namespace: string; readonly name: string; readonly observedAt: number },
): Message {
  const { group, plural } = resource;
  return {
    controller,
    cluster: 'test',
    group,
    resource: plural,
    namespace,
    name,
    cause: { type: 'change', observedAt },
  };
}

/**
 * Starts the delivery for controllers that run against one cluster, `test`.
 * @param parts `clientOf`: the client of each controller, where it is not `client`; `wait`: of a reconcile
 */
export function startQueueRunner({
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
}): QueueRunner {
  const nowMs = () => clock.ms;
  const queues = createSystemQueues(nowMs);
  const lines: string[] = [];
  const log = (_: string, fields: object): Log => {
    const write = (level: string) => (message: string, more?: object) =>
      void lines.push(`${level} ${message} ${JSON.stringify({ ...fields, ...more })}`);
    return { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') };
  };
  const sent: (QueueEntry & { readonly queue: string })[] = [];
  const send: Send = async (queue, entries, options) => {
    sent.push(...entries.map((entry) => ({ ...entry, queue })));
    return await queues.send(queue, entries, options);
  };
  const functions = createSystemFunctions({
    controllers: registry,
    environment,
    client,
    clientOf,
    queues,
    send,
    nowMs,
    log,
    wait,
    reconcileMs,
    resync: {
      rate: { runIntervalSeconds: resyncPeriodSeconds, missedAfterSeconds: 1, perSecond: 100 },
      periodSeconds: resyncPeriodSeconds,
    },
  });
  const take = (queue: string) => {
    const records = queues.peek(queue);
    queues.delete(
      queue,
      records.map(({ receiptHandle }) => receiptHandle),
    );
    return records.map(({ body }) => body);
  };

  async function enqueue(...messages: readonly Message[]): Promise<void> {
    const signal = AbortSignal.timeout(15_000);
    for (const [controller, all] of Map.groupBy(messages, (message) => message.controller)) {
      const entries = all.map((message, index) => ({
        body: formatMessage(message),
        groupId: groupIdOf(keyOfMessage(message)),
        deduplicationId: hashOf('enqueued', sent.length, index),
      }));
      for (const result of await send(controllerQueue(controller), entries, { signal })) {
        if (!result.accepted) throw new Error(result.reason);
      }
    }
  }
  async function deliver(): Promise<number> {
    let delivered = 0;
    for (;;) {
      while ((await functions.deliverTimers()) > 0);
      const counts = await Promise.all(registry.map(functions.deliver));
      const now = counts.reduce((sum, count) => sum + count, 0);
      if (now === 0) return delivered;
      delivered += now;
    }
  }

  return {
    send,
    enqueue,
    sent,
    lines,
    deliver,
    atOnce: async (name, body, count) => {
      const record = { receiptHandle: 'none', body, groupId: undefined, receiveCount: 1, firstReceivedAt: clock.ms };
      const several = registry
        .filter((controller) => controller.name === name)
        .flatMap((controller) => Array.from({ length: count }, () => functions.create(controller)));
      await Promise.all(several.map((batch, index) => batch([{ ...record, messageId: `at-once-${index}` }])));
    },
    pass: async (seconds) => {
      const end = clock.ms + seconds * 1000;
      for (;;) {
        await deliver();
        const next = queues.nextAt([timersQueue]);
        if (next === undefined || next > end) break;
        clock.ms = Math.max(clock.ms, next);
      }
      clock.ms = end;
    },
    waiting: () => queues.peek(timersQueue).map(({ body }) => body),
    lose: () => void take(timersQueue),
    deadLetters: async (controller) => take(controllerDeadLetterQueue(controller)),
    tick: async () => {
      await functions.startResync();
      while ((await functions.deliverResync()) > 0);
    },
  };
}
