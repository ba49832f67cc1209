// The whole system on one machine: an API server, SQS, the functions under a local Lambda, watchers, and the samples'
// worlds. Composition only; each part is in a file of its own, and any of the first two can be swapped for a real one.
import { mkdir, rm } from 'node:fs/promises';
import path from 'node:path';
import type { SQSClient } from '@aws-sdk/client-sqs';
import type { Registered } from '../core/controller.ts';
import type { KubeClient } from '../kube/client/client.ts';
import { allOrNone } from '../local/all-or-none.ts';
import { hasController, rowOf } from '../local/applied-rows.ts';
import { type Build, makeArtifacts } from '../local/artifacts.ts';
import { lambdaLines, watcherLines } from '../local/event-lines.ts';
import { holdStatuses } from '../local/hold-statuses.ts';
import { type LocalLambda, startLambda } from './lambda/local-lambda.ts';
import { createQueues } from './lambda/queues.ts';
import { type Line, linesOfChange } from '../local/lines.ts';
import { namePrefix, type ResyncSeconds, readLocalStack, shortResync, watcherEnvironment } from './local-stack.ts';
import { applyManifests, readManifests } from './manifests.ts';
import type { Row } from './readiness.ts';
import { startCluster, startQueueServer } from './servers.ts';
import { createStateFile, type DevState } from './state-file.ts';
import { createView, type View } from '../local/view.ts';
import { startWatchers, type Watchers } from './watchers.ts';
import { startWorkloads, type Workloads } from '../simulators/workloads/workloads.ts';
import { breakWorlds, pour, type SampleWorlds, startWorlds } from '../local/worlds/sample-worlds.ts';

/** What a local system is made of. */
export type DevNeeds = {
  /** The registry. */
  readonly controllers: readonly Registered[];
  readonly build: Build;
  /** The service's root folder: where serverless.yml, functions/ and infra/ are. */
  readonly root: string;
};

/** What can be chosen. Everything has a default; ports are free ones. */
export type DevOptions = {
  /** Where kubeconfig and state.json go; `.outrigger` below the root. */
  readonly folder?: string;
  /** A cluster of one's own, instead of the embedded API server. */
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly apiPort?: number;
  /** An SQS server of one's own, instead of the embedded one. */
  readonly queueEndpoint?: string;
  readonly queuePort?: number;
  /** Files and folders of manifests, after the CRDs. */
  readonly apply?: readonly string[];
  readonly watchers?: number;
  /** Whether the schedule ticks. */
  readonly resync?: boolean;
  readonly resyncSeconds?: ResyncSeconds;
  readonly worldFaults?: readonly string[];
  /** Batches at once of each controller. */
  readonly concurrency?: number;
  readonly onLine?: (line: Line) => void;
  /** Arguments of Node for every process, such as `--inspect=0`. */
  readonly nodeArguments?: readonly string[];
};

/** A local system that runs. */
export type Dev = {
  readonly client: KubeClient;
  readonly kubeconfigFile: string;
  readonly queueEndpoint: string;
  readonly sqs: SQSClient;
  readonly queues: Readonly<Record<string, string>>;
  readonly worlds: SampleWorlds;
  /** What makes Deployments, StatefulSets and Services real on the embedded API server; a cluster of one's own has its own. */
  readonly workloads?: Workloads;
  readonly watchers: Watchers;
  readonly functions: LocalLambda['functions'];
  /** The objects of every controller's kind, as they are now. */
  readonly view: View;
  /** The applied objects that have a controller, as they stand. */
  rows(): readonly Row[];
  /** Resolves when all applied objects that have a controller are Ready and observed. Rejects when the signal aborts. */
  untilReady(signal: AbortSignal): Promise<readonly Row[]>;
  state(): DevState;
  /** Builds anew and lets functions and watchers go on with the new bundles. */
  reload(): Promise<void>;
  /** Drains, ends every process, removes the credentials it wrote. */
  close(): Promise<void>;
};

/** Starts a local system; when it cannot, nothing of it stays behind. Throws DevProblem or ConnectionProblem for what a person can mend. */
export async function startDev(
  { controllers, build, root }: DevNeeds,
  {
    folder = path.join(root, '.outrigger'),
    kubeconfig,
    context,
    apiPort = 0,
    queueEndpoint,
    queuePort = 0,
    apply = [],
    watchers: watcherCount = 1,
    resync = true,
    resyncSeconds = shortResync,
    worldFaults = [],
    concurrency = 3,
    onLine = () => undefined,
    nodeArguments = [],
  }: DevOptions,
  signal: AbortSignal = new AbortController().signal,
): Promise<Dev> {
  await using parts = new AsyncDisposableStack();
  await mkdir(folder, { recursive: true });
  const say = (text: string) => onLine({ who: 'system', text });
  say('making what would be deployed, where it is stale: the bundles and the CloudFormation template');
  const samples = (await Promise.all(apply.map(readManifests))).flat();
  const generated = await readManifests(path.join(root, 'infra/kubernetes/generated'));

  const worlds = await startWorlds(parts);
  breakWorlds(worlds, worldFaults);
  const { execute } = worlds.bitcoin;
  const [templateText, cluster, queueServer] = await allOrNone(signal, (starting) => [
    makeArtifacts(build, root, starting),
    startCluster(parts, { folder, kubeconfig, context, apiPort, execute, signal: starting }),
    startQueueServer(parts, { queueEndpoint, queuePort, signal: starting }),
  ]);
  say(`API server ${cluster.server.origin}, SQS ${queueServer.endpoint}`);
  say(`worlds outside the cluster: plant ${worlds.plant.url}, pantry ${worlds.pantry.url}`);
  say(
    `look around: kubectl --kubeconfig ${path.relative(process.cwd(), cluster.kubeconfigFile)} get ${kinds(controllers)}`,
  );
  if (!cluster.verified) say(`WARNING: ${cluster.server.origin} is not verified (insecure-skip-tls-verify)`);

  const stack = readLocalStack(templateText, cluster, worlds, resyncSeconds);
  const prefix = namePrefix(stack);
  const queues = await createQueues(queueServer.client, stack.queues, { endpoint: queueServer.endpoint, signal });
  // What a function or a watcher needs to be there; what only a Deployment needs means nothing here.
  const needed = generated.filter(({ kind }) => ['CustomResourceDefinition', 'Namespace', 'ConfigMap'].includes(kind));
  await applyManifests(cluster.client, needed, { signal });

  const workloads = kubeconfig === undefined ? await startWorkloads(cluster.client, { onTrouble: say }) : undefined;
  parts.defer(() => workloads?.close());

  const state = createStateFile(path.join(folder, 'state.json'));
  // Processes come and go while the parts start and end; the file speaks of a system that runs.
  let running = false;
  const writeState = () => {
    if (running) state.write(currentState());
  };
  const following = new AbortController();
  parts.defer(() => following.abort());
  const inOrder = holdStatuses(onLine);
  parts.defer(() => inOrder.flush());
  const view = createView(
    cluster.client,
    controllers.map(({ declares }) => declares.resource),
    { signal: following.signal, onChange: (change) => linesOfChange(change, controllers).forEach(inOrder.line) },
  );

  const kindOf = new Map(controllers.map(({ name, declares }) => [name, declares.resource.kind.toLowerCase()]));
  const lambda = startLambda(
    {
      stack,
      queues,
      client: queueServer.client,
      queueEndpoint: queueServer.endpoint,
      taskRoot: root,
      onEvent: (event) => lambdaLines(event, { prefix, kindOf, root }).forEach(onLine),
      onProcesses: () => writeState(),
    },
    {
      concurrency,
      schedules: resync,
      tickSeconds: resyncSeconds.tick,
      nodeArguments,
      // moto, for one, tells a waiting poll nothing of a message whose delay is over.
      longPollSeconds: queueEndpoint === undefined ? 20 : 1,
    },
  );
  parts.defer(() => lambda.stop());

  const watcherFile = path.join(root, 'dist/watcher/index.mjs');
  const watchers = startWatchers(
    {
      file: watcherFile,
      environment: watcherEnvironment(cluster, queueServer.endpoint, queues, prefix, queueServer.id),
      onEvent: (event) => {
        watcherLines(event).forEach(onLine);
        if (event.type !== 'line') writeState();
      },
      nodeArguments,
    },
    watcherCount,
  );
  parts.defer(() => watchers.stop());

  const short = (name: string) => (name.startsWith(prefix) ? name.slice(prefix.length) : name);
  const queueUrls = Object.fromEntries(queues.map(({ name, url }) => [short(name), url]));
  const currentState = (): DevState => ({
    apiServer: cluster.server.origin,
    queueEndpoint: queueServer.endpoint,
    queues: queueUrls,
    watchers: watchers.pids().map((pid) => ({ pid })),
    functions: lambda.functions.flatMap((one) => one.pids().map((pid) => ({ name: short(one.name), pid }))),
    worlds: { plant: worlds.plant.url, pantry: worlds.pantry.url },
  });
  // So that what is applied now is seen as it happens, and not found afterwards.
  await watchers.ready(signal);
  const applied = await applyManifests(cluster.client, samples, { signal });
  pour(
    worlds,
    applied.map(({ object }) => object),
  );
  running = true;
  writeState();
  await state.settled();

  const watched = applied.filter(({ resource }) => hasController(controllers, resource));
  const rowsOf = (from: Pick<View, 'get'>): readonly Row[] => watched.map((one) => rowOf(controllers, one, from));
  const whole = parts.move();
  return {
    client: cluster.client,
    kubeconfigFile: cluster.kubeconfigFile,
    queueEndpoint: queueServer.endpoint,
    sqs: queueServer.client,
    queues: queueUrls,
    worlds,
    ...(workloads === undefined ? {} : { workloads }),
    watchers,
    functions: lambda.functions,
    view,
    rows: () => rowsOf(view),
    untilReady: (until) =>
      view.until((now) => {
        const rows = rowsOf(now);
        return rows.every(({ ready }) => ready) ? rows : undefined;
      }, until),
    state: currentState,
    reload: async () => {
      await build(root);
      await lambda.reload();
      watchers.restart();
    },
    close: async () => {
      running = false;
      await whole.disposeAsync();
      await state.settled();
      await rm(path.join(folder, 'state.json'), { force: true });
    },
  };
}

/** What kubectl is asked for: `watertanks,ingredients,dinners`. */
function kinds(controllers: readonly Registered[]): string {
  return [...new Set(controllers.map(({ declares }) => declares.resource.plural))].join(',');
}
