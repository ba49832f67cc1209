// The system, its users and its judge, put together, and the rows there are.
import { apiRows } from './api-rows.ts';
import { deathRows } from './death-rows.ts';
import { createDice } from './dice.ts';
import { createEditor } from './editor.ts';
import { functionRows } from './function-rows.ts';
import { startJudge } from './judge.ts';
import { createPlainApi } from './plain-api.ts';
import { queueOrderRows } from './queue-order-rows.ts';
import { queueRows } from './queue-rows.ts';
import { type Outcome, type Row, runRow } from './row.ts';
import { startSystem } from './system.ts';

/** How much of what. */
export type ChaosOptions = {
  /** The real control plane instead of the embedded API server. */
  readonly real: boolean;
  readonly seed: number;
  /** Changes a row. */
  readonly changes: number;
  readonly objects: number;
  /** The longest pause between two changes: without any, most of them become one reconcile. */
  readonly pauseMilliseconds: number;
  readonly awaySeconds: number;
  readonly crowd: number;
  readonly resyncKeys: number;
  readonly onLine?: (line: string) => void;
};

/** A system that is broken row by row. */
export type Chaos = AsyncDisposable & { run(row: Row): Promise<Outcome> };

/** Generous: a machine under load is slow, and a loss does not mend itself. */
const deadlineSeconds = { usual: 120, slow: 240 };

/** Returns every row there is. */
export function createCatalogue(): readonly Row[] {
  return [...apiRows, ...queueRows, ...queueOrderRows, ...deathRows, ...functionRows];
}

/** Starts the system and those who look at it. */
export async function openChaos(options: ChaosOptions, signal: AbortSignal): Promise<Chaos> {
  const { seed, changes, objects, pauseMilliseconds, awaySeconds, crowd, resyncKeys } = options;
  await using parts = new AsyncDisposableStack();
  const system = await startSystem(options, signal);
  parts.defer(() => system.close());
  const [api, sqs, pantry] = [system.direct.api, system.direct.sqs, system.direct.pantry].map((server) => {
    const caller = createPlainApi(server);
    parts.defer(() => caller.close());
    return caller;
  });
  if (api === undefined || sqs === undefined || pantry === undefined) throw new Error('three servers, three callers');
  const judge = await startJudge({ api, sqs, pantry, queueUrl: system.queueUrl, visits: system.world.visits });
  parts.defer(() => judge.close());
  const dice = createDice(seed);
  const editor = createEditor({ api, dice }, { objects, pauseMilliseconds });
  const whole = parts.move();
  return {
    run: (row) =>
      runRow(
        row,
        { system, editor, judge, dice, changes, awaySeconds, crowd, resyncKeys },
        deadlineSeconds[row.slow === true ? 'slow' : 'usual'],
      ),
    [Symbol.asyncDispose]: () => whole.disposeAsync(),
  };
}
