// Checks the invariants: lost changes, concurrent reconciles and extra writes. It uses no product code: it has its own
// lists and watch of the API server itself, reads the pantry itself, and uses the request times of the slow pantry.
import { setTimeout as wait } from 'node:timers/promises';
import * as z from 'zod';
import type { PlainApi } from './plain-api.ts';
import { isConverged, type Portion, parseList, parseWatchLine, portionsPath } from './portions.ts';
import type { PantryRequest } from './slow-pantry.ts';

const holding = z.looseObject({
  reserved: z.looseObject({ amount: z.number() }).optional(),
  measured: z.looseObject({ amount: z.number() }).optional(),
});
const attributes = z.looseObject({ Attributes: z.record(z.string(), z.coerce.number()) });

/** The result of the checks for one row. */
export type CheckResult = {
  /** Why an object counts as lost, one line each. */
  readonly lost: readonly string[];
  /** Pairs of concurrent pantry requests for one object. */
  readonly concurrent: number;
  /** Writes to objects that changed neither the generation, nor the observed generation, nor the finalizers. */
  readonly extraWrites: number;
};

/** A running checker. */
export type Checker = {
  /**
   * Resolves when every object has converged, in the cluster and in the pantry, and the queue is empty; at the
   * deadline, with the objects that have not.
   */
  untilConverged(
    deadlineSeconds: number,
    options?: {
      /** The name of an object whose state and messages are ignored. */
      readonly except?: string;
      /** Returns the uids of objects whose portions may be left behind: each is named by a dead letter. */
      readonly named?: () => Promise<readonly string[]>;
    },
  ): Promise<readonly string[]>;
  /**
   * Records that etcd was restored: objects that no longer exist, or no longer have a finalizer, are forgotten. For
   * them nothing in the cluster refers to the portion in the pantry until a reconcile adds the finalizer again.
   */
  recordRestore(): Promise<void>;
  /** Returns the result since the last call. */
  result(lost: readonly string[]): CheckResult;
  close(): Promise<void>;
};

/** The servers that the checker reads. */
export type CheckerDeps = {
  readonly api: PlainApi;
  readonly pantry: PlainApi;
  readonly sqs: PlainApi;
  readonly queueUrl: string;
  readonly requests: () => readonly PantryRequest[];
};

const pollMilliseconds = 200;

/** Starts a checker; its watch starts now. */
export async function startChecker({ api, pantry, sqs, queueUrl, requests }: CheckerDeps): Promise<Checker> {
  const closing = new AbortController();
  const seen = new Map<string, Portion>();
  const excluded = new Set<string>();
  let extraWrites = 0;
  const recordState = (next: Portion): void => {
    const last = seen.get(next.metadata.uid);
    if (last !== undefined && isExtraWrite(last, next)) extraWrites += 1;
    seen.set(next.metadata.uid, next);
    if (next.metadata.finalizers.length > 0) excluded.delete(next.metadata.uid);
  };
  const watchEnded = watch();

  async function list(): Promise<readonly Portion[]> {
    const { body } = await api.call('GET', portionsPath);
    return parseList(body).items;
  }

  async function watch(): Promise<void> {
    while (!closing.signal.aborted) {
      try {
        const { items, metadata } = parseList((await api.call('GET', portionsPath)).body);
        items.forEach(recordState);
        const query = `?watch=true&resourceVersion=${metadata.resourceVersion}`;
        await api.follow(
          `${portionsPath}${query}`,
          (line) => {
            const { type, portion } = parseWatchLine(line);
            if (portion !== undefined && (type === 'ADDED' || type === 'MODIFIED')) recordState(portion);
          },
          closing.signal,
        );
      } catch {
        // The server is unavailable; the next list covers the changes meanwhile.
      }
      await wait(pollMilliseconds, undefined, { signal: closing.signal }).catch(() => undefined);
    }
  }

  async function readHolding(uid: string): Promise<z.infer<typeof holding>> {
    return holding.parse((await pantry.call('GET', `/holders/${uid}`)).body);
  }

  /** Returns the objects that have not converged, one line each. */
  async function findUnconverged(except: string | undefined): Promise<readonly string[]> {
    const items = (await list()).filter(({ metadata }) => metadata.name !== except);
    const outdated = items
      .filter((one) => !isConverged(one))
      .map((one) => `${one.metadata.name}: ${describeDifference(one)}`);
    if (outdated.length > 0) return outdated;
    const existing = new Set(items.map(({ metadata }) => metadata.uid));
    const measuredWrongly = items.map(async ({ metadata: { name, uid }, spec }) => {
      const { measured, reserved } = await readHolding(uid);
      if (measured?.amount === spec.amount && reserved === undefined) return [];
      return [`${name}: the pantry has ${measured?.amount ?? 'nothing'} of ${spec.amount} measured`];
    });
    const orphaned = [...seen.values()].map(async ({ metadata: { name, uid } }) => {
      if (existing.has(uid) || excluded.has(uid) || name === except) return [];
      const { measured, reserved } = await readHolding(uid);
      return measured === undefined && reserved === undefined
        ? []
        : [`${name} (${uid}) is deleted, but its portion still exists`];
    });
    return (await Promise.all([...measuredWrongly, ...orphaned])).flat();
  }

  /** Messages that are on the queue or in flight: a reconcile may still follow. */
  async function waitingMessages(): Promise<number> {
    const names = ['ApproximateNumberOfMessages', 'ApproximateNumberOfMessagesNotVisible'];
    const headers = { 'content-type': 'application/x-amz-json-1.0', 'x-amz-target': 'AmazonSQS.GetQueueAttributes' };
    const { body } = await sqs.call('POST', '/', { QueueUrl: queueUrl, AttributeNames: names }, headers);
    const counts = attributes.parse(body).Attributes;
    return names.reduce((sum, name) => sum + (counts[name] ?? 0), 0);
  }

  async function check(except: string | undefined): Promise<readonly string[]> {
    const found = await findUnconverged(except);
    const waiting = found.length > 0 || except !== undefined ? 0 : await waitingMessages();
    return waiting > 0 ? [`${waiting} messages are still on the queue`] : found;
  }

  return {
    async untilConverged(deadlineSeconds, { except, named } = {}) {
      const until = performance.now() + deadlineSeconds * 1000;
      for (;;) {
        const since = performance.now();
        const found = await check(except).catch((error: unknown) => [`check failed: ${String(error)}`]);
        if (found.length === 0) return [];
        if (performance.now() > until) return found;
        for (const uid of (await named?.().catch(() => [])) ?? []) excluded.add(uid);
        // Checking many objects takes a while; checking all the time would be a load of its own.
        await wait(Math.max(pollMilliseconds, 2 * (performance.now() - since)));
      }
    },
    recordRestore: async () => {
      const existing = new Map((await list()).map(({ metadata }) => [metadata.uid, metadata]));
      for (const uid of seen.keys()) if (!existing.has(uid)) seen.delete(uid);
      for (const [uid, { finalizers }] of existing) if (finalizers.length === 0) excluded.add(uid);
    },
    result: (lost) => {
      const writes = extraWrites;
      extraWrites = 0;
      return { lost, concurrent: countOverlaps(requests()), extraWrites: writes };
    },
    close: async () => {
      closing.abort();
      await watchEnded;
    },
  };
}

/** Counts pairs of concurrent requests for one object. */
export function countOverlaps(requests: readonly PantryRequest[]): number {
  const byHolder = Map.groupBy(requests, ({ holder }) => holder);
  return [...byHolder.values()].flatMap((requestsOfHolder) =>
    requestsOfHolder
      .toSorted((one, other) => one.startedAt - other.startedAt)
      .filter((request, index, sorted) =>
        sorted.slice(0, index).some(({ endedAt }) => endedAt === undefined || endedAt > request.startedAt),
      ),
  ).length;
}

/** Describes how a status differs from the spec, for a person. */
function describeDifference({ metadata, spec, status }: Portion): string {
  const { generation, resourceVersion, deletionTimestamp } = metadata;
  const ready = status?.conditions.find(({ type }) => type === 'Ready')?.status ?? 'unknown';
  const specText = `generation ${generation} (version ${resourceVersion}) requests ${spec.amount}`;
  const statusText = `the status of generation ${status?.observedGeneration} has ${status?.measured?.amount}, Ready ${ready}`;
  return `${specText}; ${statusText}${deletionTimestamp === undefined ? '' : `; deleted at ${deletionTimestamp}`}`;
}

/** Returns whether a write added no information. */
export function isExtraWrite(
  { metadata: was, status: before }: Portion,
  { metadata: is, status: after }: Portion,
): boolean {
  return (
    was.resourceVersion !== is.resourceVersion &&
    was.generation === is.generation &&
    was.deletionTimestamp === is.deletionTimestamp &&
    was.finalizers.join() === is.finalizers.join() &&
    before?.observedGeneration === after?.observedGeneration
  );
}
