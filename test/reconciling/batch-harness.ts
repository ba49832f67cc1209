// The harness of the batch tests: a batch with a manual clock, queues that are arrays, and a given reconcile.
import type { ClusterLookup } from '../../src/clusters/connect.ts';
import { defaultRetry } from '../../src/core/controller-options.ts';
import { toError } from '../../src/core/errors.ts';
import { createClient } from '../../src/kube/client/client.ts';
import { type BatchDeps, createBatch } from '../../src/reconciling/batch.ts';
import { createBreaker } from '../../src/reconciling/breaker.ts';
import type { KeyGroup } from '../../src/reconciling/group-records.ts';
import { type ReconcileInput, type ReconcileReport, reportReconcile } from '../../src/reconciling/report.ts';
import { createSenderCheck } from '../../src/reconciling/sender-check.ts';
import { createResync, type ResyncDeps } from '../../src/resync/run.ts';
import { createFunctionIds, type FunctionIds, groupIdOf } from '../../src/sqs/deduplication.ts';
import { formatMessage, type Message, parseMessage } from '../../src/sqs/message.ts';
import type { QueueRecord } from '../../src/sqs/record.ts';
import type { ReturnedRecord } from '../../src/sqs/return.ts';
import type { QueueEntry, Send } from '../../src/sqs/sender.ts';
import { createTimers, type TimersDeps } from '../../src/timers/run.ts';
import { aMessage, asChange, asRetry } from '../sqs/messages.ts';
import type { QueueDouble } from '../sqs/queue-double.ts';
import { allWatchers, gadgetSenders, roles, senders, watchersOf } from '../sqs/sender-roles.ts';
import { createRecorder } from '../support/recorder.ts';

/** The time by the clock of SQS at the start. */
const startMs = 1_800_000_000_000;
/** Reports of reconciles without writes. */
export const done: ReconcileReport = { outcome: { type: 'done' }, writes: 0 };
export const requeued: ReconcileReport = { outcome: { type: 'done', requeueAfterSeconds: 5 }, writes: 0 };
export const failed = (error = new Error('no')): ReconcileReport => ({
  outcome: { type: 'failed', error, stalledBefore: false },
  writes: 0,
});
export const postponed = (
  reason: 'unreachable' | 'conflict' = 'unreachable',
  error = new Error('connect'),
): ReconcileReport => ({ outcome: { type: 'postponed', reason, error }, writes: 0 });

/** The cause of a last attempt. */
export const lastTry = asRetry({ attempt: defaultRetry.attempts - 1 });

/** Resolves when everything has run that waits for no time. */
export const settle = async () => await new Promise(setImmediate);

/** Makes a message for a tank `default/<name>`. */
export const messageFor = (name: string, more: Partial<Message> = {}): Message => ({
  controller: 'water-tank',
  cluster: 'a',
  group: 'plant.example.com',
  resource: 'watertanks',
  namespace: 'default',
  name,
  ...asChange({ observedAt: startMs - 100 }),
  ...more,
});
/** Makes a record of such a message. */
export const record = (name: string, more: Partial<Message> = {}, receiveCount = 1): QueueRecord => ({
  messageId: `m-${name}`,
  receiptHandle: `r-${name}`,
  body: formatMessage(messageFor(name, more)),
  groupId: groupIdOf(messageFor(name, more)),
  receiveCount,
  firstReceivedAt: startMs,
});

/** Nothing listens there. */
export const client = createClient({ server: new URL('http://127.0.0.1:1') });

/** Resolves when the signal aborts. */
export const untilAborted = async (signal: AbortSignal) =>
  await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));

const resolveLookup = async (lookup: ClusterLookup | Error | 'never'): Promise<ClusterLookup> => {
  if (lookup instanceof Error) throw lookup;
  return lookup === 'never' ? await new Promise(() => {}) : lookup;
};

/** A group of one key for tests of its report. */
export const keyGroup = (message: Message = aMessage()): KeyGroup => ({
  key: 'k',
  message,
  observedAt: 1,
  afterDueAt: undefined,
  records: [],
  last: record('north'),
  redelivered: false,
});

/** Reports a reconcile; returns the log as text, and the names of the metrics. */
export function reported(report: ReconcileReport) {
  const { log, metrics, lines, counts } = createRecorder();
  const followUp = { again: undefined, timers: [], deadLetter: undefined };
  reportReconcile(metrics, keyGroup(), { report, followUp, log, durationMs: 1, nowMs: 2, labels: {} });
  return { text: JSON.stringify(lines), metrics: [...counts.keys()] };
}

/** A timers function with these dependencies, and what it counts. */
export function timersWith(deps: Pick<TimersDeps, 'controllers' | 'send' | 'sqsNow'> & Partial<TimersDeps>) {
  const { counts, ...recorder } = createRecorder();
  const ids = async () => createFunctionIds();
  const timers = createTimers({ ids, returnMessages: async () => undefined, ...recorder, ...deps });
  const { signal } = new AbortController();
  return { run: async (records: readonly QueueRecord[]) => await timers(records, { signal }), counts };
}

/** The timers function of the stack's roles on these queues, and what it counts. */
export function timersOn(
  queues: QueueDouble,
  sqsNow: () => number,
  { mayCopy = () => true, ids = createFunctionIds('secret') }: { mayCopy?: () => boolean; ids?: FunctionIds } = {},
) {
  const { run, counts } = timersWith({
    controllers: new Set(['gadget', 'widget']),
    ids: async () => ids,
    senders: { roles, mayCopy },
    send: queues.as(senders.timers),
    sqsNow,
  });
  return { run: async () => await run(queues.take('timers')), counts };
}

/** A resync with these dependencies, in front of idle queues, and what it counts. */
export function resyncWith(deps: Pick<ResyncDeps, 'registry' | 'findCluster' | 'senders' | 'send' | 'sqsNow'>) {
  const { log, metrics, counts } = createRecorder();
  const resync = createResync({
    ...deps,
    listClusters: async () => [],
    depth: async () => ({ visible: 0, inFlight: 0, delayed: 0 }),
    log: () => log,
    metrics,
    rate: { runIntervalSeconds: 600, missedAfterSeconds: 240, perSecond: 100 },
  });
  const time = { signal: new AbortController().signal, remainingMs: () => 60_000 };
  return { run: async (records: readonly QueueRecord[]) => await resync.run(records, time), counts };
}

/** The sender check of the controller `gadget`. */
export const checkWith = (more: Partial<Parameters<typeof createSenderCheck>[1]> = {}) =>
  createSenderCheck(gadgetSenders, {
    watchersOf,
    allWatchers,
    monotonicMs: () => 0,
    concurrency: 10,
    forget: () => {},
    ...more,
  });

/** Creates a batch with its harness. All reconciles have the given report. */
export function setUp(
  reconcile: ReconcileReport | ((input: ReconcileInput) => Promise<ReconcileReport>) = done,
  more: Partial<BatchDeps> = {},
) {
  const queues = new Map<string, QueueEntry[]>();
  const deleted: string[] = [];
  const reconciled: string[] = [];
  const returned: ReturnedRecord[] = [];
  const waiting: { readonly at: number; readonly wake: () => void }[] = [];
  const { log, metrics, lines, counts, clusters } = createRecorder();
  const seen = {
    clusterAnswer: undefined as ClusterLookup | Error | 'never' | undefined,
    /** `hanging`: SQS does not respond. */
    sending: true as boolean | 'hanging',
    /** A queue that rejects every message. */
    rejecting: '',
    deleting: true,
    died: '',
  };
  let clock = 0;
  const send: Send = async (queue, entries, { signal }) => {
    if (seen.sending === 'hanging') await untilAborted(signal);
    if (!seen.sending || seen.rejecting === queue || signal.aborted)
      return entries.map(() => ({ accepted: false, reason: toError(signal.reason ?? 'queue is unavailable').message }));
    queues.set(queue, [...(queues.get(queue) ?? []), ...entries]);
    return entries.map((_, index) => ({ accepted: true, messageId: `s${index}` }));
  };
  const batch = createBatch({
    controller: 'water-tank',
    reconcile: async (input) => {
      reconciled.push(input.message.name);
      return typeof reconcile === 'function' ? await reconcile(input) : reconcile;
    },
    findCluster: async () => await resolveLookup(seen.clusterAnswer ?? { type: 'client', client }),
    isKnownCluster: (cluster) => cluster === 'a',
    breaker: createBreaker(() => clock),
    send,
    ids: async () => createFunctionIds(),
    deleteMessages: async (handles, { signal }) => {
      if (!seen.deleting) await untilAborted(signal);
      else deleted.push(...handles);
    },
    returnMessages: async (records, { signal }) => {
      if (!signal.aborted) returned.push(...records);
    },
    log: () => log,
    metrics,
    sqsNow: () => startMs + clock,
    monotonicMs: () => clock,
    wait: (milliseconds, signal) =>
      new Promise((resolve) => {
        waiting.push({ at: clock + milliseconds, wake: resolve });
        signal.addEventListener('abort', () => resolve());
      }),
    exitProcess: (reason) => {
      seen.died = reason;
      throw new Error(reason);
    },
    ...more,
  });
  const advance = (milliseconds: number) => {
    clock += milliseconds;
    for (const { at, wake } of [...waiting]) if (at <= clock) wake();
  };
  const run = (records: readonly QueueRecord[]) => batch(records, { reconcileMs: 25_000, graceMs: 1_000 });
  return {
    run,
    /** Runs a batch until its deadline, which comes once all reconciles wait. */
    runOutOfTime: async (records: readonly QueueRecord[]) => {
      const ended = run(records);
      await settle();
      advance(25_000);
      return await ended;
    },
    queues,
    deleted,
    returned,
    seen,
    advance,
    lines,
    counts,
    clusters,
    /** The names of the objects, in the order in which their reconciles began. */
    reconciled,
    /** The messages on the timers queue. */
    timers: () => (queues.get('timers') ?? []).map(({ body }) => parseMessage(body)),
    deadLetters: () => queues.get('water-tank-dlq.fifo') ?? [],
  };
}
