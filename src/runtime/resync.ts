// The verb "poll the world": finds what the watchers missed, and visits every object once per period although nothing
// happened. A tick asks for one poll per cluster and controller; each is a message of its own, so that a dead cluster or an
// endless list delays only itself.
import type { Registered } from '../core/controller.ts';
import { toError } from '../core/errors.ts';
import { redact } from '../core/redact.ts';
import { unlessAborted } from '../core/unless-aborted.ts';
import { resyncDeadLetters, resyncQueue } from '../core/names.ts';
import { MessageError } from '../sqs/body.ts';
import { formatResyncMessage, parseResyncMessage, type ResyncMessage } from '../queue/resync-message.ts';
import type { FindCluster } from './clusters.ts';
import type { QueueRecord } from './intake.ts';
import { type PollParts, type PollTime, poll } from './resync-poll.ts';

/** How soon a poll that broke off is tried again. */
const againSeconds = 30;

/** What a resync works with. */
export type ResyncParts = PollParts & {
  readonly registry: readonly Registered[];
  readonly findCluster: FindCluster;
  /** Names of all clusters. */
  readonly listClusters: () => Promise<readonly string[]>;
};

/** The two ends of a resync. */
export type Resync = {
  /**
   * Asks for a poll of every controller's kind in every cluster, and tells how many. `time` is the schedule's own (ISO
   * 8601), so that a doubled trigger collapses. Rejects when something was not sent; a repetition is harmless.
   */
  tick(time: string, options: { readonly signal: AbortSignal }): Promise<number>;
  /** Polls. Returns the ids of the messages that must stay, to be tried again. */
  run(records: readonly QueueRecord[], time: PollTime): Promise<readonly string[]>;
};

/** Creates a resync. */
export function createResync(parts: ResyncParts): Resync {
  return {
    tick: async (time, { signal }) => {
      const clusters = await unlessAborted(parts.listClusters(), signal);
      const entries = clusters.flatMap((cluster) =>
        parts.registry.map(({ name }) => {
          const message: ResyncMessage = { v: 1, kind: 'resync', run: time, cluster, controller: name };
          return { body: formatResyncMessage(message) };
        }),
      );
      for (const result of await parts.send(resyncQueue, entries, { signal })) {
        if (!result.accepted) throw new Error(`not every poll was asked for: ${result.reason}`);
      }
      parts.meter.count('ResyncTicks');
      // Where nothing is to be watched, nobody is silent; elsewhere each cluster's poll says it.
      if (clusters.length === 0) parts.meter.count('WatchersSilent', 0);
      return entries.length;
    },
    run: async (records, time) => {
      const done = await Promise.all(records.map((record) => settle(parts, record, time)));
      return records.filter((_, index) => done[index] !== true).map(({ messageId }) => messageId);
    },
  };
}

/** Does what a record asks for. Tells whether it is done with; a failure is this record's alone. */
async function settle(parts: ResyncParts, record: QueueRecord, time: PollTime): Promise<boolean> {
  const read = readRecord(parts.registry, record);
  if ('refused' in read) return await bury(parts, record, read.refused, time.signal);
  const { message, controller } = read;
  const { run, cluster } = message;
  const log = parts.log({ run, cluster, controller: controller.name });
  try {
    const found = await unlessAborted(parts.findCluster(cluster, time), time.signal);
    if (found.type === 'client') {
      // The watchers are asked for once a tick and cluster, by one controller's poll.
      const asksWatchers = controller === parts.registry[0];
      await poll(parts, { message, controller, client: found.client, asksWatchers }, time);
    }
    // It has left the table since the tick: nothing is lost with this message.
    else log.info('poll dropped', { why: found.type });
    return true;
  } catch (thrown) {
    log.warn('poll broke off', { error: redact(toError(thrown).message) });
    parts.meter.count('ResyncFailures', 1, { cluster });
    return await again(parts, record, message, time.signal);
  }
}

/** Asks for a poll that broke off once more, soon: the message itself would only come back when the next tick has come. */
async function again(parts: ResyncParts, { body }: QueueRecord, { run }: ResyncMessage, signal: AbortSignal) {
  const secondsToNextTick = Date.parse(run) / 1000 + parts.pace.tickSeconds - parts.now() / 1000;
  if (secondsToNextTick <= againSeconds) return false;
  const [sent] = await parts.send(resyncQueue, [{ body, delaySeconds: againSeconds }], { signal });
  return sent?.accepted === true;
}

function readRecord(
  registry: readonly Registered[],
  { body }: QueueRecord,
): { readonly message: ResyncMessage; readonly controller: Registered } | { readonly refused: string } {
  try {
    const message = parseResyncMessage(body);
    const controller = registry.find(({ name }) => name === message.controller);
    return controller === undefined ? { refused: `unknown controller ${message.controller}` } : { message, controller };
  } catch (error) {
    if (error instanceof MessageError) return { refused: error.message };
    throw error;
  }
}

async function bury(parts: ResyncParts, record: QueueRecord, reason: string, signal: AbortSignal): Promise<boolean> {
  const { body, messageId } = record;
  parts.log({ messageId }).error('message refused', { reason: redact(reason) });
  parts.meter.count('DeadLetters');
  const [sent] = await parts.send(resyncDeadLetters, [{ body, attributes: { reason: redact(reason), messageId } }], {
    signal,
  });
  return sent?.accepted === true;
}
