// The options with which a command names a watcher of a cluster: the role that may send its keys, and the role's unique
// id. SQS names senders by this id, and a role that is deleted and made again under its name has another one.
import type { Command } from 'commander';
import { findRole } from 'outrigger/internal/clusters/auth/aws-identity';
import { type EntryWatcher, isWatcherArn, isWatcherId } from 'outrigger/internal/clusters/registry/entry';
import { UserError } from 'outrigger/internal/core/errors';
import { iamCaller, type RegionFlag } from '../stage-table.ts';

/** The options that name a watcher. */
export type WatcherFlags = RegionFlag & { readonly watcherRole?: string; readonly watcherId?: string };

/** Adds the options that name a watcher. */
export function withWatcherOptions(command: Command): Command {
  return command
    .option('--watcher-role <arn>', 'the role of the cluster’s watcher: only named watchers may send its keys')
    .option(
      '--watcher-id <id>',
      'the role’s unique id, which its watcher logs at the start; by default IAM is asked with your credentials',
    );
}

/**
 * Returns the watcher that the options name; undefined without them. Without an id, IAM is asked for it. Throws a
 * UserError.
 */
export async function readWatcher({
  watcherRole: arn,
  watcherId: id,
  ...flag
}: WatcherFlags): Promise<EntryWatcher | undefined> {
  if (arn === undefined) {
    if (id !== undefined) throw new UserError('--watcher-id: give --watcher-role, too');
    return undefined;
  }
  if (!isWatcherArn(arn))
    throw new UserError('--watcher-role: the ARN of a role, like arn:aws:iam::123456789012:role/NAME');
  if (id !== undefined) {
    if (!isWatcherId(id)) throw new UserError('--watcher-id: the unique id of the role, like AROA...');
    return { arn, id };
  }
  const found = await findRole(arn, iamCaller(flag));
  if (found?.arn === arn) return found;
  throw new UserError(
    `--watcher-role ${arn}: this account has no such role; ` +
      'for a role of another account give --watcher-id with the id that its watcher logs at the start',
  );
}
