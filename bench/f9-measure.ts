// What f9 is computed from, measured: the deployed bundles of a reconcile function and of the resync, warm, on an API server in memory:
// processor time, requests to the API server and bytes of log, one key at a time and in full batches. The processor time is this
// machine's; what AWS makes of it is said where it is used.
import { writeFile } from 'node:fs/promises';
import { build } from '../src/cli/build.ts';
import { foo, fooKind } from '../src/controllers/foo.ts';
import { formatResyncMessage } from '../src/queue/resync-message.ts';
import { anEvent, aRecord } from '../test/lambda/invocation.ts';
import {
  batchSize,
  changesOf,
  cluster,
  type Invocation,
  names,
  openFunctionArena,
  type Step,
} from './function-setup.ts';
import type { Row } from './row.ts';
import { quantile } from './spread.ts';

const rounds = 40;
/** Not counted: code is compiled, connections are made. */
const warmUp = 10;
const file = 'test/bench/f9-measured.json';

/** Measures; with `store`, what f9 reads is written, too. */
export async function f9Measure({ store }: { readonly store: boolean }): Promise<readonly Row[]> {
  await using parts = new AsyncDisposableStack();
  await build(process.cwd());
  const { run } = await openFunctionArena(parts, batchSize);

  const measured = {
    machine: `${process.arch}, Node ${process.versions.node}, API server in memory, ${new Date().toISOString().slice(0, 10)}`,
    batchSize,
    how: `npm run bench -- --only f9-measure --only f9 --write docs/cost.md: medians of ${rounds} warm invocations of the deployed bundles (controller foo: one child). Times of the processor, not of the clock.`,
    ...summary(await run(foo.name, [...reconcileSteps(1), ...reconcileSteps(batchSize)])),
    ...summary(await run('timers', [...timerSteps(1), ...timerSteps(batchSize)])),
    ...summary(await run('resync', resyncSteps())),
  };
  if (store) await writeFile(file, `${JSON.stringify(measured, undefined, 2)}\n`);
  return Object.entries(measured).flatMap(([what, value]) =>
    typeof value === 'object' ? [{ figure: 'f9-measure', what, ours: JSON.stringify(value), goal: '-' }] : [],
  );
}

/** In turn: a change of each object, and the same objects once more, when they are as they should be. */
function reconcileSteps(size: number): readonly Step[] {
  const collection = `/apis/${fooKind.group}/v1/namespaces/default/${fooKind.plural}`;
  return Array.from({ length: rounds + warmUp }, (_, round): readonly Step[] => {
    const event = changesOf(names(size), `${round}`);
    const body = { spec: { replicas: 1 + (round % 2) } };
    const patches = names(size).map((name) => ({ path: `${collection}/${name}`, body }));
    return [
      { label: `changed-${size}-${round}`, patches, event },
      { label: `converged-${size}-${round}`, patches: [], event },
    ];
  }).flat();
}

/** What is due goes to its queue. */
function timerSteps(size: number): readonly Step[] {
  const dueAt = Math.floor(Date.now() / 1000);
  const due = { lane: 'requeue', dueAt, slot: `30/${dueAt}` } as const;
  return Array.from({ length: rounds + warmUp }, (_, round) => ({
    ...{ label: `timers-${size}-${round}`, patches: [] },
    event: changesOf(names(size), `t${round}`, due),
  }));
}

/** Two polls an invocation, as they come when there are many. */
function resyncSteps(): readonly Step[] {
  const run = new Date().toISOString();
  const message = { v: 1, kind: 'resync', run, cluster, controller: foo.name } as const;
  const event = anEvent(aRecord('p1', formatResyncMessage(message)), aRecord('p2', formatResyncMessage(message)));
  return Array.from({ length: rounds + warmUp }, (_, round) => ({ label: `poll-2-${round}`, patches: [], event }));
}

/** The medians of each kind of invocation. */
function summary(all: readonly Invocation[]) {
  const kinds = Map.groupBy(all, ({ label }) => label.replace(/-\d+$/, ''));
  return Object.fromEntries(
    [...kinds].map(([name, invocations]) => {
      const warm = invocations.slice(warmUp);
      const of = (pick: (one: Invocation) => number) => Math.round(quantile(warm.map(pick), 0.5) * 10) / 10;
      return [
        name,
        {
          cpuMilliseconds: of((one) => one.cpuMilliseconds),
          requests: of((one) => one.requests),
          logBytes: of((one) => one.logBytes),
          logLines: of((one) => one.logLines),
        },
      ];
    }),
  );
}
