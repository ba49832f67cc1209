// The sender check of a controller's function: whether the sender of a message is permitted to send it. The clusters
// table names the watchers of each cluster, and the stack names its own roles.
import type { Message } from '../sqs/message.ts';
import type { QueueRecord } from '../sqs/record.ts';
import { admitKey, type ControllerSenders, createCopyLimit, roleIdOf } from '../sqs/senders.ts';
import type { Admit, ReadRecord } from './group-records.ts';

/** Checks the senders of messages. */
export type SenderCheck = ReturnType<typeof createSenderCheck>;

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
  table: WatcherTable & { readonly monotonicMs: () => number; readonly concurrency: number },
) {
  /** Of the last batch. Undefined: the entry of the cluster cannot be read. */
  let watchers: ReadonlyMap<string, readonly string[] | undefined> = new Map();

  async function readTable(clusters: ReadonlySet<string>): Promise<Admit> {
    const read = [...clusters].map(
      async (cluster) => [cluster, await table.watchersOf(cluster).catch(() => undefined)] as const,
    );
    const named = new Map(await Promise.all(read));
    const ofAny = await table.allWatchers().catch(() => new Set<string>());
    watchers = named;
    return (message, record) => admitKey(message, record, senders, { ofCluster: named.get(message.cluster), ofAny });
  }

  return {
    /** Returns whether one more refused message may be copied to the dead-letter queue. */
    mayCopy: createCopyLimit(table.monotonicMs, table),
    /** Reads the watchers of the clusters that messages name; resolves with the check of these. Never rejects. */
    admission: async (records: readonly ReadRecord[]): Promise<Admit> => {
      const clusters = new Set(records.flatMap(({ message }) => message?.cluster ?? []));
      const admit = await readTable(clusters);
      const refused = records.find(({ message, record }) => message !== undefined && !admit(message, record));
      if (refused?.message === undefined) return admit;
      // An operator may have named the watcher since the last read, at most 15 s ago. Its messages must not become dead
      // letters.
      table.forget(refused.message.cluster);
      return await readTable(clusters);
    },
    /** Returns one sentence for the operator: who sent the message, and who may. */
    explain: ({ cluster, cause }: Message, { senderId, stampedSender }: QueueRecord): string => {
      const sender = roleIdOf(senderId);
      const from = sender === senders.timers && stampedSender !== undefined ? `${stampedSender}, by timers,` : sender;
      const expected = watchers.get(cluster) ?? [];
      const named = expected.length === 0 ? 'names no watcher' : `names ${expected.join(', ')}`;
      return (
        `sender ${from} may not send ${cause.type} for cluster ${cluster}, whose entry ${named}; ` +
        `if its role was made again, run outrigger clusters set-watcher ${cluster} --watcher-role ARN`
      );
    },
  };
}
