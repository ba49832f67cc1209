// The measured inputs of f9: the deployed bundles of a reconcile function and of the resync, warm, on an API server in
// memory: CPU time, API requests and log bytes, with single keys and with full batches. The CPU time is this machine's;
// f9 converts it for AWS.
import { writeFile } from 'node:fs/promises';
import { build } from '@outrigger/cli/commands/build';
import { measuredFile } from '@outrigger/cli/commands/cost/read-sheet';
import { Foo, foo } from '../src/controllers/foo.ts';
import { formatResyncMessage } from '../src/resync/message.ts';
import { anEvent, aRecord } from '../test/lambda/invocation.ts';
import {
  batchSize,
  changesOf,
  cluster,
  type Invocation,
  names,
  openFunctionSetup,
  type Step,
} from './function-setup.ts';
import type { Row } from './row.ts';
import { quantile } from './spread.ts';

const rounds = 40;
/** Not counted: code is compiled, and connections are opened. */
const warmUp = 10;

/** Measures; with `store`, the file that f9 reads is written too. */
export async function f9Measure({ store }: { readonly store: boolean }): Promise<readonly Row[]> {
  await using cleanup = new AsyncDisposableStack();
  await build(process.cwd());
  const { run } = await openFunctionSetup(cleanup, batchSize);

  const measured = {
    machine: `${process.arch}, Node ${process.versions.node}, API server in memory, ${new Date().toISOString().slice(0, 10)}`,
    batchSize,
    how: `npm run bench -- --only f9-measure --only f9 --write docs/records/cost.md: medians of ${rounds} warm invocations of the deployed bundles (controller foo: one child). CPU time, not elapsed time.`,
    ...summary(await run(foo.name, [...reconcileSteps(1), ...reconcileSteps(batchSize)])),
    ...summary(await run('timers', [...timerSteps(1), ...timerSteps(batchSize)])),
    ...summary(await run('resync', resyncSteps())),
  };
  if (store) await writeFile(measuredFile, `${JSON.stringify(measured, undefined, 2)}\n`);
  return Object.entries(measured).flatMap(([what, value]) =>
    typeof value === 'object' ? [{ figure: 'f9-measure', what, ours: JSON.stringify(value), goal: '-' }] : [],
  );
}

/** Alternating: a change of each object, and the same objects again after they have converged. */
function reconcileSteps(size: number): readonly Step[] {
  const collection = `/apis/${Foo.group}/v1/namespaces/default/${Foo.plural}`;
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

/** Due timers are sent to their queue. */
function timerSteps(size: number): readonly Step[] {
  const dueAt = Math.floor(Date.now() / 1000);
  const due = { cause: { type: 'requeue', dueAt, slot: `30/${dueAt}` } } as const;
  return Array.from({ length: rounds + warmUp }, (_, round) => ({
    label: `timers-${size}-${round}`,
    patches: [],
    event: changesOf(names(size), `t${round}`, due),
  }));
}

/** Two lists in an invocation, as when there are many. */
function resyncSteps(): readonly Step[] {
  const run = new Date().toISOString();
  const message = { v: 1, type: 'resync', run, cluster, controller: foo.name } as const;
  const event = anEvent(aRecord('p1', formatResyncMessage(message)), aRecord('p2', formatResyncMessage(message)));
  return Array.from({ length: rounds + warmUp }, (_, round) => ({ label: `poll-2-${round}`, patches: [], event }));
}

/** The medians of each kind of invocation. */
function summary(all: readonly Invocation[]) {
  const kinds = Map.groupBy(all, ({ label }) => label.replace(/-\d+$/, ''));
  return Object.fromEntries(
    [...kinds].map(([name, invocations]) => {
      const warm = invocations.slice(warmUp);
      const median = (select: (one: Invocation) => number) => Math.round(quantile(warm.map(select), 0.5) * 10) / 10;
      return [
        name,
        {
          cpuMilliseconds: median((one) => one.cpuMilliseconds),
          requests: median((one) => one.requests),
          logBytes: median((one) => one.logBytes),
          logLines: median((one) => one.logLines),
        },
      ];
    }),
  );
}
