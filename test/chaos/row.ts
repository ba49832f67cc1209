// One row of the table: a fault, produced while users make changes, and what the judge says afterwards.
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as wait } from 'node:timers/promises';
import type { Dice } from '../../tools/chaos/random.ts';
import type { Editor } from '../../tools/chaos/editor.ts';
import type { Judge, Verdict } from './judge.ts';
import type { ChaosSystem } from '../../tools/chaos/system.ts';

/** How much of what a row does. */
export type Amounts = {
  /** How many changes to make while the fault is there. */
  readonly changes: number;
  /** How long something that is away is away. */
  readonly awaySeconds: number;
  /** The same for SQS, which is expected to be away for longer. */
  readonly queuesAwaySeconds: number;
  /** How often what is killed at random points is killed. */
  readonly kills: number;
  /** How many good objects stand beside a bad one. */
  readonly crowd: number;
  /** How many keys a resync brings at once. */
  readonly resyncKeys: number;
  /** How many of them are due each second: what the functions of this machine can do beside their work. */
  readonly resyncPerSecond: number;
};

/** What a fault can work with. */
export type Stage = Amounts & {
  readonly system: ChaosSystem;
  readonly editor: Editor;
  readonly judge: Judge;
  readonly dice: Dice;
  /** Keeps a figure that belongs to this row, for whoever reads the table. */
  note(text: string): void;
};

/** A fault. */
export type Row = {
  readonly fault: string;
  /** A sentence; where it has amounts in it, of them. */
  readonly how: string | ((amounts: Amounts) => string);
  /** Only the real control plane can do it: the embedded API server has no etcd. */
  readonly real?: true;
  /** Longer than most need: the fault is found by a time-out. */
  readonly slow?: true;
  /** Not for CI: it takes minutes on any machine, or needs one to itself. */
  readonly long?: true;
  /** What it notes are figures that belong to the record. */
  readonly measures?: true;
  /** What was done to requests goes on until everything has converged: its cause is not mended, or was mended elsewhere. */
  readonly lasting?: true;
  /** Watchers at the beginning; default 1. */
  readonly watchers?: number;
  /** Makes changes and trouble; resolves with how often the trouble came, beside what the proxies counted. */
  run(stage: Stage): Promise<number>;
};

/** What came of a row. */
export type Outcome = Verdict & {
  readonly fault: string;
  readonly how: string;
  readonly fired: number;
  readonly changes: number;
  /** From the end of the fault and of the changes. */
  readonly convergeSeconds: number;
  readonly notes: readonly string[];
};

/** An outcome, and by which choices it came about. */
export type SeededOutcome = Outcome & { readonly seed: number };

/** A fault waits for something to break, which on a machine under load may be late. */
const mostTries = 100;
const patienceMilliseconds = 200;
/** Clients of the outside world, which is in this process, give up after 3 s. */
const longStallSeconds = 1;
/** Of a fault, whatever it does: a server that does not come back must not keep everybody waiting. */
const mostSeconds = 1_200;

/** Produces the fault, heals, waits for the end state and has it judged. */
export async function runRow(row: Row, parts: Omit<Stage, 'note'>, deadlineSeconds: number): Promise<Outcome> {
  const { system, editor, judge } = parts;
  const notes: string[] = [];
  const stage: Stage = { ...parts, note: (text) => void notes.push(text) };
  const failedBefore = system.failures().length;
  const stalls = monitorEventLoopDelay();
  stalls.enable();
  const heal = () => {
    system.api.rule();
    system.sqs.rule();
    system.world.onVisit(() => undefined);
    return system.api.fired() + system.sqs.fired();
  };
  heal();
  // A fault that could not be produced fails its row, and no other.
  const own = await produce(row, stage).catch((error: unknown) => [String(error)]);
  let byProxies = 0;
  const firedYet = () => {
    byProxies += system.api.fired() + system.sqs.fired();
    return own !== 0 || byProxies > 0;
  };
  await editUntil(stage, firedYet);
  if (row.lasting !== true) byProxies += heal();
  const since = performance.now();
  const late = await judge.untilConverged(deadlineSeconds);
  // What AWS would have refused an emulator has let pass.
  const refused = system.calls.refused().map((line) => `no policy allows ${line}`);
  const lost = [...(typeof own === 'number' ? [] : own), ...late, ...refused];
  const convergeSeconds = (performance.now() - since) / 1000;
  // What a stalled or armed stream did after its row's changes counts as well.
  const fired = (typeof own === 'number' ? own : 0) + byProxies + heal();
  const how = describe(row, stage);
  stalls.disable();
  notes.push(...asides(system.failures().slice(failedBefore), stalls.max / 1e9));
  return { fault: row.fault, how, fired, changes: editor.taken(), convergeSeconds, notes, ...judge.verdict(lost) };
}

/** What a reader of a loss has to know: which invocations failed, and whether we ourselves stood still, proxies and world with us. */
function asides(failures: readonly string[], stalledSeconds: number): readonly string[] {
  const kinds = Map.groupBy(failures, (line) => line);
  const counted = [...kinds].map(([line, { length }]) => `${length} x ${line}`);
  return stalledSeconds < longStallSeconds ? counted : [...counted, `stood still for ${stalledSeconds.toFixed(1)} s`];
}

/** Says how a fault is produced. */
function describe({ how }: Row, amounts: Amounts): string {
  return typeof how === 'string' ? how : how(amounts);
}

async function produce(row: Row, stage: Stage): Promise<number> {
  const { system, editor } = stage;
  await system.crew.man({ count: row.watchers ?? 1 });
  await system.atTheirPlaces();
  editor.taken();
  system.world.forget();
  const over = new AbortController();
  const late = wait(mostSeconds * 1000, undefined, over).then(
    () => Promise.reject(new Error(`the fault was not over after ${mostSeconds} s`)),
    () => 0,
  );
  return await Promise.race([row.run(stage), late]).finally(() => over.abort());
}

/** Makes further changes, until something has happened or nobody would believe any more that it will. */
export async function editUntil({ editor }: Pick<Stage, 'editor'>, happened: () => boolean): Promise<void> {
  for (let tries = 0; tries < mostTries && !happened(); tries += 1) {
    await editor.edit(1);
    await wait(patienceMilliseconds);
  }
}

/** Tells whether the promise held: the fault was there, nothing was lost, nothing met. */
export function held({ fired, changes, lost, concurrent }: Omit<Outcome, 'fault' | 'how'>): boolean {
  return fired > 0 && changes > 0 && lost.length === 0 && concurrent === 0;
}
