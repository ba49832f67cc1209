// One row of the table: a fault, produced while users make changes, and what the judge says afterwards.
import { setTimeout as wait } from 'node:timers/promises';
import type { Dice } from './dice.ts';
import type { Editor } from './editor.ts';
import type { Judge, Verdict } from './judge.ts';
import type { ChaosSystem } from './system.ts';

/** What a fault can work with. */
export type Stage = {
  readonly system: ChaosSystem;
  readonly editor: Editor;
  readonly judge: Judge;
  readonly dice: Dice;
  /** How many changes to make while the fault is there. */
  readonly changes: number;
  /** How long something that is away is away. */
  readonly awaySeconds: number;
  /** How many good objects stand beside a bad one. */
  readonly crowd: number;
  /** How many keys a resync brings at once. */
  readonly resyncKeys: number;
  /** Keeps a figure that belongs to this row, for whoever reads the table. */
  note(text: string): void;
};

/** A fault. */
export type Row = {
  readonly fault: string;
  readonly how: string;
  /** Longer than most need: the fault is found by a time-out. */
  readonly slow?: true;
  /** Makes changes and trouble; resolves with how often the trouble came, beside what the proxies counted. */
  run(stage: Stage): Promise<number>;
};

/** What came of a row. */
export type Outcome = Verdict & {
  readonly row: Row;
  readonly fired: number;
  readonly changes: number;
  /** From the end of the fault and of the changes. */
  readonly convergeSeconds: number;
  readonly notes: readonly string[];
};

/** A fault waits for something to break, which on a machine under load may be late. */
const mostTries = 100;
const patienceMilliseconds = 200;

/** Produces the fault, heals, waits for the end state and has it judged. */
export async function runRow(row: Row, parts: Omit<Stage, 'note'>, deadlineSeconds: number): Promise<Outcome> {
  const { system, editor, judge } = parts;
  const notes: string[] = [];
  const stage: Stage = { ...parts, note: (text) => void notes.push(text) };
  const heal = () => {
    system.api.rule();
    system.sqs.rule();
    system.world.onVisit(() => undefined);
    return system.api.fired() + system.sqs.fired();
  };
  heal();
  editor.taken();
  system.world.forget();
  // A fault that could not be produced fails its row, and no other.
  const own = await row.run(stage).catch((error: unknown) => [String(error)]);
  let byProxies = 0;
  const firedYet = () => {
    byProxies += system.api.fired() + system.sqs.fired();
    return own !== 0 || byProxies > 0;
  };
  await editUntil(stage, firedYet);
  byProxies += heal();
  const since = performance.now();
  const late = await judge.untilConverged(deadlineSeconds);
  const lost = typeof own === 'number' ? late : [...own, ...late];
  const convergeSeconds = (performance.now() - since) / 1000;
  // What a stalled or armed stream did after its row's changes counts as well.
  const fired = (typeof own === 'number' ? own : 0) + byProxies + system.api.fired();
  return { row, fired, changes: editor.taken(), convergeSeconds, notes, ...judge.verdict(lost) };
}

/** Makes further changes, until something has happened or nobody would believe any more that it will. */
export async function editUntil({ editor }: Pick<Stage, 'editor'>, happened: () => boolean): Promise<void> {
  for (let tries = 0; tries < mostTries && !happened(); tries += 1) {
    await editor.edit(1);
    await wait(patienceMilliseconds);
  }
}

/** Tells whether the promise held: the fault was there, nothing was lost, nothing met. */
export function held({ fired, changes, lost, concurrent }: Outcome): boolean {
  return fired > 0 && changes > 0 && lost.length === 0 && concurrent === 0;
}
