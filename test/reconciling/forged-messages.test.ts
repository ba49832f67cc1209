// One sentence: whatever a watcher of another cluster sends, every genuine key is reconciled, and no due time moves
// later. The queues are a model with SQS' deduplication and the sender of each message. Timers, grouping, sender check
// and the decision about the follow-up are the real ones. The forger knows everything but two things: the secret of the
// deployment, and the uids of the other cluster's objects. Its messages claim any cause, key, time and id.
import { env } from 'node:process';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { groupRecords, readRecord } from '../../src/reconciling/group-records.ts';
import { decide } from '../../src/reconciling/outcome.ts';
import { createFunctionIds, groupIdOf, replayId, wakeId, watchId } from '../../src/sqs/deduplication.ts';
import { type CauseOf, dueAtOf, formatMessage, keyOfMessage, type Message } from '../../src/sqs/message.ts';
import type { QueueEntry } from '../../src/sqs/sender.ts';
import { nextSlot } from '../../src/timers/slots.ts';
import { timerEntry } from '../../src/timers/timer-message.ts';
import { createQueueDouble } from '../sqs/queue-double.ts';
import { senders } from '../sqs/sender-roles.ts';
import { checkWith, timersOn } from './batch-harness.ts';

/** 10,000 runs take three minutes: FORGED_RUNS=10000. */
const numRuns = Number(env.FORGED_RUNS ?? 200);
const startMs = 1_800_000_000_000;
const { signal } = new AbortController();
const delaySeconds = 30;
/** How long each history runs, in seconds. */
const lengthSeconds = 300;

const names = ['one', 'two', 'three'] as const;
type Name = (typeof names)[number];
const keyOf = (name: Name, cluster = 'beta') => ({
  controller: 'gadget',
  cluster,
  group: 'example.com',
  resource: 'gadgets',
  namespace: 'shop',
  name,
});
const formatted = (name: Name) => `gadget:beta:gadgets.example.com/shop/${name}`;

type Drawn<A> = A extends fc.Arbitrary<infer T> ? T : never;

/** A genuine message for cluster beta, sent at a second of the history. */
const anyGenuine = fc.record({
  at: fc.integer({ min: 0, max: 120 }),
  name: fc.constantFrom(...names),
  kind: fc.constantFrom('change', 'requeue', 'retry', 'resync'),
  version: fc.integer({ min: 1, max: 3 }),
});
type Genuine = Drawn<typeof anyGenuine>;
/** A forged message. `time` is relative to the clock, in seconds. */
const anyForged = fc.record({
  at: fc.integer({ min: 0, max: 200 }),
  name: fc.constantFrom(...names),
  cluster: fc.constantFrom('beta', 'beta', 'alpha', 'open'),
  queue: fc.constantFrom('gadget.fifo', 'timers'),
  type: fc.constantFrom('change', 'requeue', 'retry', 'resync', 'wake', 'command'),
  time: fc.constantFrom(-1000, 0, 15, 30, 60, 100_000, 100_000_000),
  attempt: fc.constantFrom(0, 1, 9, 1_000_000),
  version: fc.integer({ min: 1, max: 3 }),
  slotDelay: fc.constantFrom(2, 30),
  stamp: fc.boolean(),
  delay: fc.constantFrom(0, 1, 900),
});
type Forged = Drawn<typeof anyForged>;

const ids = createFunctionIds('the secret of the deployment');
/** Without the secret. */
const guessedIds = createFunctionIds();

/** The body of a forged message, with a slot that the next genuine requeue or retry may have. */
function forgedMessage(forged: Forged, nowMs: number): Message {
  const { name, cluster, type, time, attempt, version, slotDelay } = forged;
  const key = keyOf(name, cluster);
  const slot = nextSlot({ key: formatted(name), delaySeconds: slotDelay, nowMs });
  const dueAt = time === 30 ? slot.dueAt : Math.max(0, Math.floor(nowMs / 1000) + time);
  const causes: { readonly [T in Forged['type']]: CauseOf<T> } = {
    change: { type: 'change', observedAt: nowMs, uid: 'guessed', resourceVersion: `${version}` },
    requeue: { type: 'requeue', slot: slot.slot, dueAt },
    retry: { type: 'retry', observedAt: 0, attempt, postponements: attempt, slot: slot.slot, dueAt },
    resync: { type: 'resync', run: `run-${version}`, dueAt },
    wake: { type: 'wake', observedAt: 0, source: 'plant', id: `${version}`, dueAt },
    command: { type: 'command', observedAt: 0, id: `${version}` },
  };
  return { ...key, cause: causes[type] };
}

function forgedEntry(forged: Forged, nowMs: number): QueueEntry {
  const message = forgedMessage(forged, nowMs);
  const stamp = forged.stamp ? { attributes: { sender: senders.gadget.id } } : {};
  const body = formatMessage(message);
  if (forged.queue === 'timers') return { body, delaySeconds: forged.delay, ...stamp };
  const { cause } = message;
  const idOf = () => {
    if (cause.type === 'requeue') return guessedIds.requeue(message, cause);
    if (cause.type === 'retry') return guessedIds.retry(message, cause);
    if (cause.type === 'resync') return guessedIds.resync(message, cause);
    if (cause.type === 'wake') return wakeId(message, { event: cause.id });
    if (cause.type === 'command') return replayId(message, { source: cause.id });
    return watchId(message, [{ uid: 'guessed', resourceVersion: `${forged.version}` }]);
  };
  return { body, groupId: groupIdOf(message), deduplicationId: idOf(), ...stamp };
}

/** A due time: set at a second of the history for another one. `from` is 0.5 earlier for what is sent, not followed up. */
type Due = { readonly name: string; readonly from: number; readonly due: number };
type History = {
  /** The seconds at which each genuine key was reconciled. */
  readonly reconciles: ReadonlyMap<string, readonly number[]>;
  readonly dues: readonly Due[];
};

/** Returns whether the key of a due time is reconciled after it was set, and not later than it says. */
function isMet({ reconciles }: History, { name, from, due }: Due): boolean {
  return (reconciles.get(name) ?? []).some((second) => second > from && second <= due + 1);
}

/** Runs a history. The reconciles of the key `three` fail, the others ask for a requeue. */
async function run(genuine: readonly Genuine[], forged: readonly Forged[]): Promise<History> {
  let nowMs = startMs;
  const queues = createQueueDouble(() => nowMs);
  const timers = timersOn(queues, () => nowMs, { ids });
  const check = checkWith();
  const asWatcher = queues.as(senders.watcherOfBeta);
  const asForger = queues.as(senders.watcherOfAlpha);
  const asGadget = queues.as(senders.gadget);
  const asResync = queues.as(senders.resync);
  const reconciles = new Map<string, number[]>();
  const dues: Due[] = [];
  const secondOf = (unixSeconds: number) => unixSeconds - startMs / 1000;

  async function sendGenuine({ name, kind, version }: Genuine): Promise<void> {
    const key = keyOf(name);
    const sentAt = secondOf(nowMs / 1000) - 0.5;
    if (kind === 'change') {
      dues.push({ name, from: sentAt, due: sentAt });
      const source = { uid: `uid of ${name}`, resourceVersion: `${version}` };
      const entry = {
        body: formatMessage({ ...key, cause: { type: 'change', observedAt: nowMs, ...source } }),
        groupId: groupIdOf(key),
        deduplicationId: watchId(key, [source]),
      };
      await asWatcher('gadget.fifo', [entry], { signal });
      return;
    }
    if (kind === 'resync') {
      const cause = { type: 'resync', run: `run-${version}`, dueAt: nowMs / 1000 + 5 } as const;
      dues.push({ name, from: sentAt, due: sentAt + 5.5 });
      await asResync('timers', [timerEntry({ ...key, cause }, { nowMs })], { signal });
      return;
    }
    const slot = nextSlot({ key: formatted(name), delaySeconds: kind === 'retry' ? 2 : delaySeconds, nowMs });
    const cause =
      kind === 'retry'
        ? ({ type: 'retry', observedAt: nowMs, attempt: 1, postponements: 0, ...slot } as const)
        : ({ type: 'requeue', ...slot } as const);
    dues.push({ name, from: sentAt, due: secondOf(slot.dueAt) });
    await asGadget('timers', [timerEntry({ ...key, cause }, { nowMs })], { signal });
  }

  for (let second = 0; second <= lengthSeconds; second += 1) {
    nowMs = startMs + second * 1000;
    for (const one of forged.filter(({ at }) => at === second))
      await asForger(one.queue, [forgedEntry(one, nowMs)], { signal });
    for (const one of genuine.filter(({ at }) => at === second)) await sendGenuine(one);
    if ((queues.nextAt('timers') ?? Number.POSITIVE_INFINITY) <= nowMs) await timers.run();
    const records = queues.take('gadget.fifo').map(readRecord);
    if (records.length === 0) continue;
    for (const { message, observedAt, afterDueAt } of groupRecords('gadget', records, {
      admit: await check.admission(records),
    }).groups) {
      if (message.cluster !== 'beta') continue;
      reconciles.set(message.name, [...(reconciles.get(message.name) ?? []), second]);
      const outcome =
        message.name === 'three'
          ? ({ type: 'failed', error: new Error('no'), stalledBefore: false } as const)
          : ({ type: 'done', requeueAfterSeconds: delaySeconds } as const);
      const [timer] = decide(outcome, message, { nowMs, observedAt, afterDueAt }).timers;
      if (timer === undefined) continue;
      dues.push({ name: message.name, from: second, due: secondOf(dueAtOf(timer) ?? 0) });
      const entry = timerEntry({ ...keyOfMessage(message), cause: timer.cause }, { nowMs });
      await asGadget('timers', [entry], { signal });
    }
  }
  return { reconciles, dues };
}

// Control T33.
it('whatever a watcher of another cluster sends, every genuine key is reconciled and no due time moves later', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(anyGenuine, { minLength: 1, maxLength: 6 }),
      fc.array(anyForged, { maxLength: 12 }),
      async (genuine, forged) => {
        const alone = await run(genuine, []);
        // Any sender may request a reconcile. Without such requests the forged messages change nothing at all.
        const silent = forged.filter(({ type, queue }) => type !== 'command' || queue === 'timers');
        expect(await run(genuine, silent)).toEqual(alone);
        const attacked = await run(genuine, forged);
        // Each genuine message is reconciled no later than it is due, and so is each follow-up of a reconcile.
        const isSent = ({ from }: Due) => !Number.isInteger(from);
        const late = [
          ...alone.dues.filter((due) => isSent(due) && isMet(alone, due) && !isMet(attacked, due)),
          ...attacked.dues.filter((due) => !isSent(due) && due.due + 1 <= lengthSeconds && !isMet(attacked, due)),
        ];
        expect(late).toEqual([]);
      },
    ),
    { numRuns },
  );
}, 1_800_000);
