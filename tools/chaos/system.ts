// The whole system on one machine with a chaos proxy in front of every server: real watcher processes and functions
// from the bundles, as `outrigger dev` starts them. Only Ingredient's function, the timers and the resync run, with short
// timeouts, because test machines are small.

import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { startApiServer } from '@outrigger/apiserver';
import { build } from '@outrigger/cli/commands/build';
import { openCluster } from '@outrigger/cli/dev/cluster-access';
import { readGenerated } from '@outrigger/cli/dev/generated-manifests';
import { type LocalLambda, startLambda } from '@outrigger/cli/dev/lambda/local-lambda';
import { createQueues } from '@outrigger/cli/dev/lambda/queues';
import type { Stack } from '@outrigger/cli/dev/lambda/stack';
import { readLocalStack, shortResync, stackNamePrefix, watcherEnvironment } from '@outrigger/cli/dev/local-stack';
import { createLocalSqsClient } from '@outrigger/cli/dev/sqs-server';
import { startSimulators } from '@outrigger/cli/simulators/registry';
import { applyManifests } from '../../src/testing/manifests.ts';
import { deployedPolicies } from '../../test/deploy/deployed-policies.ts';
import { startServerProcess } from '../../test/support/server-process.ts';
import { shortStack } from '../../test/support/short-stack.ts';
import { buildArtifacts } from '../artifacts.ts';
import type { ControlPlane } from '../control-plane/control-plane.ts';
import { writeKubeconfig } from '../control-plane/kubeconfig.ts';
import { startControlPlane } from '../control-plane/start.ts';
import { type CallLedger, openLedger } from './call-ledger.ts';
import { type ChaosProxy, startChaosProxy, type Upstream } from './chaos-proxy.ts';
import { createFunctionFaults } from './function-faults.ts';
import type { PlainServer } from './plain-api.ts';
import { type SlowPantry, startSlowPantry } from './slow-pantry.ts';
import { createTokenFile, type TokenFile } from './token-file.ts';
import { createWatcherPool, type WatcherPool } from './watcher-pool.ts';

/** A system into which faults can be injected. */
export type ChaosSystem = {
  /** The proxies in front of the API server and of SQS, for watchers and functions. */
  readonly api: ChaosProxy;
  readonly sqs: ChaosProxy;
  /** The servers themselves, for the checker and the users. */
  readonly direct: { readonly api: PlainServer; readonly sqs: PlainServer; readonly pantry: PlainServer };
  readonly queueUrl: string;
  readonly pantry: SlowPantry;
  /** The calls to AWS of watchers and functions. */
  readonly calls: CallLedger;
  /** The watchers; one unless a row changes it. */
  readonly watchers: WatcherPool;
  /** The token of watchers and functions at the API server. */
  readonly token: TokenFile;
  readonly functions: LocalLambda['functions'];
  /** Failed invocations so far, one line each: a timeout, a kill, an exception. */
  failures(): readonly string[];
  /**
   * While on, messages of an invocation whose process was killed are received again at once, not after their visibility
   * timeout. This excludes invocations that timed out: on a slow machine their messages would become dead letters.
   */
  retryCrashedAtOnce(on: boolean): void;
  /** Shifts the clocks of the functions whose name ends with `only` by this number of minutes; default: of all. */
  shiftFunctionClocks(minutes: number, only?: string): Promise<void>;
  /** The real control plane, if there is one. */
  readonly plane?: ControlPlane;
  /** Resolves when every watcher watches the portions again. Rejects after a timeout. */
  watchersReady(): Promise<void>;
  close(): Promise<void>;
};

/**
 * Times of the functions and their queues in seconds. A killed function's message is received again after `visibility`.
 * The difference leaves room for a machine under load: the function has to be dead, and its requests have to be
 * received, before its successor starts.
 */
const seconds = { timeout: 8, visibility: 30 };
const marginSeconds = seconds.visibility - seconds.timeout;
/** With a long period, a resync run sends only the keys of missed changes. */
const resyncTimes = { ...shortResync, period: 36_000 };
/** The time until watchers watch: they start, list, and may have been told to retry after more than a minute. */
const watchersReadySeconds = 240;
const pollMilliseconds = 50;
/** A part of the URLs of the watches of the objects that users change. */
const subject = '/ingredients';
const root = path.resolve(import.meta.dirname, '../..');

/** Starts the system; cleans up if the start fails. */
export async function startSystem(
  {
    real,
    timeoutSeconds = seconds.timeout,
    onLine = () => undefined,
  }: { readonly real: boolean; readonly timeoutSeconds?: number; readonly onLine?: (line: string) => void },
  signal: AbortSignal,
): Promise<ChaosSystem> {
  await using cleanup = new AsyncDisposableStack();
  const folder = await mkdtemp(path.join(tmpdir(), 'outrigger-chaos-'));
  cleanup.defer(() => rm(folder, { recursive: true, force: true }));
  const template = await buildArtifacts(build, root, signal);

  const { server, upstream, tokens, plane } = await (real ? startReal(cleanup) : startEmbedded(cleanup));
  const api = await startChaosProxy({ ...upstream, subject });
  cleanup.defer(() => api.close());
  const file = path.join(folder, 'kubeconfig-chaos');
  await writeKubeconfig(file, api.url, { ca: upstream.ca, token: tokens[0] });
  const cluster = await openCluster(folder, { file, signal });
  cleanup.defer(() => cluster.close());

  const sqsServer = await startServerProcess(new URL('../../test/support/sqs-program.ts', import.meta.url), signal);
  cleanup.defer(() => sqsServer.close());
  const calls = openLedger(deployedPolicies(template));
  const sqs = await startChaosProxy({ url: sqsServer.url, onRequest: calls.record });
  cleanup.defer(() => sqs.close());
  const client = createLocalSqsClient(sqsServer.url);
  cleanup.defer(() => client.destroy());

  const simulators = await startSimulators(cleanup);
  const slowPantry = await startSlowPantry(simulators.pantry.url);
  cleanup.defer(() => slowPantry.close());

  const pantry = { ...simulators.pantry, url: slowPantry.url };
  const stack = shortIngredientStack(
    readLocalStack(template, cluster, { ...simulators, pantry }, resyncTimes),
    timeoutSeconds,
  );
  const queues = await createQueues(client, stack.queues, { endpoint: sqsServer.url, signal });
  await applyManifests(cluster.client, await readGenerated(root), { signal });

  const functionFaults = await createFunctionFaults(folder);
  const failures: string[] = [];
  let retriesCrashed = false;
  const lambda = startLambda(
    {
      stack,
      queues,
      client,
      queueEndpoint: sqs.url,
      taskRoot: root,
      onEvent: (event) => {
        const line = event.type === 'line' ? event.text : `${event.function}: ${event.error.message}`;
        onLine(line);
        if (event.type !== 'failed') return;
        failures.push(line);
        if (retriesCrashed && line.includes('ended by itself')) void lambda.retry();
      },
      onProcesses: () => undefined,
    },
    // Without scheduled resyncs, because a resync would hide a lost change.
    { concurrency: 2, schedules: false, nodeArguments: functionFaults.nodeArguments },
  );
  cleanup.defer(() => lambda.stop());
  const environment = watcherEnvironment(cluster, sqs.url, queues, stackNamePrefix(stack), '');
  const watchers = createWatcherPool({
    file: path.join(root, 'dist/watcher/index.mjs'),
    environment: { ...environment, CHECKPOINT_SECONDS: '1' },
    onEvent: (event) => onLine(event.type === 'line' ? event.text : `watcher ${event.pid} ${event.type}`),
  });
  cleanup.defer(() => watchers.close());
  await watchers.scale({ count: 1 });
  const watchersReady = async () => {
    const until = performance.now() + watchersReadySeconds * 1000;
    while (watchers.pids().length === 0 || api.healthyWatches() < watchers.pids().length) {
      if (performance.now() > until)
        throw new Error(`the watchers do not watch the portions after ${watchersReadySeconds} s`);
      await wait(pollMilliseconds);
    }
  };
  await watchersReady();

  const resources = cleanup.move();
  return {
    api,
    sqs,
    calls,
    pantry: slowPantry,
    watchers,
    watchersReady,
    functions: lambda.functions,
    token: createTokenFile(folder, tokens),
    failures: () => [...failures],
    retryCrashedAtOnce: (on) => {
      retriesCrashed = on;
    },
    shiftFunctionClocks: async (minutes, only) => {
      await functionFaults.shiftClocks(minutes, only);
      for (const one of lambda.functions) one.reload();
    },
    direct: { api: server, sqs: { url: sqsServer.url }, pantry: { url: simulators.pantry.url } },
    queueUrl: queues.find(({ name }) => name.endsWith('ingredient.fifo'))?.url ?? '',
    ...(plane === undefined ? {} : { plane }),
    close: () => resources.disposeAsync(),
  };
}

type Start = {
  readonly server: PlainServer;
  readonly upstream: Upstream;
  /** Two tokens that the server accepts; the embedded server accepts any. */
  readonly tokens: readonly [string, string];
  readonly plane?: ControlPlane;
};

async function startEmbedded(cleanup: AsyncDisposableStack): Promise<Start> {
  const { url, close } = await startApiServer({ host: '127.0.0.1', bookmarkSeconds: 10 });
  cleanup.defer(close);
  return { server: { url }, upstream: { url }, tokens: ['first', 'second'] };
}

/**
 * The proxy uses the API server's own certificate: both have the same address, so no client needs another authority.
 */
async function startReal(cleanup: AsyncDisposableStack): Promise<Start> {
  const second = 'second';
  const plane = await startControlPlane({ users: [{ name: second, groups: ['system:masters'] }] });
  cleanup.defer(() => plane.stop());
  const certificates = path.join(path.dirname(plane.kubeconfig()), 'certificates');
  const key = await readFile(path.join(certificates, 'apiserver.key'), 'utf8');
  const { url, ca, adminToken: token } = plane;
  const tokens = [token, await plane.connection(second).token()] as const;
  return { plane, tokens, server: { url, ca, token }, upstream: { url, ca, certificate: { cert: ca, key } } };
}

/**
 * Returns the stack with only the functions of these controllers, by default Ingredient's, the timers and the resync,
 * and with short timeouts.
 */
export function shortIngredientStack(
  stack: Stack,
  timeout = seconds.timeout,
  controllers: readonly string[] = ['ingredient'],
): Stack {
  const visibility = timeout + marginSeconds;
  const included = [...controllers, 'timers', 'resync'];
  return shortStack(stack, { timeout, visibility, includes: (arn) => included.some((name) => arn.endsWith(name)) });
}
