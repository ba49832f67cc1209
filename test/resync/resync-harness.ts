// What the tests of a resync stand on: an SQS server, a resync whose timers queue is looked at instead of waited for, and messages.
import { afterAll, afterEach, beforeAll } from 'vitest';
import type { Registered } from '../../src/core/controller.ts';
import type { FoundCluster } from '../../src/kube/found-cluster.ts';
import type { KubeObject } from '../../src/kube/client/object.ts';
import { createDepth } from '../../src/sqs/depth.ts';
import { type Message, parseMessage } from '../../src/queue/message.ts';
import { formatResyncMessage, type ResyncMessage } from '../../src/queue/resync-message.ts';
import { createSend } from '../../src/queue/send.ts';
import type { Entry, Send } from '../../src/sqs/sender.ts';
import type { QueueRecord } from '../../src/runtime/intake.ts';
import { createResync } from '../../src/runtime/resync.ts';
import { type Answer, startWireServer } from '../kube/wire-server.ts';
import { startTestQueues, type TestQueues } from '../sqs/fauxqs.ts';
import { gadgetController } from './gadgets.ts';
import { createWitness } from '../support/recorder.ts';

/** The tick that all of them belong to. */
export const run = '2026-11-21T12:00:00Z';
/** The same, in seconds since 1970. */
export const runSeconds = Date.parse(run) / 1000;

/** How a resync differs from the usual one. */
type Differently = {
  readonly clusters?: Readonly<Record<string, FoundCluster>>;
  readonly tickSeconds?: number;
  readonly periodSeconds?: number;
  readonly perSecond?: number;
  readonly nowSeconds?: number | (() => number);
  readonly leftMs?: number | (() => number);
  readonly refuse?: boolean;
  /** What keeps queues' depths from being known. */
  readonly depthFails?: Error;
  /** The table never answers. */
  readonly silent?: boolean;
  readonly more?: readonly Registered[];
  readonly signal?: AbortSignal;
};

/** Starts the queues for all tests of a file. */
export function resyncAround() {
  let queues: TestQueues;
  let send: Send;
  let batchSizes: number[] = [];
  beforeAll(async () => {
    queues = await startTestQueues();
    const note = (input: object) => 'Entries' in input && Array.isArray(input.Entries) && input.Entries.length;
    queues.sqs.middlewareStack.add(
      (next, { commandName }) =>
        async (call) => {
          if (commandName === 'SendMessageBatchCommand') batchSizes.push(Number(note(call.input)));
          return await next(call);
        },
      { step: 'initialize' },
    );
    await queues.create('gadget.fifo', 'timers', 'resync', 'resync-dlq');
    send = createSend(queues.sqs, queues.urlPrefix);
  });
  afterEach(async () => {
    for (const queue of ['gadget.fifo', 'resync', 'resync-dlq']) await queues.drain(queue);
    batchSizes = [];
  });
  afterAll(async () => await queues.stop());

  function aResync({
    clusters = {},
    tickSeconds = 600,
    periodSeconds = 600,
    perSecond = 100,
    nowSeconds = runSeconds + 2,
    leftMs = 60_000,
    refuse = false,
    depthFails,
    silent = false,
    more = [],
    signal = new AbortController().signal,
  }: Differently) {
    const { log, ...witness } = createWitness();
    const timed: Message[] = [];
    const asked: Entry[] = [];
    const never = new Promise<never>(() => undefined);
    const resync = createResync({
      registry: [gadgetController, ...more],
      listClusters: async () => (silent ? await never : Object.keys(clusters)),
      findCluster: async (name) => (silent ? await never : (clusters[name] ?? { type: 'unknown' })),
      send: async (queue, entries, options) => {
        if (refuse) return entries.map(() => ({ accepted: false, reason: 'throttled' }));
        if (queue === 'timers') timed.push(...entries.map(({ body }) => parseMessage(body)));
        if (queue === 'resync') asked.push(...entries);
        return await send(queue, entries, options);
      },
      depth: depthFails === undefined ? createDepth(queues.sqs, queues.urlPrefix) : () => Promise.reject(depthFails),
      now: () => tell(nowSeconds) * 1000,
      log: () => log,
      meter: witness.meter,
      pace: { tickSeconds, graceSeconds: 240, perSecond },
      periodSeconds,
    });
    return {
      ...witness,
      timed,
      /** What it asked of the resync itself. */
      asked,
      tick: () => resync.tick(run, { signal }),
      run: (...messages: readonly (Partial<ResyncMessage> | string)[]) =>
        resync.run(messages.map(aRecord), { signal, leftMs: () => tell(leftMs) }),
    };
  }
  return {
    aResync,
    /** Sends as everybody else does. */
    send: async (...given: Parameters<Send>) => await send(...given),
    /** How many messages each call of SQS in this test sent. */
    batchSizes: (): readonly number[] => batchSizes,
    /** Takes what is on a queue. */
    drain: async (queue: string) => await queues.drain(queue),
  };
}

function tell(number: number | (() => number)): number {
  return typeof number === 'number' ? number : number();
}

function aRecord(message: Partial<ResyncMessage> | string, index: number): QueueRecord {
  const whole: ResyncMessage = {
    v: 1,
    kind: 'resync',
    run,
    cluster: 'alpha',
    controller: 'gadget',
    ...Object(message),
  };
  const body = typeof message === 'string' ? message : formatResyncMessage(whole);
  const messageId = `m${index}`;
  return { messageId, body, receiptHandle: messageId, groupId: undefined, receiveCount: 1, firstReceivedAt: 0 };
}

/** A cluster `alpha` whose API server answers so. */
export async function serving(answer: Answer) {
  const server = await startWireServer(answer);
  return { alpha: { type: 'client', client: server.client() }, server } as const;
}

/** Whose messages they are. */
export function names(messages: readonly Message[]): readonly string[] {
  return messages.map(({ name }) => name);
}

/** So many objects, `g0` to the last. */
export function many(count: number, make: (name: string) => KubeObject): readonly KubeObject[] {
  return Array.from({ length: count }, (_, number) => make(`g${number}`));
}
