// A batch of messages of one controller: groups the records by key, reconciles each key once, and deletes the messages
// that are done. A message is deleted last, after its follow-up (timer or dead letter) has been accepted.
import { unlessAborted } from '../core/async.ts';
import { metricNames } from '../core/metrics.ts';
import type { QueueRecord } from '../sqs/record.ts';
import { type DispatchDeps, deadLetter, dispatchKey } from './dispatch-key.ts';
import { groupRecords, type KeyGroup, orderRedelivered, type RefusedRecord, readRecord } from './group-records.ts';
import type { SenderCheck } from './sender-check.ts';

/** The dependencies of a batch. */
export type BatchDeps = DispatchDeps & {
  /** Absent: the sender check is off. */
  readonly senders?: SenderCheck | undefined;
  /** Deletes messages by their receipt handles. A failure is harmless: the message is received again. */
  readonly deleteMessages: (receiptHandles: readonly string[], options: UntilAborted) => Promise<void>;
  /** Returns the records that no other function can receive while the batch is processed. Absent: all. */
  readonly claim?: (records: readonly QueueRecord[], options: UntilAborted) => Promise<readonly QueueRecord[]>;
  /** Resolves after this many milliseconds, or when the signal aborts. */
  readonly wait: (milliseconds: number, signal: AbortSignal) => Promise<void>;
  /** Ends the process: the only way to stop a reconcile that ignores its signal. */
  readonly exitProcess: (reason: string) => never;
};

/** Milliseconds for the reconciles, and until the process exits if one ignores its signal: time to report that. */
type BatchLimits = { readonly reconcileMs: number; readonly graceMs: number };

type UntilAborted = { readonly signal: AbortSignal };

/** Processes a batch. Returns the ids of the messages that must stay on the queue. */
export type RunBatch = (records: readonly QueueRecord[], limits: BatchLimits) => Promise<readonly string[]>;

/** From this time on, finished messages are deleted at once: a function that times out reports no partial failures. */
const earlyDeleteMs = 1_000;

/** The time limit of the last deletions: the function's own deadline is near. */
const lastDeleteMs = 1_000;

/** Creates a function that processes a controller's batches. */
export function createBatch(deps: BatchDeps): RunBatch {
  return async (records, limits) => await new Batch(deps, limits).run(records);
}

/** One batch: its deadlines, what runs, and what is done. */
class Batch {
  readonly #deps: BatchDeps;
  readonly #limits: BatchLimits;
  readonly #startedAt: number;
  /** The ids of the messages that are done. */
  readonly #done = new Set<string>();
  /** Those of them that are not deleted yet. */
  #undeleted: QueueRecord[] = [];
  /** The keys whose reconciler runs: not those that wait for the clusters table, or for SQS. */
  readonly #running = new Set<string>();
  readonly #work = new AbortController();
  readonly #sending = new AbortController();
  readonly #finished = new AbortController();

  constructor(deps: BatchDeps, limits: BatchLimits) {
    this.#deps = deps;
    this.#limits = limits;
    this.#startedAt = deps.monotonicMs();
  }

  async run(records: readonly QueueRecord[]): Promise<readonly string[]> {
    const deadline = this.#unlessFinished(this.#limits.reconcileMs, () => this.#work.abort(new Error('out of time')));
    const { groups, refused } = await this.#accept(records);
    const allDone = this.#reconcileAll(groups, refused);
    // Messages that finished before this moment are deleted now. Without this they would wait for the next one to
    // finish, if there is one.
    void this.#unlessFinished(earlyDeleteMs, () => this.#deleteDone());
    const isDone = await Promise.race([
      allDone.then(() => true),
      deadline.then(() => this.#unlessFinished(this.#limits.graceMs)).then(() => false),
    ]).finally(() => this.#finished.abort('finished'));
    if (!isDone || this.#running.size > 0) await this.#cutOff(allDone);
    return records.map(({ messageId }) => messageId).filter((id) => !this.#done.has(id));
  }

  async #unlessFinished(milliseconds: number, act: () => Promise<void> | void = () => {}): Promise<void> {
    const { signal } = this.#finished;
    await this.#deps.wait(milliseconds, signal);
    if (!signal.aborted) await act();
  }

  /** Returns the messages of this controller by key, of those that no other function can receive now. */
  async #accept(records: readonly QueueRecord[]) {
    const { claim, senders, controller, retry, declares, log } = this.#deps;
    const { signal } = this.#work;
    const claimed = (await claim?.(records, { signal })) ?? records;
    const messages = records.length - claimed.length;
    if (messages > 0) log({}).warn('messages not reconciled: another function may have received them', { messages });
    const read = claimed.map(readRecord);
    // The senders are in the clusters table, which may be slow.
    const admit = senders && (await unlessAborted(senders.admission(read), signal));
    return groupRecords(controller, read, { attempts: retry?.attempts, declares, admit });
  }

  async #reconcileAll(groups: readonly KeyGroup[], refused: readonly RefusedRecord[]): Promise<void> {
    const firstDeliveries = groups.filter(({ redelivered }) => !redelivered);
    const redeliveries = orderRedelivered(groups.filter(({ redelivered }) => redelivered));
    await Promise.all([
      ...refused.map(async (one) => {
        if (await reportRefused(this.#deps, one, this.#sending.signal)) await this.#release([one.record]);
        else await this.#deps.returnMessages([one.record], { signal: this.#work.signal });
      }),
      ...firstDeliveries.map((one) => this.#dispatch(one)),
    ]);
    await this.#reconcileInWaves(redeliveries);
  }

  /**
   * One of the redelivered keys may have crashed its function, so the first runs alone. Each wave that ends doubles the
   * next one: after Lambda has throttled the function all are redelivered, and one by one would take too long.
   */
  async #reconcileInWaves(redeliveries: readonly KeyGroup[]): Promise<void> {
    const { monotonicMs, returnMessages } = this.#deps;
    const endsAt = this.#startedAt + this.#limits.reconcileMs;
    let longestMs = 0;
    for (let begun = 0, waveSize = 1; begun < redeliveries.length; begun += waveSize, waveSize *= 2) {
      const waveAt = monotonicMs();
      if (this.#work.signal.aborted || longestMs > endsAt - waveAt) {
        // No reconcile of these keys has begun, so their visibility timeout has nothing to prevent. One that has too
        // little time would be ended at the deadline. Nothing has failed either, so they are not delayed by their
        // receive count.
        const kept = redeliveries.slice(begun).flatMap(({ records }) => records);
        const asNew = kept.map((record) => ({ ...record, receiveCount: 1 }));
        await returnMessages(asNew, { signal: this.#sending.signal });
        return;
      }
      await this.#deleteDone();
      await Promise.all(redeliveries.slice(begun, begun + waveSize).map((one) => this.#dispatch(one)));
      longestMs = Math.max(longestMs, monotonicMs() - waveAt);
    }
  }

  async #dispatch(keyGroup: KeyGroup): Promise<void> {
    const { key } = keyGroup;
    const reconcile: BatchDeps['reconcile'] = async (input) => {
      this.#running.add(key);
      let ignoredSignal: boolean | undefined;
      try {
        const report = await this.#deps.reconcile(input);
        ({ ignoredSignal } = report);
        return report;
      } finally {
        if (ignoredSignal !== true) this.#running.delete(key);
      }
    };
    const deadlines = { work: this.#work.signal, sending: this.#sending.signal };
    await dispatchKey({ ...this.#deps, reconcile }, keyGroup, deadlines, (done) => this.#release(done));
  }

  async #release(done: readonly QueueRecord[]): Promise<void> {
    for (const { messageId } of done) this.#done.add(messageId);
    this.#undeleted.push(...done);
    if (this.#deps.monotonicMs() - this.#startedAt >= earlyDeleteMs) await this.#deleteDone();
  }

  /** Not after the deadline: the function's response, which follows soon, deletes the messages as well. */
  async #deleteDone(signal = this.#work.signal): Promise<void> {
    if (signal.aborted || this.#undeleted.length === 0) return;
    const handles = this.#undeleted.map(({ receiptHandle }) => receiptHandle);
    this.#undeleted = [];
    await this.#deps.deleteMessages(handles, { signal });
  }

  /** Ends what is not done at the deadline. */
  async #cutOff(allDone: Promise<void>): Promise<void> {
    this.#sending.abort(new Error('SQS did not respond before the deadline'));
    const last = new AbortController();
    // Calls to SQS end now, and log what they have not done. A reconciler that ignored its signal does not.
    const ending = Promise.all([this.#deleteDone(last.signal), this.#running.size > 0 ? undefined : allDone]);
    await Promise.race([ending, this.#deps.wait(lastDeleteMs, last.signal)]);
    // Lambda would freeze the process and thaw it later. The reconcile would then go on in parallel to the next one of
    // the same key.
    if (this.#running.size === 0) return;
    this.#deps.exitProcess(`the reconcile of ${[...this.#running].join(', ')} ignored its signal`);
  }
}

/** Reports a refused record. Returns whether it may be deleted. Above a limit, refused senders are only counted. */
async function reportRefused(deps: BatchDeps, refused: RefusedRecord, signal: AbortSignal): Promise<boolean> {
  const { record, reason, message } = refused;
  const { log: logOf, metrics, senders } = deps;
  const log = logOf({ messageId: record.messageId });
  const lastError = message && senders && new Error(senders.explain(message, record));
  log.error('message refused', { outcome: 'refused', reason, cluster: message?.cluster, error: lastError?.message });
  metrics.count(metricNames.reconcilesRefused);
  if (lastError !== undefined) metrics.count(metricNames.sendersRefused);
  if (lastError !== undefined && senders?.mayCopy() === false) return true;
  return await deadLetter(deps, [record], { reason, lastError }, log, signal);
}
