// A batch with a clock that stands still until told, queues that are arrays and reconciles that are given.
import { createClient } from '../../src/kube/client/client.ts';
import type { FoundCluster } from '../../src/kube/found-cluster.ts';
import { formatMessage, type Message } from '../../src/queue/message.ts';
import type { Entry, Send } from '../../src/sqs/sender.ts';
import { createBatch } from '../../src/runtime/batch.ts';
import { createBreaker } from '../../src/runtime/breaker.ts';
import type { QueueRecord } from '../../src/runtime/intake.ts';
import type { Job, Report } from '../../src/runtime/job.ts';
import { createWitness } from '../support/recorder.ts';

/** When SQS says it is, at the start. */
const startMs = 1_800_000_000_000;
/** A reconcile that had nothing to do. */
export const done: Report = { outcome: { type: 'done' }, writes: 0 };

/** A message for a tank `default/<name>`. */
export const messageFor = (name: string, more: Partial<Message> = {}): Message => ({
  v: 1,
  controller: 'water-tank',
  cluster: 'a',
  group: 'plant.example.com',
  resource: 'watertanks',
  namespace: 'default',
  name,
  lane: 'watch',
  attempt: 0,
  deferrals: 0,
  seenAt: startMs - 100,
  ...more,
});
/** A record of such a message. */
export const record = (name: string, more: Partial<Message> = {}, receiveCount = 1): QueueRecord => ({
  messageId: `m-${name}`,
  receiptHandle: `r-${name}`,
  body: formatMessage(messageFor(name, more)),
  groupId: name,
  receiveCount,
  firstReceivedAt: startMs,
});

const findNothing = async (answer: FoundCluster | Error | 'never'): Promise<FoundCluster> => {
  if (answer instanceof Error) throw answer;
  return answer === 'never' ? await new Promise(() => {}) : answer;
};

/** Makes a batch, and what is around it. */
export function setUp(reconcile: (job: Job) => Promise<Report>) {
  const queues = new Map<string, Entry[]>();
  const deleted: string[] = [];
  const waiting: { readonly at: number; readonly wake: () => void }[] = [];
  const { log, meter, lines, counts } = createWitness();
  const seen = {
    clusterAnswer: undefined as FoundCluster | Error | 'never' | undefined,
    sending: true,
    deleting: true,
    died: '',
  };
  let clock = 0;
  const client = createClient({ server: new URL('http://127.0.0.1:1') });
  const send: Send = async (queue, entries, { signal }) => {
    if (!seen.sending || signal.aborted) return entries.map(() => ({ accepted: false, reason: 'queue is away' }));
    queues.set(queue, [...(queues.get(queue) ?? []), ...entries]);
    return entries.map((_, index) => ({ accepted: true, messageId: `s${index}` }));
  };
  const batch = createBatch({
    controller: 'water-tank',
    reconcile,
    findCluster: async () => await findNothing(seen.clusterAnswer ?? { type: 'client', client }),
    breaker: createBreaker(() => clock),
    send,
    deleteMessages: async (handles, { signal }) => {
      if (!seen.deleting) await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
      else deleted.push(...handles);
    },
    log: () => log,
    meter,
    sqsNow: () => startMs + clock,
    monotonicMs: () => clock,
    wait: (milliseconds, signal) =>
      new Promise((resolve) => {
        waiting.push({ at: clock + milliseconds, wake: resolve });
        signal.addEventListener('abort', () => resolve());
      }),
    die: (reason) => {
      seen.died = reason;
      throw new Error(reason);
    },
  });
  const advance = (milliseconds: number) => {
    clock += milliseconds;
    for (const { at, wake } of [...waiting]) if (at <= clock) wake();
  };
  const run = (records: readonly QueueRecord[]) => batch(records, { reconcileMs: 25_000, graceMs: 1_000 });
  return { run, queues, deleted, seen, advance, lines, counts };
}
