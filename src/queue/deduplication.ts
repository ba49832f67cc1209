// When two messages are the same message. SQS drops an id for 5 minutes from its first accepted send, consumed or not, so an
// id changes whenever the world did, and stays when it is only said twice. AWS looks for an id within the group, emulators
// in the whole queue: the target is part of every id, so that both are right. All are hashes of 64 characters.
import type { TargetKey } from '../core/key.ts';
import { targetParts } from './group-id.ts';
import { hashOf } from './message.ts';

/** For how long SQS drops an id. */
export const rememberedSeconds = 300;

/** What a watch saw of one object. */
export type Source = {
  readonly uid: string;
  /** Of a deletion: its own version, or that of the list that found it. */
  readonly resourceVersion: string;
  readonly gone?: boolean;
  /** Since when versions count; absent while they have always counted. After a restore the same version is another change. */
  readonly era?: string;
};

/** The id of a change, forwarded by any replica. Sources that were coalesced into one message all count, in any order. */
export function watchId(target: TargetKey, sources: readonly Source[]): string {
  const seen = sources.map(({ uid, resourceVersion, gone = false, era }) =>
    hashOf(uid, gone ? 'gone' : '', resourceVersion, ...(era === undefined ? [] : [era])),
  );
  return hashOf('watch', ...targetParts(target), ...new Set(seen.sort()));
}

/** The id of a deletion: of the target itself, or of a source that concerned it. */
export function deletionId(target: TargetKey, source: Omit<Source, 'gone'>): string {
  return watchId(target, [{ ...source, gone: true }]);
}

/** The id of a requeue. A slot names its delay and its number, so that all who ask for the same time are one. */
export function requeueId(target: TargetKey, { slot }: { readonly slot: string }): string {
  return hashOf('requeue', ...targetParts(target), slot);
}

/** The id of a retry or a deferral. */
export function retryId(
  target: TargetKey,
  { attempt, deferrals, slot }: { readonly attempt: number; readonly deferrals: number; readonly slot: string },
): string {
  return hashOf('retry', ...targetParts(target), attempt, deferrals, slot);
}

/** The id of a resync's visit. `run` is the schedule's own time, or a nonce for what a watcher sends in bulk. */
export function resyncId(target: TargetKey, { run }: { readonly run: string }): string {
  return hashOf('resync', ...targetParts(target), run);
}

/** The id of a replay. `source` is the id of the message that is sent again, or a nonce. */
export function replayId(target: TargetKey, { source }: { readonly source: string }): string {
  return hashOf('replay', ...targetParts(target), source);
}

/** The id of what a mapping function made of a message: one for each target, however often that message is delivered. */
export function mappedId(target: TargetKey, { messageId }: { readonly messageId: string }): string {
  return hashOf('mapped', ...targetParts(target), messageId);
}
