// Where the deployed bundles are invoked without Lambda: an API server in memory with Foos, queues, and what a function's environment says of
// them.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import * as z from 'zod';
import { foo, fooKind } from '../src/controllers/foo.ts';
import { applyObject } from '../src/kube/apply/apply.ts';
import { createClient } from '../src/kube/client/client.ts';
import { startApiServer } from '../src/apiserver/server.ts';
import { applyManifests, readManifests } from '../src/dev/manifests.ts';
import { formatMessage, type Message } from '../src/queue/message.ts';
import { anEvent, aRecord } from '../test/lambda/invocation.ts';
import { startTestQueues } from '../test/sqs/fauxqs.ts';

/** The most that a mapping takes from a FIFO queue at once. */
export const batchSize = 10;
/** The cluster's name. */
export const cluster = 'alpha';
const invokeMilliseconds = 120_000;

/** What to do before an invocation, and the invocation's event. */
export type Step = {
  /** Its kind and a number: what is told of it has the same. */
  readonly label: string;
  readonly patches: readonly { readonly path: string; readonly body: object }[];
  readonly event: object;
};

const told = z.object({
  ...{ label: z.string(), cpuMilliseconds: z.number(), milliseconds: z.number() },
  ...{ logBytes: z.number(), logLines: z.number() },
});
/** What an invocation took; `requests` are those to the API server. */
export type Invocation = z.infer<typeof told> & { readonly requests: number };

/** The environment of a function, and who invokes one again and again in a process of its own. */
export type FunctionArena = {
  readonly environment: Readonly<Record<string, string>>;
  run(bundle: string, steps: readonly Step[]): Promise<readonly Invocation[]>;
};

/** Opens one with so many Foos that nobody has looked at. What was started is put on `parts`. */
export async function openFunctionArena(parts: AsyncDisposableStack, foos: number): Promise<FunctionArena> {
  const server = await startApiServer();
  parts.defer(() => server.close());
  const client = createClient({ server: new URL(server.url) });
  parts.defer(() => client.close());
  const queues = await startTestQueues();
  parts.defer(() => queues.stop());
  await queues.create(`${foo.name}.fifo`, `${foo.name}-dlq.fifo`, 'timers', 'timers-dlq', 'resync', 'resync-dlq');
  const folder = await mkdtemp(path.join(tmpdir(), 'outrigger-bench-'));
  parts.defer(() => rm(folder, { recursive: true }));
  const clusters = path.join(folder, 'clusters.json');
  await writeFile(clusters, JSON.stringify({ [cluster]: { server: server.url, access: { type: 'none' } } }));
  const manifests = await readManifests('infra/kubernetes/generated');
  const definitions = manifests.filter(({ kind }) => kind === 'CustomResourceDefinition');
  await applyManifests(client, definitions, { signal: AbortSignal.timeout(30_000) });
  const { apiVersion, kind } = fooKind;
  for (const name of names(foos)) {
    const object = { apiVersion, kind, metadata: { name, namespace: 'default' }, spec: { deploymentName: name } };
    await applyObject(client, fooKind, object, { fieldManager: 'user' });
  }
  const environment = {
    ...{ AWS_REGION: 'us-east-1', AWS_ACCESS_KEY_ID: 'local', AWS_SECRET_ACCESS_KEY: 'local' },
    // Lambda gives every invocation the id of a trace.
    _X_AMZN_TRACE_ID: 'Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=0',
    ...{ AWS_ENDPOINT_URL_SQS: queues.endpoint, QUEUE_URL_PREFIX: queues.urlPrefix, CLUSTERS: clusters },
  };
  const run = async (bundle: string, steps: readonly Step[]) => {
    const at = path.resolve('dist', bundle, 'index.mjs');
    const program = path.join(import.meta.dirname, 'f9-function.ts');
    const child = fork(program, [at, server.url.replace(/\/$/, '')], { env: environment, timeout: invokeMilliseconds });
    child.send(steps);
    const [message] = await Promise.race([
      once(child, 'message'),
      once(child, 'exit').then(([code]) => Promise.reject(new Error(`${bundle} ended with ${code}`))),
    ]);
    const requests = countRequests(server.requests().map(({ query }) => query.mark));
    const all = z.array(told).parse(message);
    return all.map((one) => ({ ...one, requests: requests.get(one.label) ?? 0 }));
  };
  return { environment, run };
}

/** So many names of Foos, or those that follow. */
export function names(count: number, from = 0): readonly string[] {
  return Array.from({ length: count }, (_, index) => `foo-${from + index}`);
}

/** Makes the event of a change of each of these. */
export function changesOf(some: readonly string[], id: string, more: Partial<Message> = {}): object {
  const key = { controller: foo.name, cluster, group: fooKind.group, resource: fooKind.plural } as const;
  const message = { v: 1, ...key, namespace: 'default', attempt: 0, deferrals: 0, seenAt: Date.now() } as const;
  const bodies = some.map((name) => formatMessage({ ...message, lane: 'watch', name, ...more }));
  // As long as SQS' own ids.
  return anEvent(...bodies.map((body, index) => aRecord(`${id}-${index}`.padStart(36, '0'), body)));
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
