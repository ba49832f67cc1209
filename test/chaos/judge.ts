// Says what was lost, what met, and what was written for nothing. It shares no code with the product: its own lists and watch at
// the API server itself, the pantry's own word on who has what, and the gate's times of coming and going.
import { setTimeout as wait } from 'node:timers/promises';
import * as z from 'zod';
import type { PlainApi } from '../../tools/chaos/plain-api.ts';
import { type Portion, parseList, parseWatchLine, portionsPath, saysSo } from '../../tools/chaos/portions.ts';
import type { Visit } from './slow-world.ts';

const holding = z.looseObject({
  reserved: z.looseObject({ amount: z.number() }).optional(),
  measured: z.looseObject({ amount: z.number() }).optional(),
});
const attributes = z.looseObject({ Attributes: z.record(z.string(), z.coerce.number()) });

/** What the judge found about one row. */
export type Verdict = {
  /** Why an object counts as lost, one line each. */
  readonly lost: readonly string[];
  /** Pairs of visits for one object that were there at once. */
  readonly concurrent: number;
  /** Writes to objects that brought neither a new generation nor the first word on it nor a finalizer's coming or going. */
  readonly extraWrites: number;
};

/** A judge that looks on. */
export type Judge = {
  /** Resolves when everything is as it was asked for, in the cluster and outside, and the queue is empty; with what is not, at the deadline. */
  untilConverged(
    deadlineSeconds: number,
    options?: { /** Whose state, and whose messages, do not matter. */ readonly except?: string },
  ): Promise<readonly string[]>;
  /**
   * The cluster has gone back: whoever is no longer there never was, and whoever is without a finalizer again never had one. What was
   * done outside for either, nothing in the cluster tells of, until a reconcile puts the finalizer on it anew.
   */
  rewound(): Promise<void>;
  /** Judges what happened since the last verdict. */
  verdict(lost: readonly string[]): Verdict;
  close(): Promise<void>;
};

/** What the judge looks at. */
export type Witnesses = {
  readonly api: PlainApi;
  readonly pantry: PlainApi;
  readonly sqs: PlainApi;
  readonly queueUrl: string;
  readonly visits: () => readonly Visit[];
};

const lookMilliseconds = 200;

/** Starts a judge; it watches from now on. */
export async function startJudge({ api, pantry, sqs, queueUrl, visits }: Witnesses): Promise<Judge> {
  const over = new AbortController();
  const seen = new Map<string, Portion>();
  const excused = new Set<string>();
  let extraWrites = 0;
  const note = (next: Portion): void => {
    const last = seen.get(next.metadata.uid);
    if (last !== undefined && isExtra(last, next)) extraWrites += 1;
    seen.set(next.metadata.uid, next);
    if (next.metadata.finalizers.length > 0) excused.delete(next.metadata.uid);
  };
  const watching = watch();

  async function list(): Promise<readonly Portion[]> {
    const { body } = await api.call('GET', portionsPath);
    return parseList(body).items;
  }

  async function watch(): Promise<void> {
    while (!over.signal.aborted) {
      try {
        const { items, metadata } = parseList((await api.call('GET', portionsPath)).body);
        items.forEach(note);
        const query = `?watch=true&resourceVersion=${metadata.resourceVersion}`;
        await api.follow(
          `${portionsPath}${query}`,
          (line) => {
            const { type, portion } = parseWatchLine(line);
            if (portion !== undefined && (type === 'ADDED' || type === 'MODIFIED')) note(portion);
          },
          over.signal,
        );
      } catch {
        // The server is away; what happened meanwhile is told by the next list.
      }
      await wait(lookMilliseconds, undefined, { signal: over.signal }).catch(() => undefined);
    }
  }

  async function held(uid: string): Promise<z.infer<typeof holding>> {
    return holding.parse((await pantry.call('GET', `/holders/${uid}`)).body);
  }

  /** What is not as it was asked for, as lines for a person. */
  async function wrong(except: string | undefined): Promise<readonly string[]> {
    const items = (await list()).filter(({ metadata }) => metadata.name !== except);
    const late = items.filter((one) => !saysSo(one)).map((one) => `${one.metadata.name}: ${whatItSays(one)}`);
    if (late.length > 0) return late;
    const here = new Set(items.map(({ metadata }) => metadata.uid));
    const outside = items.map(async ({ metadata: { name, uid }, spec }) => {
      const { measured, reserved } = await held(uid);
      if (measured?.amount === spec.amount && reserved === undefined) return [];
      return [`${name}: the pantry has ${measured?.amount ?? 'nothing'} of ${spec.amount} laid out`];
    });
    const left = [...seen.values()].map(async ({ metadata: { name, uid } }) => {
      if (here.has(uid) || excused.has(uid) || name === except) return [];
      const { measured, reserved } = await held(uid);
      return measured === undefined && reserved === undefined ? [] : [`${name} (${uid}) is gone, its portion is not`];
    });
    return (await Promise.all([...outside, ...left])).flat();
  }

  /** Messages that lie or are under way: while there are any, something may still be done. */
  async function waitingMessages(): Promise<number> {
    const names = ['ApproximateNumberOfMessages', 'ApproximateNumberOfMessagesNotVisible'];
    const headers = { 'content-type': 'application/x-amz-json-1.0', 'x-amz-target': 'AmazonSQS.GetQueueAttributes' };
    const { body } = await sqs.call('POST', '/', { QueueUrl: queueUrl, AttributeNames: names }, headers);
    const counts = attributes.parse(body).Attributes;
    return names.reduce((sum, name) => sum + (counts[name] ?? 0), 0);
  }

  async function look(except: string | undefined): Promise<readonly string[]> {
    const found = await wrong(except);
    const waiting = found.length > 0 || except !== undefined ? 0 : await waitingMessages();
    return waiting > 0 ? [`${waiting} messages are still on the queue`] : found;
  }

  return {
    async untilConverged(deadlineSeconds, { except } = {}) {
      const until = performance.now() + deadlineSeconds * 1000;
      for (;;) {
        const since = performance.now();
        const found = await look(except).catch((error: unknown) => [`cannot look: ${String(error)}`]);
        if (found.length === 0) return [];
        if (performance.now() > until) return found;
        // Many objects take a while to look at; who looks all the time is a fault by itself.
        await wait(Math.max(lookMilliseconds, 2 * (performance.now() - since)));
      }
    },
    rewound: async () => {
      const here = new Map((await list()).map(({ metadata }) => [metadata.uid, metadata]));
      for (const uid of seen.keys()) if (!here.has(uid)) seen.delete(uid);
      for (const [uid, { finalizers }] of here) if (finalizers.length === 0) excused.add(uid);
    },
    verdict: (lost) => {
      const writes = extraWrites;
      extraWrites = 0;
      return { lost, concurrent: meetings(visits()), extraWrites: writes };
    },
    close: async () => {
      over.abort();
      await watching;
    },
  };
}

/** Counts pairs of visits of one object that were there at once. */
export function meetings(visits: readonly Visit[]): number {
  const byHolder = Map.groupBy(visits, ({ holder }) => holder);
  return [...byHolder.values()].flatMap((of) =>
    of
      .toSorted((one, other) => one.entered - other.entered)
      .filter((visit, index, sorted) =>
        sorted.slice(0, index).some(({ left }) => left === undefined || left > visit.entered),
      ),
  ).length;
}

/** What a status says that does not fit, for a person. */
function whatItSays({ metadata, spec, status }: Portion): string {
  const { generation, resourceVersion, deletionTimestamp } = metadata;
  const ready = status?.conditions.find(({ type }) => type === 'Ready')?.status ?? 'unknown';
  const wanted = `generation ${generation} (version ${resourceVersion}) wants ${spec.amount}`;
  const said = `the status of generation ${status?.observedGeneration} says ${status?.measured?.amount}, Ready ${ready}`;
  return `${wanted}; ${said}${deletionTimestamp === undefined ? '' : `; deleted at ${deletionTimestamp}`}`;
}

/** Tells whether a write says nothing that was not said before. */
export function isExtra({ metadata: was, status: said }: Portion, { metadata: is, status: says }: Portion): boolean {
  return (
    was.resourceVersion !== is.resourceVersion &&
    was.generation === is.generation &&
    was.deletionTimestamp === is.deletionTimestamp &&
    was.finalizers.join() === is.finalizers.join() &&
    said?.observedGeneration === says?.observedGeneration
  );
}
