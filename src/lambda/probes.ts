// Answers the probes of `outrigger verify`: the function says in its log what it can do, and sends the probe on. It is
// never retried, and never becomes a dead letter: that there is no answer is an answer.
import { askClusters } from '../clusters/ask-clusters.ts';
import type { openClusters } from '../clusters/open-clusters.ts';
import { toError } from '../core/errors.ts';
import type { KindDescription } from '../core/kind-names.ts';
import type { Log } from '../core/log.ts';
import { type Probe, probeEntry, readProbe } from '../sqs/probe.ts';
import type { QueueRecord } from '../sqs/record.ts';
import type { Send } from '../sqs/sender.ts';
import { roleIdOf } from '../sqs/senders.ts';

/** What a function needs to answer. */
export type ProbeDeps = {
  readonly log: Log;
  readonly send: Send;
  /** Absent: the function has no clusters table. */
  readonly opened?: Pick<ReturnType<typeof openClusters>, 'table' | 'clusters'>;
  /** The kinds that it has to list. */
  readonly kinds?: readonly KindDescription[];
};

/** Answers the probes of a batch while `run` processes the other records. Rejects only as `run` does. */
export async function besidesProbes(
  deps: ProbeDeps,
  records: readonly QueueRecord[],
  signal: AbortSignal,
  run: (others: readonly QueueRecord[]) => Promise<readonly string[]>,
): Promise<readonly string[]> {
  const probes = new Map(
    records.flatMap((one) => {
      const probe = readProbe(one.body);
      return probe === undefined ? [] : [[one, probe] as const];
    }),
  );
  if (probes.size === 0) return await run(records);
  const others = records.filter((one) => !probes.has(one));
  const answers = [...probes].map(([record, probe]) => answerProbe(deps, probe, signal, record));
  const [kept] = await Promise.all([others.length === 0 ? [] : run(others), ...answers]);
  return kept;
}

/**
 * Answers one probe in the log, at a level that is hidden by ERROR alone. Never rejects. That of a watcher is refused:
 * a watcher has nothing to verify, and each of its probes would ask every cluster.
 */
export async function answerProbe(
  { log, send, opened, kinds = [] }: ProbeDeps,
  { path, sentAt, ...probe }: Probe,
  signal: AbortSignal,
  record?: Pick<QueueRecord, 'receiveCount' | 'senderId'>,
): Promise<void> {
  const nowMs = Date.now();
  const [next, ...rest] = path;
  const sender = record?.senderId === undefined ? {} : { sender: roleIdOf(record.senderId) };
  const about = {
    id: probe.id,
    from: probe.from,
    left: path.length,
    tookMs: Math.max(0, nowMs - sentAt),
    ...sender,
    receiveCount: record?.receiveCount,
    memoryMegabytes: Math.round(process.memoryUsage.rss() / 2 ** 20),
  };
  if (next === undefined) return log.warn('probe answered', { probe: about });
  const watchers = await opened?.table.watchers().catch(() => undefined);
  if (watchers?.has(sender.sender ?? '') === true)
    return log.warn('probe refused: a watcher sent it', { probe: about });
  const asked = { kinds, only: probe.cluster, namespace: probe.namespace, signal };
  const [clusters, [sent]] = await Promise.all([
    opened === undefined
      ? undefined
      : askClusters(opened, asked).catch((thrown: unknown) => ({ error: toError(thrown).message })),
    send(next, [probeEntry(next, { ...probe, path: rest, sentAt: nowMs })], { signal }),
  ]);
  const notSent = sent?.accepted === true ? {} : { notSent: { queue: next, reason: sent?.reason ?? 'no response' } };
  log.warn('probe answered', { probe: { ...about, ...notSent, ...(clusters === undefined ? {} : { clusters }) } });
}
