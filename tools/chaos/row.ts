// One row of the table: a fault, injected while users make changes, and the result of the checks afterwards.
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as wait } from 'node:timers/promises';
import * as z from 'zod';
import type { Checker, CheckResult } from './checker.ts';
import type { Editor } from './editor.ts';
import { createPlainSqs, type ReceivedMessage } from './plain-sqs.ts';
import type { SeededRandom } from './random.ts';
import type { ChaosSystem } from './system.ts';

/** The amounts of a row. */
export type Amounts = {
  /** The number of changes during the fault. */
  readonly changes: number;
  /** The seconds for which an unavailable server is unavailable. */
  readonly outageSeconds: number;
  /** The same for SQS, which is expected to be unavailable for longer. */
  readonly queueOutageSeconds: number;
  /** The seconds for which SQS rejects half of all sends. */
  readonly rejectSeconds: number;
  /** The number of kills at random points. */
  readonly kills: number;
  /** The number of ordinary objects next to a faulty one. */
  readonly bulkObjects: number;
  /** The number of keys of a resync. */
  readonly resyncKeys: number;
  /**
   * The number of keys that are due each second: what the functions on this machine can process besides their other
   * work.
   */
  readonly resyncPerSecond: number;
};

/** The inputs of a fault. */
export type ChaosFixture = Amounts & {
  readonly system: ChaosSystem;
  readonly editor: Editor;
  readonly checker: Checker;
  readonly random: SeededRandom;
  /** Adds a figure of this row to its outcome. */
  addNote(text: string): void;
};

/** A fault. */
export type Row = {
  readonly fault: string;
  /** A sentence, or a function that inserts the amounts into it. */
  readonly how: string | ((amounts: Amounts) => string);
  /** True: it needs the real control plane, because the embedded API server has no etcd. */
  readonly real?: true;
  /** True: it takes longer than others, because the fault is detected by a timeout. */
  readonly slow?: true;
  /** True: not for CI, because it takes minutes on any machine or needs a machine without other load. */
  readonly long?: true;
  /** True: its notes are figures that belong to the record. */
  readonly measures?: true;
  /**
   * True: the rules of the proxies stay until all objects have converged, because the cause lasts or is removed
   * elsewhere.
   */
  readonly untilConverged?: true;
  /** The longest time to converge, for a fault whose end every object must notice soon. */
  readonly maxConvergeSeconds?: number;
  /** True: no message may become a dead letter. */
  readonly noDeadLetters?: true;
  /** True: an external resource may be left behind if a dead letter names its object. */
  readonly deadLettersName?: true;
  /** The number of watchers at the start; default 1. */
  readonly watchers?: number;
  /**
   * Makes changes and injects the fault; resolves with how often the fault occurred, in addition to the proxies'
   * counts.
   */
  run(fixture: ChaosFixture): Promise<number>;
};

/** The outcome of a row. */
export type Outcome = CheckResult & {
  readonly fault: string;
  readonly how: string;
  readonly fired: number;
  readonly changes: number;
  /** From the end of the fault and of the changes. */
  readonly convergeSeconds: number;
  readonly notes: readonly string[];
};

/** An outcome and its seed. */
export type SeededOutcome = Outcome & { readonly seed: number };

/** Faults occur on requests, which may be late on a machine under load. */
const maxTries = 100;
const retryMilliseconds = 200;
/** Clients of the simulators, which are in this process, time out after 3 s. */
const longStallSeconds = 1;
/** The limit for any fault: a server that does not come back must not block the run. */
const maxFaultSeconds = 1_200;

/** Injects the fault, removes it, waits until all objects have converged, and returns the result of the checks. */
export async function runRow(
  row: Row,
  inputs: Omit<ChaosFixture, 'addNote'>,
  deadlineSeconds: number,
): Promise<Outcome> {
  const { system, editor, checker } = inputs;
  const notes: string[] = [];
  const fixture: ChaosFixture = { ...inputs, addNote: (text) => void notes.push(text) };
  const failedBefore = system.failures().length;
  const stalls = monitorEventLoopDelay();
  stalls.enable();
  const clearFaults = () => {
    system.api.rule();
    system.sqs.rule();
    system.pantry.onRequest(() => undefined);
    return system.api.firedCount() + system.sqs.firedCount();
  };
  clearFaults();
  const deadLettersBefore = await countDeadLetters(system);
  // A fault that could not be injected fails its own row only.
  const ownCount = await inject(row, fixture).catch((error: unknown) => [String(error)]);
  let byProxies = 0;
  const hasFired = () => {
    byProxies += system.api.firedCount() + system.sqs.firedCount();
    return ownCount !== 0 || byProxies > 0;
  };
  await editUntil(fixture, hasFired);
  if (row.untilConverged !== true) byProxies += clearFaults();
  const since = performance.now();
  const named = async () => (await readDeadLetters(system)).flatMap(uidOfObject);
  const unconverged = await checker.untilConverged(deadlineSeconds, row.deadLettersName === true ? { named } : {});
  // Calls that AWS would deny, although the emulator accepted them.
  const denied = system.calls.takeDenied().map((line) => `not allowed by a policy: ${line}`);
  const convergeSeconds = (performance.now() - since) / 1000;
  const deadLetters = (await countDeadLetters(system)) - deadLettersBefore;
  if (deadLetters > 0) notes.push(`${deadLetters} dead letters`);
  const { maxConvergeSeconds = Number.POSITIVE_INFINITY, noDeadLetters } = row;
  const lost = [
    ...(typeof ownCount === 'number' ? [] : ownCount),
    ...unconverged,
    ...denied,
    ...(convergeSeconds > maxConvergeSeconds ? [`converged after ${convergeSeconds.toFixed(1)} s`] : []),
    ...(noDeadLetters === true && deadLetters > 0
      ? [`${deadLetters} dead letters`, ...(await describeDeadLetters(system))]
      : []),
  ];
  // Effects of stalled or pending stream faults after the changes count as well.
  const fired = (typeof ownCount === 'number' ? ownCount : 0) + byProxies + clearFaults();
  const how = describe(row, fixture);
  stalls.disable();
  notes.push(...sideNotes(system.failures().slice(failedBefore), stalls.max / 1e9));
  return {
    fault: row.fault,
    how,
    fired,
    changes: editor.takeChangeCount(),
    convergeSeconds,
    notes,
    ...checker.result(lost),
  };
}

/** One line for each dead letter. */
async function describeDeadLetters(system: ChaosSystem): Promise<readonly string[]> {
  const found = await readDeadLetters(system);
  return found.map(({ body, attributes: { reason, error = '' } }) => `dead letter: ${reason} ${error} ${body}`);
}

async function readDeadLetters({ direct, queueUrl }: ChaosSystem): Promise<readonly ReceivedMessage[]> {
  const sqs = createPlainSqs(direct.sqs);
  try {
    return await sqs.read(deadLetterQueueOf(queueUrl));
  } finally {
    sqs.close();
  }
}

const savedObject = z.looseObject({ metadata: z.looseObject({ uid: z.string() }) });

/** The uid of the object that a dead letter holds: an operator can finish what it has outside of the cluster. */
function uidOfObject({ attributes: { object } }: ReceivedMessage): readonly string[] {
  return object === undefined ? [] : [savedObject.parse(JSON.parse(object)).metadata.uid];
}

const deadLetterQueueOf = (queueUrl: string) => queueUrl.replace(/\.fifo$/, '-dlq.fifo');

async function countDeadLetters({ direct, queueUrl }: ChaosSystem): Promise<number> {
  const sqs = createPlainSqs(direct.sqs);
  const count = await sqs.count(deadLetterQueueOf(queueUrl));
  sqs.close();
  return count;
}

/**
 * Notes that help to understand a lost change: failed invocations, and stalls of this process, which also stall the
 * proxies and simulators.
 */
function sideNotes(failures: readonly string[], stalledSeconds: number): readonly string[] {
  const kinds = Map.groupBy(failures, (line) => line);
  const counted = [...kinds].map(([line, { length }]) => `${length} x ${line}`);
  return stalledSeconds < longStallSeconds
    ? counted
    : [...counted, `this process stalled for ${stalledSeconds.toFixed(1)} s`];
}

/** Describes how a fault is injected. */
function describe({ how }: Row, amounts: Amounts): string {
  return typeof how === 'string' ? how : how(amounts);
}

async function inject(row: Row, fixture: ChaosFixture): Promise<number> {
  const { system, editor } = fixture;
  await system.watchers.scale({ count: row.watchers ?? 1 });
  await system.watchersReady();
  editor.takeChangeCount();
  system.pantry.clearRequests();
  const aborter = new AbortController();
  const unconverged = wait(maxFaultSeconds * 1000, undefined, aborter).then(
    () => Promise.reject(new Error(`the fault did not end within ${maxFaultSeconds} s`)),
    () => 0,
  );
  return await Promise.race([row.run(fixture), unconverged]).finally(() => aborter.abort());
}

/** Makes further changes until the condition is met or the number of tries is used up. */
export async function editUntil({ editor }: Pick<ChaosFixture, 'editor'>, isMet: () => boolean): Promise<void> {
  for (let tries = 0; tries < maxTries && !isMet(); tries += 1) {
    await editor.edit(1);
    await wait(retryMilliseconds);
  }
}

/** Returns whether the guarantees held: the fault occurred, no change was lost, and no reconciles were concurrent. */
export function passed({ fired, changes, lost, concurrent }: Omit<Outcome, 'fault' | 'how'>): boolean {
  return fired > 0 && changes > 0 && lost.length === 0 && concurrent === 0;
}
