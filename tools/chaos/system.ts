// The whole system on one machine with a chaos proxy at every border: real watcher processes and functions from the bundles, as
// `outrigger dev` starts them. Only Ingredient's function and timers run, with short times, because machines are small.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { build } from '../../src/cli/build.ts';
import { startApiServer } from '../../src/apiserver/server.ts';
import { makeArtifacts } from '../../src/local/artifacts.ts';
import { openCluster } from '../../src/dev/cluster-access.ts';
import { type LocalLambda, startLambda } from '../../src/dev/lambda/local-lambda.ts';
import { createQueues } from '../../src/dev/lambda/queues.ts';
import type { Stack } from '../../src/dev/lambda/stack.ts';
import { namePrefix, readLocalStack, shortResync, watcherEnvironment } from '../../src/dev/local-stack.ts';
import { applyManifests, readManifests } from '../../src/dev/manifests.ts';
import { createLocalSqsClient } from '../../src/dev/sqs-server.ts';
import { startWorlds } from '../../src/local/worlds/sample-worlds.ts';
import type { ControlPlane } from '../control-plane/control-plane.ts';
import { startControlPlane } from '../control-plane/start.ts';
import { deployedPolicies } from '../../test/deploy/deployed-policies.ts';
import { startServerProcess } from '../../test/support/server-process.ts';
import { shortStack } from '../../test/support/short-stack.ts';
import { type CallLedger, openLedger } from '../../test/chaos/call-ledger.ts';
import { type ChaosProxy, startChaosProxy, type Upstream } from '../../test/chaos/chaos-proxy.ts';
import { type Crew, createCrew } from '../../test/chaos/crew.ts';
import { createPass, type Pass } from '../../test/chaos/pass.ts';
import type { PlainServer } from './plain-api.ts';
import { type SlowWorld, startSlowWorld } from '../../test/chaos/slow-world.ts';
import { createUnruliness } from '../../test/chaos/unruliness.ts';

/** A system that can be broken. */
export type ChaosSystem = {
  /** In front of the API server and of SQS, for watchers and functions. */
  readonly api: ChaosProxy;
  readonly sqs: ChaosProxy;
  /** The servers themselves, for the judge and the users. */
  readonly direct: { readonly api: PlainServer; readonly sqs: PlainServer; readonly pantry: PlainServer };
  readonly queueUrl: string;
  readonly world: SlowWorld;
  /** The calls to AWS of watchers and functions. */
  readonly calls: CallLedger;
  /** The watchers: one, until a row wants others. */
  readonly crew: Crew;
  /** What lets watchers and functions in at the API server. */
  readonly pass: Pass;
  readonly functions: LocalLambda['functions'];
  /** What went wrong with invocations so far, one line each: a time-out, a death, a throw. */
  failures(): readonly string[];
  /**
   * From now on, or no more, what an invocation died over comes back at once and not after its visibility time-out. What timed out does
   * not: where the machine is slow that would bury it.
   */
  hasten(on: boolean): void;
  /** Makes the functions' clocks wrong by so many minutes. */
  shiftFunctionClocks(minutes: number): Promise<void>;
  /** The real control plane, where there is one. */
  readonly plane?: ControlPlane;
  /** Resolves when every watcher follows the portions again. Rejects when that takes longer than anything needs. */
  atTheirPlaces(): Promise<void>;
  close(): Promise<void>;
};

/**
 * Times of the functions and their queues in seconds: a killed function’s message comes back after `visibility`. Between the two there
 * is room for a machine under load: a function has to be dead, and what it has asked for has to be heard, before its successor begins.
 */
const seconds = { timeout: 8, visibility: 30 };
/** Until watchers follow what they should: they start, list, and may have been told to wait for longer than a minute. */
const placesSeconds = 240;
const lookMilliseconds = 50;
/** In the URLs of the watches of what users change. */
const subject = '/ingredients';
const root = path.resolve(import.meta.dirname, '../..');

/** Starts it; when it cannot, nothing stays behind. */
export async function startSystem(
  { real, onLine = () => undefined }: { readonly real: boolean; readonly onLine?: (line: string) => void },
  signal: AbortSignal,
): Promise<ChaosSystem> {
  await using parts = new AsyncDisposableStack();
  const folder = await mkdtemp(path.join(tmpdir(), 'outrigger-chaos-'));
  parts.defer(() => rm(folder, { recursive: true, force: true }));
  const template = await makeArtifacts(build, root, signal);

  const { server, upstream, tokens, plane } = await (real ? startReal(parts) : startEmbedded(parts));
  const api = await startChaosProxy({ ...upstream, subject });
  parts.defer(() => api.close());
  const file = path.join(folder, 'kubeconfig-chaos');
  await writeFile(file, kubeconfig(api.url, upstream.ca, tokens[0]), { mode: 0o600 });
  const cluster = await openCluster(folder, { file, signal });
  parts.defer(() => cluster.close());

  const sqsServer = await startServerProcess(new URL('../../test/support/sqs-program.ts', import.meta.url), signal);
  parts.defer(() => sqsServer.close());
  const calls = openLedger(deployedPolicies(template));
  const sqs = await startChaosProxy({ url: sqsServer.url, onAsked: calls.note });
  parts.defer(() => sqs.close());
  const client = createLocalSqsClient(sqsServer.url);
  parts.defer(() => client.destroy());

  const worlds = await startWorlds(parts);
  const world = await startSlowWorld(worlds.pantry.url);
  parts.defer(() => world.close());

  const pantry = { ...worlds.pantry, url: world.url };
  const stack = short(readLocalStack(template, cluster, { ...worlds, pantry }, shortResync));
  const queues = await createQueues(client, stack.queues, { endpoint: sqsServer.url, signal });
  const manifests = await readManifests(path.join(root, 'infra/kubernetes/generated'));
  const needed = manifests.filter(({ kind }) => ['CustomResourceDefinition', 'Namespace', 'ConfigMap'].includes(kind));
  await applyManifests(cluster.client, needed, { signal });

  const unruliness = await createUnruliness(folder);
  const failures: string[] = [];
  let hastening = false;
  const lambda = startLambda(
    {
      ...{ stack, queues, client, queueEndpoint: sqs.url, taskRoot: root },
      onEvent: (event) => {
        const line = event.type === 'line' ? event.text : `${event.function}: ${event.error.message}`;
        onLine(line);
        if (event.type !== 'failed') return;
        failures.push(line);
        if (hastening && line.includes('ended by itself')) void lambda.retry();
      },
      onProcesses: () => undefined,
    },
    // Without the schedule: a loss must not be mended behind our back.
    { concurrency: 2, schedules: false, nodeArguments: unruliness.nodeArguments },
  );
  parts.defer(() => lambda.stop());
  const environment = watcherEnvironment(cluster, sqs.url, queues, namePrefix(stack), '');
  const crew = createCrew({
    file: path.join(root, 'dist/watcher/index.mjs'),
    environment: { ...environment, CURSOR_SECONDS: '1' },
    onEvent: (event) => onLine(event.type === 'line' ? event.text : `watcher ${event.pid} ${event.type}`),
  });
  parts.defer(() => crew.close());
  await crew.man({ count: 1 });
  const atTheirPlaces = async () => {
    const until = performance.now() + placesSeconds * 1000;
    while (crew.pids().length === 0 || api.watching() < crew.pids().length) {
      if (performance.now() > until) throw new Error(`no watcher follows the portions after ${placesSeconds} s`);
      await wait(lookMilliseconds);
    }
  };
  await atTheirPlaces();

  const whole = parts.move();
  return {
    ...{ api, sqs, calls, world, crew, atTheirPlaces, functions: lambda.functions, pass: createPass(folder, tokens) },
    failures: () => [...failures],
    hasten: (on) => {
      hastening = on;
    },
    shiftFunctionClocks: async (minutes) => {
      await unruliness.shiftClocks(minutes);
      for (const one of lambda.functions) one.reload();
    },
    direct: { api: server, sqs: { url: sqsServer.url }, pantry: { url: worlds.pantry.url } },
    queueUrl: queues.find(({ name }) => name.endsWith('ingredient.fifo'))?.url ?? '',
    ...(plane === undefined ? {} : { plane }),
    close: () => whole.disposeAsync(),
  };
}

type Start = {
  readonly server: PlainServer;
  readonly upstream: Upstream;
  /** Two that the server takes; the embedded one takes any. */
  readonly tokens: readonly [string, string];
  readonly plane?: ControlPlane;
};

async function startEmbedded(parts: AsyncDisposableStack): Promise<Start> {
  const { url, close } = await startApiServer({ host: '127.0.0.1', bookmarkSeconds: 10 });
  parts.defer(close);
  return { server: { url }, upstream: { url }, tokens: ['first', 'second'] };
}

/** The proxy shows the API server's own certificate: it is on the same address, so nothing has to trust another authority. */
async function startReal(parts: AsyncDisposableStack): Promise<Start> {
  const second = 'second';
  const plane = await startControlPlane({ users: [{ name: second, groups: ['system:masters'] }] });
  parts.defer(() => plane.stop());
  const certificates = path.join(path.dirname(plane.kubeconfig()), 'certificates');
  const key = await readFile(path.join(certificates, 'apiserver.key'), 'utf8');
  const { url, ca, adminToken: token } = plane;
  const tokens = [token, await plane.connection(second).token()] as const;
  return { plane, tokens, server: { url, ca, token }, upstream: { url, ca, certificate: { cert: ca, key } } };
}

function kubeconfig(url: string, ca: string | undefined, token: string): string {
  const authority = ca === undefined ? {} : { 'certificate-authority-data': Buffer.from(ca).toString('base64') };
  return JSON.stringify({
    ...{ apiVersion: 'v1', kind: 'Config', 'current-context': 'chaos' },
    clusters: [{ name: 'chaos', cluster: { server: url, ...authority } }],
    users: [{ name: 'chaos', user: { token } }],
    contexts: [{ name: 'chaos', context: { cluster: 'chaos', user: 'chaos', namespace: 'default' } }],
  });
}

/** The stack with what Ingredient needs, and short times. */
export function short(stack: Stack): Stack {
  return shortStack(stack, { ...seconds, runs: (arn) => /(ingredient|timers)$/.test(arn) });
}
