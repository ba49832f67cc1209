// A setup that invokes the deployed bundles without Lambda: an API server in memory with Foos, queues, and the
// function's environment.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startApiServer } from '@outrigger/apiserver';
import * as z from 'zod';
import { Foo, foo } from '../src/controllers/foo.ts';
import { applyObject } from '../src/kube/apply/apply.ts';
import { createClient } from '../src/kube/client/client.ts';
import { formatMessage, type Message } from '../src/sqs/message.ts';
import { applyManifests } from '../src/testing/manifests.ts';
import { anEvent, aRecord } from '../test/lambda/invocation.ts';
import { startTestQueues } from '../test/sqs/fauxqs.ts';
import { kindManifests } from '../test/support/sample-manifests.ts';

/** The maximum batch of an event source mapping on a FIFO queue. */
export const batchSize = 10;
/** The cluster's name. */
export const cluster = 'alpha';
const invokeMilliseconds = 120_000;

/** The action before an invocation, and the invocation's event. */
export type Step = {
  /** Its kind and a number; its result has the same label. */
  readonly label: string;
  readonly patches: readonly { readonly path: string; readonly body: object }[];
  readonly event: object;
};

const invocationResult = z.object({
  label: z.string(),
  cpuMilliseconds: z.number(),
  milliseconds: z.number(),
  logBytes: z.number(),
  logLines: z.number(),
});
/** The result of an invocation; `requests` are those to the API server. */
export type Invocation = z.infer<typeof invocationResult> & { readonly requests: number };

/** The environment of a function, and a runner that invokes a bundle repeatedly in a process of its own. */
export type FunctionSetup = {
  readonly environment: Readonly<Record<string, string>>;
  run(bundle: string, steps: readonly Step[]): Promise<readonly Invocation[]>;
};

/** Creates a setup with this number of Foos that were never reconciled. `cleanup` stops everything. */
export async function openFunctionSetup(cleanup: AsyncDisposableStack, foos: number): Promise<FunctionSetup> {
  const server = await startApiServer();
  cleanup.defer(() => server.close());
  const client = createClient({ server: new URL(server.url) });
  cleanup.defer(() => client.close());
  const queues = await startTestQueues();
  cleanup.defer(() => queues.stop());
  await queues.create(`${foo.name}.fifo`, `${foo.name}-dlq.fifo`, 'timers', 'timers-dlq', 'resync', 'resync-dlq');
  const folder = await mkdtemp(path.join(tmpdir(), 'outrigger-bench-'));
  cleanup.defer(() => rm(folder, { recursive: true }));
  const clusters = path.join(folder, 'clusters.json');
  await writeFile(clusters, JSON.stringify({ [cluster]: { server: server.url, access: { type: 'none' } } }));
  const manifests = kindManifests();
  const definitions = manifests.filter(({ kind }) => kind === 'CustomResourceDefinition');
  await applyManifests(client, definitions, { signal: AbortSignal.timeout(30_000) });
  const { apiVersion, kind } = Foo;
  for (const name of names(foos)) {
    const object = { apiVersion, kind, metadata: { name, namespace: 'default' }, spec: { deploymentName: name } };
    await applyObject(client, Foo, object, { fieldManager: 'user' });
  }
  const environment = {
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'local',
    AWS_SECRET_ACCESS_KEY: 'local',
    // Lambda sets a trace id for every invocation.
    _X_AMZN_TRACE_ID: 'Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=0',
    AWS_ENDPOINT_URL_SQS: queues.endpoint,
    QUEUE_URL_PREFIX: queues.urlPrefix,
    CLUSTERS: clusters,
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
    const all = z.array(invocationResult).parse(message);
    return all.map((one) => ({ ...one, requests: requests.get(one.label) ?? 0 }));
  };
  return { environment, run };
}

/** Returns this number of names of Foos, from an index on. */
export function names(count: number, from = 0): readonly string[] {
  return Array.from({ length: count }, (_, index) => `foo-${from + index}`);
}

/** Creates the event of a change of each of these. */
export function changesOf(some: readonly string[], id: string, more: Partial<Message> = {}): object {
  const key = { controller: foo.name, cluster, group: Foo.group, resource: Foo.plural } as const;
  const cause = { type: 'change', observedAt: Date.now() } as const;
  const bodies = some.map((name) => formatMessage({ ...key, namespace: 'default', name, cause, ...more }));
  // As long as an id of SQS.
  return anEvent(...bodies.map((body, index) => aRecord(`${id}-${index}`.padStart(36, '0'), body)));
}

/** Returns the number of requests between two markers. */
function countRequests(markers: readonly (string | undefined)[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  let label = 'between';
  for (const mark of markers) {
    if (mark === undefined) counts.set(label, (counts.get(label) ?? 0) + 1);
    else label = mark;
  }
  return counts;
}
