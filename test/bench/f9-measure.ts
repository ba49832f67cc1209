// What f9 is computed from, measured: the deployed bundles of a reconcile function and of the resync, warm, on an API server in memory:
// processor time, requests to the API server and bytes of log, one key at a time and in full batches. The processor time is this
// machine's; what AWS makes of it is said where it is used.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import * as z from 'zod';
import { build } from '../../src/cli/build.ts';
import { foo, fooKind } from '../../src/controllers/foo.ts';
import { applyObject } from '../../src/kube/apply.ts';
import { createClient } from '../../src/kube/client.ts';
import { startApiServer } from '../../src/local/api-server/server.ts';
import { applyManifests, readManifests } from '../../src/local/manifests.ts';
import { formatMessage, type Message } from '../../src/queue/message.ts';
import { formatResyncMessage } from '../../src/queue/resync-message.ts';
import { anEvent, aRecord } from '../lambda/invocation.ts';
import { startTestQueues } from '../queue/fauxqs.ts';
import type { Row } from './row.ts';

const batchSize = 10;
const rounds = 40;
/** Not counted: code is compiled, connections are made. */
const warmUp = 10;
const file = 'test/bench/f9-measured.json';

const invocation = z.object({
  label: z.string(),
  cpuMilliseconds: z.number(),
  milliseconds: z.number(),
  logBytes: z.number(),
  logLines: z.number(),
});

/** Measures; with `write`, what f9 reads is written, too. */
export async function f9Measure({ write }: { readonly write?: string } = {}): Promise<readonly Row[]> {
  await using parts = new AsyncDisposableStack();
  await build(process.cwd());
  const server = await startApiServer();
  parts.defer(() => server.close());
  const client = createClient({ server: new URL(server.url) });
  parts.defer(() => client.close());
  const queues = await startTestQueues();
  parts.defer(() => queues.stop());
  await queues.create(`${foo.name}.fifo`, `${foo.name}-dlq.fifo`, 'timers', 'timers-dlq', 'resync', 'resync-dlq');
  const folder = await mkdtemp(path.join(tmpdir(), 'outrigger-f9-'));
  parts.defer(() => rm(folder, { recursive: true }));
  const clusters = path.join(folder, 'clusters.json');
  await writeFile(clusters, JSON.stringify({ alpha: { server: server.url, access: { type: 'none' } } }));
  const manifests = await readManifests('infra/kubernetes/generated');
  const definitions = manifests.filter(({ kind }) => kind === 'CustomResourceDefinition');
  await applyManifests(client, definitions, { signal: AbortSignal.timeout(30_000) });
  const { apiVersion, kind } = fooKind;
  for (const name of names) {
    const object = { apiVersion, kind, metadata: { name, namespace: 'default' }, spec: { deploymentName: name } };
    await applyObject(client, fooKind, object, { fieldManager: 'user' });
  }
  const environment = {
    ...{ AWS_REGION: 'us-east-1', AWS_ACCESS_KEY_ID: 'local', AWS_SECRET_ACCESS_KEY: 'local' },
    // Lambda gives every invocation the id of a trace.
    _X_AMZN_TRACE_ID: 'Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=0',
    ...{ AWS_ENDPOINT_URL_SQS: queues.endpoint, QUEUE_URL_PREFIX: queues.urlPrefix, CLUSTERS: clusters },
  };
  const run = async (bundle: string, steps: readonly object[]) => {
    const at = path.resolve('dist', bundle, 'index.mjs');
    const child = fork('test/bench/f9-function.ts', [at, server.url.replace(/\/$/, '')], { env: environment });
    child.send(steps);
    const [message] = await Promise.race([
      once(child, 'message'),
      once(child, 'exit').then(([code]) => Promise.reject(new Error(`f9: ${bundle} ended with ${code}`))),
    ]);
    const requests = countRequests(server.requests().map(({ query }) => query.mark));
    return z
      .array(invocation)
      .parse(message)
      .map((one) => ({ ...one, requests: requests.get(one.label) ?? 0 }));
  };

  const measured = {
    machine: `${process.arch}, Node ${process.versions.node}, API server in memory, ${new Date().toISOString().slice(0, 10)}`,
    batchSize,
    how: `npm run bench -- --only f9-measure --write: medians of ${rounds} warm invocations of the deployed bundles (controller foo: one child). Times of the processor, not of the clock.`,
    ...summary(await run(foo.name, [...reconcileSteps(1), ...reconcileSteps(batchSize)])),
    ...summary(await run('timers', [...timerSteps(1), ...timerSteps(batchSize)])),
    ...summary(await run('resync', resyncSteps())),
  };
  if (write !== undefined) await writeFile(file, `${JSON.stringify(measured, undefined, 2)}\n`);
  return Object.entries(measured).flatMap(([what, value]) =>
    typeof value === 'object'
      ? [{ figure: 'f9', what: `measured: ${what}`, ours: JSON.stringify(value), goal: '-' }]
      : [],
  );
}

const names = Array.from({ length: batchSize }, (_, index) => `foo-${index}`);

/** In turn: a change of each object, and the same objects once more, when they are as they should be. */
function reconcileSteps(size: number): readonly object[] {
  const some = names.slice(0, size);
  const event = (round: number) => eventOf(some, `${round}`, { lane: 'watch' });
  const collection = `/apis/${fooKind.group}/v1/namespaces/default/${fooKind.plural}`;
  return Array.from({ length: rounds + warmUp }, (_, round) => [
    {
      label: `changed-${size}-${round}`,
      patches: some.map((name) => ({ path: `${collection}/${name}`, body: { spec: { replicas: 1 + (round % 2) } } })),
      event: event(round),
    },
    { label: `converged-${size}-${round}`, patches: [], event: event(round) },
  ]).flat();
}

/** What is due goes to its queue. */
function timerSteps(size: number): readonly object[] {
  const dueAt = Math.floor(Date.now() / 1000);
  const due = { lane: 'requeue', dueAt, slot: `30/${dueAt}` } as const;
  return Array.from({ length: rounds + warmUp }, (_, round) => ({
    ...{ label: `timers-${size}-${round}`, patches: [] },
    event: eventOf(names.slice(0, size), `t${round}`, due),
  }));
}

function eventOf(some: readonly string[], id: string, more: Partial<Message>): object {
  const key = { controller: foo.name, cluster: 'alpha', group: fooKind.group, resource: fooKind.plural } as const;
  const message = { v: 1, ...key, namespace: 'default', attempt: 0, deferrals: 0, seenAt: Date.now() } as const;
  const bodies = some.map((name) => formatMessage({ ...message, lane: 'watch', name, ...more }));
  // As long as SQS' own ids.
  return anEvent(...bodies.map((body, index) => aRecord(`${id}-${index}`.padStart(36, '0'), body)));
}

/** Two polls an invocation, as they come when there are many. */
function resyncSteps(): readonly object[] {
  const run = new Date().toISOString();
  const message = { v: 1, kind: 'resync', run, cluster: 'alpha', controller: foo.name } as const;
  const event = anEvent(aRecord('p1', formatResyncMessage(message)), aRecord('p2', formatResyncMessage(message)));
  return Array.from({ length: rounds + warmUp }, (_, round) => ({ label: `poll-2-${round}`, patches: [], event }));
}

/** How many requests came between a mark and the next. */
function countRequests(marks: readonly (string | undefined)[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  let label = 'between';
  for (const mark of marks) {
    if (mark === undefined) counts.set(label, (counts.get(label) ?? 0) + 1);
    else label = mark;
  }
  return counts;
}

type Measured = z.infer<typeof invocation> & { readonly requests: number };

/** The medians of each kind of invocation. */
function summary(all: readonly Measured[]) {
  const kinds = Map.groupBy(all, ({ label }) => label.replace(/-\d+$/, ''));
  return Object.fromEntries(
    [...kinds].map(([name, invocations]) => {
      const warm = invocations.slice(warmUp);
      const of = (pick: (one: Measured) => number) => Math.round(median(warm.map(pick)) * 10) / 10;
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

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
