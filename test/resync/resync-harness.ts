// The harness of the resync tests: an SQS server, a resync whose messages to the timers queue are recorded, and resync
// messages.
import { ChangeMessageVisibilityCommand, ReceiveMessageCommand } from '@aws-sdk/client-sqs';
import { afterAll, afterEach, beforeAll } from 'vitest';
import type { ControllerDefinition } from '../../src/api/definition.ts';
import type { ClusterLookup } from '../../src/clusters/connect.ts';
import type { KubeObject } from '../../src/kube/client/object.ts';
import { formatResyncMessage, type ResyncMessage } from '../../src/resync/message.ts';
import { createResync } from '../../src/resync/run.ts';
import { createDepth } from '../../src/sqs/depth.ts';
import { type Message, parseMessage } from '../../src/sqs/message.ts';
import type { QueueRecord } from '../../src/sqs/record.ts';
import { createSend } from '../../src/sqs/send.ts';
import type { QueueEntry, Send } from '../../src/sqs/sender.ts';
import { type Responder, startWireServer } from '../kube/wire-server.ts';
import { startTestQueues, type TestQueues } from '../sqs/fauxqs.ts';
import { createRecorder } from '../support/recorder.ts';
import { gadgetController, listing } from './gadgets.ts';

/** The resync run of all messages. */
export const run = '2026-11-21T12:00:00Z';
/** The time of the run, in seconds since 1970. */
export const runSeconds = Date.parse(run) / 1000;

/** The options of a resync. */
type ResyncOptions = {
  readonly clusters?: Readonly<Record<string, ClusterLookup>>;
  readonly runIntervalSeconds?: number;
  readonly periodSeconds?: number;
  readonly perSecond?: number;
  readonly nowSeconds?: number | (() => number);
  readonly remainingMs?: number | (() => number);
  readonly rejectAll?: boolean;
  /** Messages to the timers are accepted and not sent, where many of them would only load the SQS server. */
  readonly acceptTimers?: boolean;
  /** The error of every read of a queue's depth. */
  readonly depthFails?: Error;
  /** The clusters table never responds. */
  readonly tableHangs?: boolean;
  /** The error of every lookup of a cluster. */
  readonly entryFails?: Error;
  readonly more?: readonly ControllerDefinition[];
  readonly countsDeadLetters?: boolean;
  readonly namespaces?: readonly string[];
  readonly signal?: AbortSignal;
};

/** Starts the queues for all tests of a file. */
export function resyncFixture() {
  let queues: TestQueues;
  let send: Send;
  let batchSizes: number[] = [];
  beforeAll(async () => {
    queues = await startTestQueues();
    const entryCount = (input: object) => 'Entries' in input && Array.isArray(input.Entries) && input.Entries.length;
    queues.sqs.middlewareStack.add(
      (next, { commandName }) =>
        async (call) => {
          if (commandName === 'SendMessageBatchCommand') batchSizes.push(Number(entryCount(call.input)));
          return await next(call);
        },
      { step: 'initialize' },
    );
    await queues.create('gadget.fifo', 'gadget-dlq.fifo', 'timers', 'timers-dlq', 'resync', 'resync-dlq');
    send = createSend(queues.sqs, queues.urlPrefix);
  });
  afterEach(async () => {
    for (const queue of ['gadget.fifo', 'gadget-dlq.fifo', 'timers-dlq', 'resync', 'resync-dlq'])
      await queues.drain(queue);
    batchSizes = [];
  });
  afterAll(async () => await queues.stop());

  function aResync({
    clusters = {},
    runIntervalSeconds = 600,
    periodSeconds = 600,
    perSecond = 100,
    nowSeconds = runSeconds + 2,
    remainingMs = 60_000,
    rejectAll = false,
    acceptTimers = false,
    depthFails,
    tableHangs = false,
    entryFails,
    more = [],
    namespaces,
    countsDeadLetters = false,
    signal = new AbortController().signal,
  }: ResyncOptions) {
    const { log, ...recorder } = createRecorder();
    const timed: Message[] = [];
    const resyncEntries: QueueEntry[] = [];
    const readDepth = createDepth(queues.sqs, queues.urlPrefix);
    let depthReads = 0;
    const never = new Promise<never>(() => undefined);
    const resync = createResync({
      registry: [gadgetController, ...more],
      countsDeadLetters,
      ...(namespaces === undefined ? {} : { namespaces }),
      listClusters: async () => (tableHangs ? await never : Object.keys(clusters)),
      findCluster: async (name) => {
        if (entryFails !== undefined) throw entryFails;
        return tableHangs ? await never : (clusters[name] ?? { type: 'unknown' });
      },
      send: async (queue, entries, options) => {
        if (rejectAll) return entries.map(() => ({ accepted: false, reason: 'throttled' }));
        if (queue === 'timers') timed.push(...entries.map(({ body }) => parseMessage(body)));
        if (queue === 'resync') resyncEntries.push(...entries);
        if (queue === 'timers' && acceptTimers) return entries.map(() => ({ accepted: true, messageId: 'accepted' }));
        return await send(queue, entries, options);
      },
      depth: async (...given) => {
        depthReads += 1;
        if (depthFails !== undefined) throw depthFails;
        return await readDepth(...given);
      },
      sqsNow: () => resolveNumber(nowSeconds) * 1000,
      log: () => log,
      metrics: recorder.metrics,
      rate: { runIntervalSeconds, missedAfterSeconds: 240, perSecond },
      periodSeconds,
    });
    return {
      ...recorder,
      timed,
      /** The entries that were sent to the resync queue. */
      resyncEntries,
      /** How often the depth of a queue was read. */
      depthReads: () => depthReads,
      startRun: (time = run) => resync.startRun(time, { signal }),
      run: (...messages: readonly (Partial<ResyncMessage> | string)[]) =>
        resync.run(messages.map(aRecord), { signal, remainingMs: () => resolveNumber(remainingMs) }),
    };
  }
  /** A resync of the cluster `alpha`, which lists these objects, or responds in its own way. */
  async function resyncOf(given: readonly KubeObject[] | Responder, options: ResyncOptions = {}) {
    const responder = typeof given === 'function' ? given : listing(given);
    const { alpha, server } = await serving(responder);
    return { server, ...aResync({ clusters: { alpha }, ...options }) };
  }
  let filled = 0;
  return {
    aResync,
    resyncOf,
    /** Fills the controller's queue, by default with more messages than an idle one has. */
    fillQueue: async (messages = 11) => {
      filled += 1;
      const deduplicationIds = Array.from({ length: messages }, (_, number) => `${filled} ${number}`);
      const entries = deduplicationIds.map((deduplicationId) => ({
        body: 'x',
        groupId: deduplicationId,
        deduplicationId,
      }));
      await send('gadget.fifo', entries, { signal: AbortSignal.timeout(5_000) });
    },
    /** Sends entries to a queue. */
    send: async (...given: Parameters<Send>) => await send(...given),
    /** Returns the number of messages of each SendMessageBatch call in this test. */
    batchSizes: (): readonly number[] => batchSizes,
    /** Receives and deletes all messages of a queue. */
    drain: async (queue: string) => await queues.drain(queue),
    /** Receives a message of a queue, as a command that reads it. Returns what ends that. */
    hold: async (queue: string) => {
      const QueueUrl = `${queues.urlPrefix}${queue}`;
      const { Messages = [] } = await queues.sqs.send(new ReceiveMessageCommand({ QueueUrl }));
      const ReceiptHandle = Messages[0]?.ReceiptHandle;
      const shown = new ChangeMessageVisibilityCommand({ QueueUrl, ReceiptHandle, VisibilityTimeout: 0 });
      return async () => void (await queues.sqs.send(shown));
    },
  };
}

function resolveNumber(number: number | (() => number)): number {
  return typeof number === 'number' ? number : number();
}

function aRecord(message: Partial<ResyncMessage> | string, index: number): QueueRecord {
  const resyncMessage: ResyncMessage = {
    v: 1,
    type: 'resync',
    run,
    cluster: 'alpha',
    controller: 'gadget',
    ...Object(message),
  };
  const body = typeof message === 'string' ? message : formatResyncMessage(resyncMessage);
  const messageId = `m${index}`;
  return { messageId, body, receiptHandle: messageId, groupId: undefined, receiveCount: 1, firstReceivedAt: 0 };
}

/** Starts an API server with this responder, as the cluster `alpha`. */
export async function serving(responder: Responder, { nowSeconds = runSeconds + 2 } = {}) {
  const server = await startWireServer((request, response) => {
    response.setHeader('date', new Date(nowSeconds * 1000).toUTCString());
    responder(request, response);
  });
  return { alpha: { type: 'client', client: server.client() }, server } as const;
}

/** Returns the object names of the messages. */
export function names(messages: readonly Message[]): readonly string[] {
  return messages.map(({ name }) => name);
}

/** Makes objects with the names `g0`, `g1`, and so on. */
export function many(count: number, make: (name: string) => KubeObject): readonly KubeObject[] {
  return Array.from({ length: count }, (_, number) => make(`g${number}`));
}
