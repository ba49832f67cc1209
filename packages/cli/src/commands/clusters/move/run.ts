// Carries a move out, step by step. What each step does outside of the two tables is given, so that a test can end the
// move after any of them.
import { type ClusterEntry, withoutState } from 'outrigger/internal/clusters/registry/entry';
import { UserError } from 'outrigger/internal/core/errors';
import type { Wait } from 'outrigger/internal/core/time';
import { type MoveEntries, type MoveNames, type MoveTiming, nextMoveStep } from './plan.ts';

/** What a move needs. Every function can be repeated. */
export type MoveDeps = {
  /** Reads both entries, not from a cache. */
  readonly read: () => Promise<MoveEntries>;
  /** Changes the entry in a table, unless another operator changed the table in between. */
  readonly changeSource: (change: (entry: ClusterEntry) => ClusterEntry) => Promise<void>;
  readonly changeTarget: (change: (entry: ClusterEntry | undefined) => ClusterEntry) => Promise<void>;
  /** Returns the entry for the second stage. Throws a UserError if it needs one that is not given. */
  readonly targetEntry: (entries: MoveEntries) => ClusterEntry;
  /** Throws a UserError if one stage's permissions cannot be taken away without the other's, or the second has none. */
  readonly checkPermissions: (entries: {
    readonly source: ClusterEntry;
    readonly target: ClusterEntry;
  }) => Promise<void>;
  /** Takes the first stage's permissions away. Throws a UserError if it still has some. */
  readonly takePermissions: (source: ClusterEntry) => Promise<void>;
  /** Gives the second stage its permissions. */
  readonly grantPermissions: (target: ClusterEntry) => Promise<void>;
  /** Resolves when a watcher sends the keys of the cluster to the second stage. */
  readonly untilWatched: () => Promise<void>;
  /** Sends the key of every object to the second stage. Returns their number. */
  readonly sendEveryKey: () => Promise<number>;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly wait: Wait;
  readonly report: (line: string) => void;
};

/** Moves a cluster. Resolves when the second stage has every key. Throws UserError; run again, it continues. */
export async function moveCluster(
  deps: MoveDeps,
  names: MoveNames,
  timing: MoveTiming,
  signal: AbortSignal,
): Promise<void> {
  const { from, to } = names;
  const nowText = () => new Date(deps.now()).toISOString();
  for (;;) {
    signal.throwIfAborted();
    const entries = await deps.read();
    const step = nextMoveStep(entries, names, timing, deps.now());
    const { source, target } = entries;
    // The plan has checked that the first one is there.
    if (source === undefined) return;
    switch (step.type) {
      case 'prepare': {
        const entry = deps.targetEntry(entries);
        await deps.checkPermissions({ source, target: entry });
        await deps.changeTarget(() => ({ ...withoutState(entry), movingFrom: { stage: from } }));
        deps.report(`the table of ${to} has it; nothing is reconciled there yet`);
        break;
      }
      case 'drain':
        if (target !== undefined) await deps.checkPermissions({ source, target });
        await deps.changeSource((entry) => ({ ...entry, movingTo: { stage: to, since: nowText() } }));
        deps.report(`${from} takes no more of its keys, within a minute`);
        break;
      case 'wait':
        deps.report(`waiting ${step.seconds} s, until ${step.until}`);
        await deps.wait(step.seconds, signal);
        break;
      case 'fence':
        await deps.takePermissions(source);
        await deps.changeSource((entry) => ({ ...entry, movingTo: { ...moving(entry), fencedAt: nowText() } }));
        deps.report(`${from} has no permissions in it any more`);
        break;
      case 'start':
        if (target !== undefined) await deps.grantPermissions(target);
        deps.report(`waiting for a watcher that sends its keys to ${to}`);
        await deps.untilWatched();
        await deps.changeTarget((entry) => ({
          ...requireEntry(entry),
          movingFrom: { stage: from, startedAt: nowText() },
        }));
        deps.report(`${to} reconciles it, within a minute`);
        break;
      case 'reconcile-all':
        deps.report(`${await deps.sendEveryKey()} keys sent to ${to}`);
        // Nothing waits in the queues of the first stage that the second has not been told.
        await deps.changeSource((entry) => ({ ...withoutState(entry), decommissioning: true }));
        break;
      case 'finish':
        await deps.changeTarget((entry) => withoutState(requireEntry(entry)));
        break;
      case 'done':
        deps.report(`${names.name} is of stage ${to}; ${from} deletes the messages that it still has of it`);
        return;
    }
  }
}

function moving(entry: ClusterEntry): NonNullable<ClusterEntry['movingTo']> {
  if (entry.movingTo !== undefined) return entry.movingTo;
  throw new UserError('the entry was changed while the move was under way; run this again');
}

function requireEntry(entry: ClusterEntry | undefined): ClusterEntry {
  if (entry !== undefined) return entry;
  throw new UserError('the entry was removed while the move was under way; run this again');
}
