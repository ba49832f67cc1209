// The system, its users and its judge, put together, and the rows there are.
import { apiRows } from '../../test/chaos/api-rows.ts';
import type { LedgerEntry } from '../../test/chaos/call-ledger.ts';
import { deathRows } from '../../test/chaos/death-rows.ts';
import { createDice } from './random.ts';
import { createEditor, type EditorOptions } from './editor.ts';
import { effectRows } from '../../test/chaos/effect-rows.ts';
import { etcdRows } from '../../test/chaos/etcd-rows.ts';
import { functionRows } from '../../test/chaos/function-rows.ts';
import { startJudge } from '../../test/chaos/judge.ts';
import { createPlainApi } from './plain-api.ts';
import { queueOrderRows } from '../../test/chaos/queue-order-rows.ts';
import { queueRows } from '../../test/chaos/queue-rows.ts';
import { resyncRows } from '../../test/chaos/resync-rows.ts';
import { type Amounts, type Outcome, type Row, runRow } from '../../test/chaos/row.ts';
import { startSystem } from './system.ts';
import { watcherRows } from './watcher-rows.ts';

/** What is broken, and how much of it. */
export type ChaosOptions = {
  /** The real control plane instead of the embedded API server. */
  readonly real: boolean;
  readonly seed: number;
  readonly amounts: Amounts;
  readonly users: EditorOptions;
  readonly onLine?: (line: string) => void;
};

/** A system that is broken row by row. */
export type Chaos = AsyncDisposable & {
  run(row: Row): Promise<Outcome>;
  /** The calls to AWS so far. */
  calls(): readonly LedgerEntry[];
};

/** Generous: a machine under load is slow, and a loss does not mend itself. */
const deadlineSeconds = { usual: 300, slow: 420 };

/** Returns every row there is. */
export function createCatalogue(): readonly Row[] {
  return [
    ...apiRows,
    ...etcdRows,
    ...watcherRows,
    ...queueRows,
    ...queueOrderRows,
    ...deathRows,
    ...functionRows,
    ...resyncRows,
    ...effectRows,
  ];
}

/** Starts the system and those who look at it. */
export async function openChaos(options: ChaosOptions, signal: AbortSignal): Promise<Chaos> {
  const { seed, amounts, users } = options;
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
  const editor = createEditor({ api, dice }, users);
  const whole = parts.move();
  return {
    run: (row) =>
      runRow(row, { ...amounts, system, editor, judge, dice }, deadlineSeconds[row.slow === true ? 'slow' : 'usual']),
    calls: () => system.calls.entries(),
    [Symbol.asyncDispose]: () => whole.disposeAsync(),
  };
}
