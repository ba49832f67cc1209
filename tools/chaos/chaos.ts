// Assembles the system, its users and the checker, and lists the rows.
import { apiRows } from './api-rows.ts';
import type { LedgerEntry } from './call-ledger.ts';
import { startChecker } from './checker.ts';
import { clockRows } from './clock-rows.ts';
import { doubleFaultRows } from './double-fault-rows.ts';
import { createEditor, type EditorOptions } from './editor.ts';
import { effectRows } from './effect-rows.ts';
import { etcdRows } from './etcd-rows.ts';
import { functionRows } from './function-rows.ts';
import { killRows } from './kill-rows.ts';
import { createPlainApi } from './plain-api.ts';
import { queueOrderRows } from './queue-order-rows.ts';
import { queueRows } from './queue-rows.ts';
import { createSeededRandom } from './random.ts';
import { resyncRows } from './resync-rows.ts';
import { type Amounts, type Outcome, type Row, runRow } from './row.ts';
import { startSystem } from './system.ts';
import { watcherRows } from './watcher-rows.ts';

/** The faults to run, and their amounts. */
export type ChaosOptions = {
  /** True: kube-apiserver and etcd. False: the embedded API server. */
  readonly real: boolean;
  readonly seed: number;
  readonly amounts: Amounts;
  readonly users: EditorOptions;
  /** The time limit of the functions; absent: the short one of the system. */
  readonly timeoutSeconds?: number;
  readonly onLine?: (line: string) => void;
};

/** A system that runs one row at a time. */
export type Chaos = AsyncDisposable & {
  run(row: Row): Promise<Outcome>;
  /** The calls to AWS so far. */
  calls(): readonly LedgerEntry[];
};

/** Generous, because a machine under load is slow and a lost change never converges. */
const deadlineSeconds = { usual: 300, slow: 420 };

/** Returns every row. */
export function createCatalogue(): readonly Row[] {
  return [
    ...apiRows,
    ...etcdRows,
    ...watcherRows,
    ...queueRows,
    ...queueOrderRows,
    ...killRows,
    ...functionRows,
    ...clockRows,
    ...doubleFaultRows,
    ...resyncRows,
    ...effectRows,
  ];
}

/** Starts the system, the checker and the users. */
export async function openChaos(options: ChaosOptions, signal: AbortSignal): Promise<Chaos> {
  const { seed, amounts, users } = options;
  await using cleanup = new AsyncDisposableStack();
  const system = await startSystem(options, signal);
  cleanup.defer(() => system.close());
  const [api, sqs, pantry] = [system.direct.api, system.direct.sqs, system.direct.pantry].map((server) => {
    const caller = createPlainApi(server);
    cleanup.defer(() => caller.close());
    return caller;
  });
  if (api === undefined || sqs === undefined || pantry === undefined) throw new Error('expected three API clients');
  const checker = await startChecker({ api, sqs, pantry, queueUrl: system.queueUrl, requests: system.pantry.requests });
  cleanup.defer(() => checker.close());
  const random = createSeededRandom(seed);
  const editor = createEditor({ api, random }, users);
  const resources = cleanup.move();
  return {
    run: (row) =>
      runRow(
        row,
        { ...amounts, system, editor, checker, random },
        deadlineSeconds[row.slow === true ? 'slow' : 'usual'],
      ),
    calls: () => system.calls.entries(),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}
