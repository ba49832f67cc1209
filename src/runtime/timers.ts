// The verb of the timers queue: what is due joins its controller's queue, what is not waits on. A record is given up only
// when what became of it is on its queue; everything else stays and comes again.
import type { Log } from '../core/context.ts';
import type { Meter } from '../core/meter.ts';
import { redact } from '../core/redact.ts';
import { timersDeadLetters, timersQueue } from '../core/names.ts';
import { MessageError } from '../sqs/body.ts';
import { parseMessage } from '../queue/message.ts';
import type { Entry, Send } from '../sqs/sender.ts';
import { stepTimer } from '../queue/timer.ts';
import type { QueueRecord } from './intake.ts';

/** What the timers work with. */
export type TimersParts = {
  readonly send: Send;
  readonly log: Log;
  readonly meter: Meter;
  /** SQS's clock for a record, in milliseconds. */
  readonly sqsNow: (record: QueueRecord) => number;
};

/** One entry to send, and the records that it stands for. */
type Move = { readonly queue: string; readonly entry: Entry; readonly records: readonly QueueRecord[] };

/** Makes the handling of a batch of the timers queue. It returns the ids of the messages that must stay. */
export function createTimers({
  send,
  log,
  meter,
  sqsNow,
}: TimersParts): (
  records: readonly QueueRecord[],
  options: { readonly signal: AbortSignal },
) => Promise<readonly string[]> {
  /** Sends moves and returns those whose queue is not there. Records that moved leave `kept`. */
  async function follow(moves: readonly Move[], kept: Set<string>, signal: AbortSignal): Promise<readonly Refused[]> {
    const missing: Refused[] = [];
    const queues = Map.groupBy(moves, ({ queue }) => queue);
    await Promise.all(
      [...queues].map(async ([queue, all]) => {
        const sent = await send(
          queue,
          all.map(({ entry }) => entry),
          { signal },
        );
        for (const [index, { records }] of all.entries()) {
          const result = sent[index] ?? { accepted: false, reason: `${queue}: no answer` };
          if (result.accepted) for (const { messageId } of records) kept.delete(messageId);
          else if (result.missingQueue) missing.push(...records.map((record) => ({ record, reason: result.reason })));
          else log.warn('message not moved', { queue, reason: redact(result.reason), messages: records.length });
        }
      }),
    );
    return missing;
  }

  return async (records, { signal }) => {
    const kept = new Set(records.map(({ messageId }) => messageId));
    const { moves, refused } = plan(records, sqsNow);
    const missing = await follow(moves, kept, signal);
    const dead = [...refused, ...missing].map(bury);
    for (const { record, reason } of [...refused, ...missing]) {
      log.error('message refused', { reason: redact(reason), messageId: record.messageId });
    }
    await follow(dead, kept, signal);

    // What goes on, SQS counts: it is deleted.
    if (dead.length > 0) meter.count('DeadLetters', dead.length);
    return [...kept];
  };
}

/** A record that cannot go on, and why. */
type Refused = { readonly record: QueueRecord; readonly reason: string };

/** Decides for each record; equal ones become one, because a standard queue collapses nothing. Pure. */
function plan(
  records: readonly QueueRecord[],
  sqsNow: (record: QueueRecord) => number,
): { readonly moves: readonly Move[]; readonly refused: readonly Refused[] } {
  const moves = new Map<string, Move>();
  const refused: Refused[] = [];
  for (const record of records) {
    try {
      const step = stepTimer(parseMessage(record.body), { nowMs: sqsNow(record) });
      const before = moves.get(step.same);
      const queue = step.type === 'hop' ? timersQueue : step.queue;
      moves.set(
        step.same,
        // It goes on in the trace it came in, not in that of the timers, who do this for everybody.
        before === undefined
          ? { queue, entry: { ...step.entry, traceHeader: record.traceHeader }, records: [record] }
          : join(before, record),
      );
    } catch (error) {
      if (!(error instanceof MessageError)) throw error;
      refused.push({ record, reason: error.message });
    }
  }
  return { moves: [...moves.values()], refused };
}

function join(move: Move, record: QueueRecord): Move {
  return { ...move, records: [...move.records, record] };
}

/** A dead letter: the body as it came, the reason beside it. */
function bury({ record, reason }: Refused): Move {
  const { body, messageId, firstReceivedAt } = record;
  const attributes = { reason: redact(reason), messageId, firstSeenAt: new Date(firstReceivedAt).toISOString() };
  return { queue: timersDeadLetters, entry: { body, attributes }, records: [record] };
}
