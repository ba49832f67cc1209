// What a forwarded key is on its queue: a change straight to its controller's, a key of a bulk to timers, due at its turn.
import { watchId } from '../queue/deduplication.ts';
import { groupIdOf } from '../queue/group-id.ts';
import { formatMessage } from '../queue/message.ts';
import type { Entry } from '../sqs/sender.ts';
import { timerEntry } from '../queue/timer.ts';
import type { Waiting } from './dirty-set.ts';

/** Makes the message of a change. */
export function changeEntry({ target, sources, seenAt }: Waiting): Entry {
  const newest = sources.at(-1);
  const source = newest === undefined ? {} : { uid: newest.uid, resourceVersion: newest.resourceVersion };
  return {
    body: formatMessage({ v: 1, ...target, ...source, lane: 'watch', attempt: 0, deferrals: 0, seenAt }),
    groupId: groupIdOf(target),
    deduplicationId: watchId(target, sources),
  };
}

/** Makes the timers' entries of bulk keys: each due when it is its controller's turn, so many a second. */
export function createPaces({
  now,
  bulkPerSecond,
}: {
  readonly now: () => number;
  readonly bulkPerSecond: number;
}): (waiting: Waiting) => Entry {
  const freeAt = new Map<string, number>();
  return ({ target, run = '' }) => {
    const nowMs = now();
    const due = Math.max(freeAt.get(target.controller) ?? 0, nowMs / 1000);
    freeAt.set(target.controller, due + 1 / bulkPerSecond);
    const dueAt = Math.floor(due);
    // What only has its turn does not lag before that.
    const key = {
      v: 1,
      ...target,
      lane: 'resync',
      attempt: 0,
      deferrals: 0,
      seenAt: dueAt * 1000,
      dueAt,
      run,
    } as const;
    return timerEntry(key, { nowMs });
  };
}
