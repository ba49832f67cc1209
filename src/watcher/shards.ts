// Divides the clusters of the table among the shards of a fleet watcher. Rendezvous hashing: a shard that is added or
// removed moves only the clusters that it takes over or gives up. Each cluster is on two shards, so a shard that dies
// leaves no cluster unwatched; SQS drops the second message of a change as a duplicate.
import { createHash } from 'node:crypto';

/** One shard: its index from 0, and the number of shards. */
export type Shard = { readonly index: number; readonly count: number };

/** The number of shards that watch one cluster. */
const shardsOfCluster = 2;

/** Returns whether a shard watches a cluster. */
export function isOnShard(cluster: string, { index, count }: Shard): boolean {
  const score = (shard: number) => createHash('sha256').update(`${shard}\0${cluster}`).digest('hex');
  const own = score(index);
  const better = Array.from({ length: count }, (_, shard) => shard).filter((shard) => score(shard) > own);
  return better.length < shardsOfCluster;
}
