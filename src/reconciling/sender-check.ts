// The sender check of a controller's function: whether the sender of a message is permitted to send it. The clusters
// table names the watchers of each cluster, and the stack names its own roles.
import type { Message } from '../sqs/message.ts';
import type { QueueRecord } from '../sqs/record.ts';
import { admitKey, type ControllerSenders, createCopyLimit, roleIdOf } from '../sqs/senders.ts';
import type { ReadRecord } from './group-records.ts';

/** Checks the senders of messages. */
export type SenderCheck = {
  /**
   * Reads the watchers of the clusters that a batch's messages name, and resolves with the check of its messages. Never
   * rejects.
   */
  admission(records: readonly ReadRecord[]): Promise<(message: Message, record: QueueRecord) => Message | undefined>;
  /** Returns one sentence for the operator: who sent the message, and who may. */
  explain(message: Message, record: QueueRecord): string;
  /** Returns whether one more refused message may be copied to the dead-letter queue. */
  mayCopy(): boolean;
};

/** The watchers that the clusters table names, by their ids. A read rejects if the table cannot be read. */
export type WatcherTable = {
  /** Those of a cluster's entry. */
  watchersOf(cluster: string): Promise<readonly string[]>;
  /** Those of all entries. */
  allWatchers(): Promise<ReadonlySet<string>>;
  /** Has the table read again early: the entry of this cluster may be outdated. */
  forget(cluster: string): void;
};

/** Creates the check of one controller's function, of which at most `concurrency` environments run at once. */
export function createSenderCheck(
  senders: ControllerSenders,
  {
    watchersOf,
    allWatchers,
    forget,
    monotonicMs,
    concurrency,
  }: WatcherTable & { readonly monotonicMs: () => number; readonly concurrency: number },
): SenderCheck {
  const mayCopy = createCopyLimit(monotonicMs, { concurrency });
  const known = new Map<string, readonly string[]>();

  async function readTable(clusters: ReadonlySet<string>) {
    const watchers = new Map(
      await Promise.all(
        [...clusters].map(async (cluster) => [cluster, await watchersOf(cluster).catch(() => undefined)] as const),
      ),
    );
    const ofAny = await allWatchers().catch(() => new Set<string>());
    known.clear();
    for (const [cluster, ids] of watchers) if (ids !== undefined) known.set(cluster, ids);
    return (message: Message, record: QueueRecord) =>
      admitKey(message, record, senders, { ofCluster: watchers.get(message.cluster), ofAny });
  }

  return {
    mayCopy,
    admission: async (records) => {
      const clusters = new Set(records.flatMap(({ message }) => message?.cluster ?? []));
      const admit = await readTable(clusters);
      const refused = records.find(({ message, record }) => message !== undefined && !admit(message, record));
      if (refused?.message === undefined) return admit;
      // An operator may have named the watcher since the last read, at most 15 s ago. Its messages must not become dead
      // letters.
      forget(refused.message.cluster);
      return await readTable(clusters);
    },
    explain: ({ cluster, cause }, { senderId, stampedSender }) => {
      const sender = roleIdOf(senderId);
      const from = sender === senders.timers && stampedSender !== undefined ? `${stampedSender}, by timers,` : sender;
      const expected = known.get(cluster) ?? [];
      const named = expected.length === 0 ? 'names no watcher' : `names ${expected.join(', ')}`;
      return (
        `sender ${from} may not send ${cause.type} for cluster ${cluster}, whose entry ${named}; ` +
        `if its role was made again, run outrigger clusters set-watcher ${cluster} --watcher-role ARN`
      );
    },
  };
}
