// The drain of a change of every object of one controller in every cluster, in virtual time. The watchers' queue
// sender, with its work queue and its rate limiter, is the product's. SQS and Lambda are models with AWS' quotas. A few
// clusters stand for all: clusters are alike, so that each of them has the same share of what they have in common.

import { assumed } from '@outrigger/cli/commands/cost/price-sheet';
import { silentLog } from '../../src/core/log.ts';
import { createQueueSender } from '../../src/forwarding/queue-sender.ts';
import type { RateLimit } from '../../src/forwarding/rate-limiter.ts';
import { assumedMs, quotas } from './assumed.ts';
import { createVirtualTime } from './virtual-time.ts';

/** What is simulated. */
export type DrainPlan = {
  readonly clusters: number;
  /** The controller's objects in each cluster. All of them change at once. */
  readonly objects: number;
  readonly rateLimit: RateLimit;
  /** The watchers that send to the queue. */
  readonly watchers?: number;
  /** MaximumConcurrency of the mapping. */
  readonly concurrency: number;
  readonly accountConcurrency?: number;
  readonly fifoCallsPerSecond?: number;
  /** How long a batch of so many objects takes, in milliseconds. */
  readonly batchMs: (size: number) => number;
  readonly sqsCallMs?: number;
  readonly pollMs?: number;
  /** How fast the concurrency rises; Infinity on one machine. */
  readonly scalingPer10Seconds?: number;
};

/** What can be the narrowest place. */
export const resources = [
  'rate limit of the watchers',
  'calls of SQS',
  'messages in flight',
  'concurrency of the function',
] as const;
export type Resource = (typeof resources)[number];

/** How a drain went. */
export type Drain = {
  readonly seconds: number;
  /** Batches, of the whole fleet. */
  readonly batches: number;
  /** The share of the time, 0 to 1, in which each resource was used up. */
  readonly usedUp: Readonly<Record<Resource, number>>;
  /** The one that is used up longest. */
  readonly binding: Resource;
  /** Objects that are done, by second. */
  readonly done: readonly { readonly second: number; readonly objects: number }[];
  /** The most objects of one cluster that were reconciled in a second. */
  readonly peakPerCluster: number;
};

const batchSize = 10;
const noMetrics = { accepted: () => {}, coalesced: () => {}, rejected: () => {}, rateLimited: () => {} };
/** The clusters that are simulated one by one. */
const maxSimulated = 5;

/** Simulates a drain. */
export async function simulateDrain(plan: DrainPlan): Promise<Drain> {
  const simulated = Math.min(plan.clusters, maxSimulated);
  /** The clusters that a simulated one stands for; so its calls, messages and batches count as often. */
  const weight = plan.clusters / simulated;
  const time = createVirtualTime();
  const ended = new AbortController();
  const total = simulated * plan.objects;
  const senders = plan.watchers ?? assumed.watchers;
  const usedMs = new Map<Resource, number>();
  const use = (resource: Resource, ms: number) => void usedMs.set(resource, (usedMs.get(resource) ?? 0) + ms);

  // SQS: calls wait for the quota. What the second watcher sends costs a call and adds no message.
  const callMs = (1_000 * weight) / (plan.fifoCallsPerSecond ?? quotas.fifoCallsPerSecond);
  let nextCallAt = 0;
  const callSqs = (messages: number) => {
    const callAt = Math.max(time.now(), nextCallAt);
    nextCallAt = callAt + Math.max(1, Math.ceil(messages / batchSize)) * senders * callMs;
    use('calls of SQS', nextCallAt - callAt);
    return nextCallAt + (plan.sqsCallMs ?? assumedMs.sqsCall);
  };

  // The queue, and the function. Every message is of another object, so no group holds another one up.
  let queued = 0;
  const free = createSlots(plan, weight);
  let inFlight = 0;
  let completed = 0;
  let batches = 0;
  let lastFullAt = 0;
  const doneBySecond = new Map<number, number>();
  const inFlightLimit = quotas.fifoInFlight / weight;
  let wasFull: Resource | undefined;

  const mark = (now: number) => {
    if (wasFull !== undefined) use(wasFull, now - lastFullAt);
    lastFullAt = now;
  };
  const start = () => {
    const now = time.now();
    mark(now);
    wasFull = undefined;
    while (queued > 0) {
      const isOverLimit = inFlight + Math.min(batchSize, queued) > inFlightLimit;
      if (isOverLimit || !free.take(now)) {
        wasFull = isOverLimit ? 'messages in flight' : 'concurrency of the function';
        if (!isOverLimit && free.nextAt(now) !== undefined) time.at(free.nextAt(now) ?? now, start);
        break;
      }
      const size = Math.min(batchSize, queued);
      queued -= size;
      inFlight += size;
      const endsAt = now + (plan.pollMs ?? assumedMs.poll) + plan.batchMs(size) * free.stretch;
      time.at(endsAt, () => {
        free.give();
        inFlight -= size;
        completed += size;
        batches += weight;
        const second = Math.floor(time.now() / 1000);
        doneBySecond.set(second, (doneBySecond.get(second) ?? 0) + size);
        start();
      });
    }
  };

  for (let cluster = 0; cluster < simulated; cluster += 1) {
    const sender = createQueueSender(
      {
        log: silentLog,
        metrics: noMetrics,
        now: time.now,
        random: () => 0.5,
        signal: ended.signal,
        wait: async (seconds, signal) => {
          use('rate limit of the watchers', (seconds * 1000) / simulated);
          await time.wait(seconds, signal);
        },
        send: async (_, entries) => {
          const arrivesAt = callSqs(entries.length);
          await new Promise<void>((resolve) => time.at(arrivesAt, resolve));
          queued += entries.length;
          start();
          return entries.map(() => ({ accepted: true as const, messageId: 'simulated' }));
        },
      },
      { queue: 'simulated.fifo', toEntry: () => ({ body: '' }), onSent: () => undefined },
      { rateLimit: plan.rateLimit },
    );
    for (let object = 0; object < plan.objects; object += 1) {
      const target = {
        cluster: `cluster-${cluster}`,
        controller: 'simulated',
        group: 'scale.example.com',
        resource: 'things',
        namespace: 'default',
        name: `thing-${object}`,
      };
      sender.add({ target, observedAt: 0 });
    }
  }
  await time.run(() => completed === total);
  ended.abort();
  const seconds = time.now() / 1000;
  const share = (resource: Resource) => Math.min(1, (usedMs.get(resource) ?? 0) / 1000 / seconds);
  const usedUp = Object.fromEntries(resources.map((one) => [one, share(one)])) as Record<Resource, number>;
  const [binding = resources[0]] = [...resources].sort((a, b) => usedUp[b] - usedUp[a]);
  return {
    seconds,
    batches,
    usedUp,
    binding,
    done: [...doneBySecond].map(([second, objects]) => ({ second, objects: objects * weight })),
    peakPerCluster: Math.max(...doneBySecond.values()) / simulated,
  };
}

/**
 * The concurrent batches that are left of the mapping and of the account. A simulated batch stands for `weight` real
 * ones, so that fewer real slots than that make one slot, on which everything takes longer.
 */
function createSlots(plan: DrainPlan, weight: number) {
  const real = Math.min(plan.concurrency, plan.accountConcurrency ?? quotas.accountConcurrency);
  const most = Math.max(1, Math.floor(real / weight));
  const stretch = (most * weight) / real;
  const scaling = (plan.scalingPer10Seconds ?? quotas.scalingPer10Seconds) / weight;
  let taken = 0;
  const limitAt = (nowMs: number) =>
    Math.min(most, Math.max(1, Math.floor(scaling * (1 + Math.floor(nowMs / 10_000)))));
  return {
    stretch,
    take: (nowMs: number) => {
      if (taken >= limitAt(nowMs)) return false;
      taken += 1;
      return true;
    },
    give: () => {
      taken -= 1;
    },
    /** When more of them are there; undefined when all are. */
    nextAt: (nowMs: number) => (limitAt(nowMs) < most ? (Math.floor(nowMs / 10_000) + 1) * 10_000 : undefined),
  };
}
