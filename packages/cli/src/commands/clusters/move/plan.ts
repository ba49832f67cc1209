// What a move of a cluster from one stage to another does next, decided from the two entries alone. A move that was
// killed between any two steps is therefore finished by running it again.
//
// Guarantees: at no time may the functions of both stages reconcile the cluster. The first stage stops taking its keys
// (drain), and then has no permissions in the cluster (fence), before the second stage reconciles anything: an instance
// that cannot read the table any more is refused by the API server. Reconciles that ran at the fence have ended then.
// No key is lost: the second stage watches the cluster first, and then reconciles every object once, which stands for
// all that waited in the queues of the first. Assumption: the clocks of the machines that run the command differ by
// seconds.
import type { ClusterEntry } from 'outrigger/internal/clusters/registry/entry';
import { UserError } from 'outrigger/internal/core/errors';
import { placeOptions } from '../../place.ts';

/** The entry of the cluster in the table of each stage. */
export type MoveEntries = { readonly source: ClusterEntry | undefined; readonly target: ClusterEntry | undefined };

/** The cluster, and its two stages. */
export type MoveNames = {
  readonly name: string;
  readonly from: string;
  readonly to: string;
  /** From --region, for printed commands. */
  readonly region?: string | undefined;
};

/** How long each wait takes, in seconds. */
export type MoveTiming = {
  /** Until no function of the first stage takes a key of the cluster: a read of the table and the longest timeout. */
  readonly drainSeconds: number;
  /** After the permissions were taken away: until the API server knows it, and the longest timeout. */
  readonly fenceSeconds: number;
  /** Until every function of the second stage has read the table. */
  readonly refreshSeconds: number;
};

/** The next step. Each can be repeated. */
export type MoveStep =
  /** Enter the cluster into the second table. Nothing is reconciled there yet, but its watcher watches it. */
  | { readonly type: 'prepare' }
  /** Let the first stage stop taking keys of the cluster. */
  | { readonly type: 'drain' }
  | { readonly type: 'wait'; readonly seconds: number; readonly until: string }
  /** Take the permissions of the first stage in the cluster away. */
  | { readonly type: 'fence' }
  /** Give the second stage its permissions, wait for its watcher, and let it reconcile. */
  | { readonly type: 'start' }
  /** Send every key to the second stage. Then let the first one delete its messages. */
  | { readonly type: 'reconcile-all' }
  /** Remove the note of the move from the second table. */
  | { readonly type: 'finish' }
  | { readonly type: 'done' };

/** Decides the next step. Throws a UserError for entries between which there is no such move. */
export function nextMoveStep(
  entries: MoveEntries,
  names: MoveNames,
  { drainSeconds, fenceSeconds, refreshSeconds }: MoveTiming,
  nowMs: number,
): MoveStep {
  const { source, target } = requireMove(entries, names);
  const left = (since: string, seconds: number) => Math.ceil((Date.parse(since) + seconds * 1000 - nowMs) / 1000);
  // A time that cannot be read, or of a clock that is ahead, is noted again.
  const isUsable = (since: string) => Date.parse(since) <= nowMs;
  if (source.decommissioning === true) return { type: target?.movingFrom === undefined ? 'done' : 'finish' };
  if (target?.movingFrom === undefined) return { type: 'prepare' };
  if (source.movingTo === undefined || !isUsable(source.movingTo.since)) return { type: 'drain' };
  const { since, fencedAt } = source.movingTo;
  const draining = left(since, drainSeconds);
  if (draining > 0) return { type: 'wait', seconds: draining, until: `no function of ${names.from} takes its keys` };
  if (fencedAt === undefined || !isUsable(fencedAt)) return { type: 'fence' };
  const settling = left(fencedAt, fenceSeconds);
  if (settling > 0) return { type: 'wait', seconds: settling, until: `reconciles of ${names.from} have ended` };
  const { startedAt } = target.movingFrom;
  if (startedAt === undefined || !isUsable(startedAt)) return { type: 'start' };
  const reading = left(startedAt, refreshSeconds);
  if (reading > 0) return { type: 'wait', seconds: reading, until: `every function of ${names.to} knows it` };
  return { type: 'reconcile-all' };
}

function requireMove(
  { source, target }: MoveEntries,
  { name, from, to, region }: MoveNames,
): MoveEntries & { readonly source: ClusterEntry } {
  const refuse = (reason: string) => new UserError(`cluster "${name}": ${reason}`);
  const of = (command: string, stage: string) =>
    `outrigger clusters ${command} ${name}${placeOptions({ stage, region })}`;
  if (from === to) throw refuse(`is of stage ${from} already`);
  if (source === undefined) throw refuse(`is not in the table of stage ${from}`);
  const other = source.movingTo?.stage ?? to;
  if (other !== to)
    throw refuse(`is on its way to stage ${other}; finish that first: ${of('move', from)} --to ${other}`);
  if (source.movingFrom !== undefined) {
    const { stage } = source.movingFrom;
    throw refuse(`is on its way from stage ${stage}; finish that first: ${of('move', stage)} --to ${from}`);
  }
  const comesFrom = target?.movingFrom?.stage ?? from;
  if (comesFrom !== from) throw refuse(`is on its way from stage ${comesFrom} to ${to}; finish that first`);
  if (source.decommissioning === true) {
    if (target === undefined || target.decommissioning === true)
      throw refuse(`is being decommissioned in stage ${from}`);
    return { source, target };
  }
  const isActive = target !== undefined && target.movingFrom === undefined && target.decommissioning !== true;
  if (isActive)
    throw refuse(
      `is in the table of stage ${to} too, so both reconcile it; take it from one of them: ` +
        `${of('decommission', 'STAGE')} --leave-objects, then ${of('remove', 'STAGE')}`,
    );
  if (source.paused === true && source.movingTo === undefined)
    throw refuse(`is paused; resume it first: ${of('resume', from)}`);
  return { source, target };
}
