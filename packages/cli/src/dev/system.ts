// The whole system on one machine: an API server, SQS, the functions under a local Lambda, watchers, and the samples'
// simulators. This file only composes them. The API server and SQS can be replaced with real ones.

import { rm } from 'node:fs/promises';
import path from 'node:path';
import type { SQSClient } from '@aws-sdk/client-sqs';
import { startWorkloads, type Workloads } from '@outrigger/apiserver/workloads/workloads';
import type { AllowedHosts } from '@outrigger/common/http/foreign-request';
import type { ControllerDefinition } from 'outrigger/internal/api/definition';
import type { KubeClient } from 'outrigger/internal/kube/client/client';
import { type AppliedManifest, applyManifests, readManifests } from 'outrigger/internal/testing/manifests';
import { listControllers } from '../project/list-controllers.ts';
import { injectFaults, pour, type Simulators, simulatorUrls, startSimulators } from '../simulators/registry.ts';
import { type Build, buildBundles } from './artifacts.ts';
import { cleanUp } from './clean-up.ts';
import { errorCode } from './explain-error.ts';
import { createFolder, reserveFolder } from './folder-lock.ts';
import { readGenerated } from './generated-manifests.ts';
import { startLambdaApi } from './lambda/lambda-api.ts';
import { type LocalLambda, startLambda } from './lambda/local-lambda.ts';
import { createQueues, type LocalQueue } from './lambda/queues.ts';
import { parseTemplate } from './lambda/template.ts';
import {
  crashLine,
  debounceStatuses,
  formatLambdaEvent,
  formatObjectChange,
  formatWatcherEvent,
  type OutputLine,
} from './lines.ts';
import {
  type LocalRetry,
  type ResyncSeconds,
  readLocalStack,
  shortResync,
  stackNamePrefix,
  tracedTo,
  watcherEnvironment,
  withTraces,
} from './local-stack.ts';
import { localTemplate } from './local-template.ts';
import { createLogFile, logFileName } from './log-file.ts';
import { type CachedChange, createObjectCache, type ObjectCache } from './object-cache.ts';
import type { Row } from './readiness.ts';
import { showsReadiness, statusRow } from './readiness.ts';
import { requireWithin } from './replace-file.ts';
import { type EmbeddedServers, startCluster, startQueueServer } from './servers.ts';
import { startAll } from './start-all.ts';
import { createStateFile, type DevState } from './state-file.ts';
import { type CollectedSpan, startTraceCollector } from './trace-collector.ts';
import { startWatchers, type Watchers } from './watchers.ts';

/** The parts of a local system. */
export type DevDeps = {
  /** The registry. */
  readonly controllers: readonly ControllerDefinition[];
  readonly build: Build;
  /** Loads the registry as it is saved now, and its settings by parameter. Without it a reload starts no controller. */
  readonly loadSaved?: () => Promise<{
    readonly registry: readonly ControllerDefinition[];
    readonly parameters: Readonly<Record<string, string>>;
  }>;
  /** The service's root folder: where serverless.yml, functions/ and infra/ are. */
  readonly root: string;
};

/** An event of the running system: a line of a function's log, spans, or a change of an object with a controller. */
export type DevEvent =
  | { readonly type: 'spans'; readonly spans: readonly CollectedSpan[] }
  | { readonly type: 'log'; readonly function: string; readonly text: string }
  | { readonly type: 'object'; readonly change: CachedChange };

/** The options. Every option has a default; the default of a port is a free one. */
export type DevOptions = AllowedHosts & {
  /** The folder of kubeconfig and state.json; `.outrigger` below the root by default. */
  readonly folder?: string;
  /** A real cluster, instead of the embedded API server. */
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly apiPort?: number;
  /** Keeps the objects of the embedded API server in the folder, for the next start. */
  readonly keep?: boolean;
  /** Another SQS server, instead of the embedded one. */
  readonly queueEndpoint?: string;
  readonly queuePort?: number;
  /** Files and folders of manifests, applied after the CRDs. */
  readonly apply?: readonly string[];
  /** Warns of a manifest that the API server refuses, and goes on: a run that lasts, where it can be corrected. */
  readonly warnsOfRefused?: boolean;
  readonly watchers?: number;
  /** Whether the scheduled resync runs. */
  readonly resync?: boolean;
  readonly resyncSeconds?: ResyncSeconds;
  readonly simulatorFaults?: readonly string[];
  /** Values of the template's parameters, such as the settings of controllers. They replace a simulator's address. */
  readonly parameters?: Readonly<Record<string, string>>;
  readonly retry?: LocalRetry;
  /** The maximum of concurrent batches of each controller. */
  readonly concurrency?: number;
  readonly onLine?: (line: OutputLine) => void;
  /** Receives the events of the system, from its start. Without it no traces are collected. */
  readonly onEvent?: (event: DevEvent) => void;
  /** Arguments of Node for every process, such as `--inspect=0`. */
  readonly nodeArguments?: readonly string[];
};

/** A running local system. */
export type Dev = {
  readonly client: KubeClient;
  readonly kubeconfigFile: string;
  readonly queueEndpoint: string;
  readonly sqs: SQSClient;
  readonly queues: Readonly<Record<string, string>>;
  readonly simulators: Simulators;
  /** Simulates Deployments, StatefulSets and Services on the embedded API server; absent with a real cluster. */
  readonly workloads?: Workloads | undefined;
  /** The servers in this process, for faults; a developer's own servers are not among them. */
  readonly embedded: EmbeddedServers;
  /** Sets the faults of the simulators, in addition to those of the options. Throws UserError. */
  injectFaults(faults: readonly string[]): void;
  readonly watchers: Watchers;
  readonly functions: LocalLambda['functions'];
  /** The current objects of every controller's kind. */
  readonly view: ObjectCache;
  /** The applied objects that have a controller, with their readiness. */
  rows(): readonly Row[];
  /**
   * Resolves when all applied objects that have a controller are Ready and observed. Rejects when the signal aborts.
   */
  untilReady(signal: AbortSignal): Promise<readonly Row[]>;
  state(): DevState;
  /** Builds, applies the generated CRDs, and has functions and watchers load the new bundles. */
  reload(): Promise<void>;
  /** Deletes what was created in the cluster since the start. Returns lines about it. */
  cleanUp(signal: AbortSignal): Promise<readonly string[]>;
  /** Drains, ends every process, and deletes the credentials that it wrote. */
  close(): Promise<void>;
};

const sayMilliseconds = 5_000;

/** Waits for work, and says so every five seconds. */
async function saying<T>(work: Promise<T>, say: () => void): Promise<T> {
  const timer = setInterval(say, sayMilliseconds);
  return await work.finally(() => clearInterval(timer));
}

/**
 * Starts a local system. If it fails, every started part is stopped. Throws UserError for a problem that a person can
 * fix.
 */
export async function startDev(
  { controllers: atStart, build, loadSaved, root }: DevDeps,
  {
    folder = path.join(root, '.outrigger'),
    kubeconfig,
    context,
    apiPort = 0,
    keep = false,
    queueEndpoint,
    queuePort = 0,
    apply = [],
    warnsOfRefused = false,
    watchers: watcherCount = 1,
    resync = true,
    resyncSeconds = shortResync,
    simulatorFaults = [],
    parameters = {},
    retry = {},
    concurrency = 3,
    onLine = () => undefined,
    onEvent,
    nodeArguments = [],
    allowedHosts = [],
  }: DevOptions,
  signal: AbortSignal = new AbortController().signal,
): Promise<Dev> {
  await using parts = new AsyncDisposableStack();
  await createFolder(folder);
  // A cloned project may have a link there. A folder that the developer names may be anywhere.
  if (folder === path.join(root, '.outrigger')) await requireWithin(folder, root);
  const reservation = await reserveFolder(folder);
  parts.defer(() => reservation.release());
  const print = (text: string) => onLine({ source: 'system', text });
  const startedAt = performance.now();
  const step = (text: string) => print(`${((performance.now() - startedAt) / 1000).toFixed(1)} s: ${text}`);
  step('building the bundles, if they are stale');
  const controllers = [...atStart];
  const samples = (await Promise.all(apply.map(readManifests))).flat();

  const templateText = await localTemplate(root, controllers);
  const parameterNames = Object.keys(parseTemplate(templateText).Parameters);
  const simulators = await startSimulators(parts, { allowedHosts, parameters: parameterNames });
  injectFaults(simulators, simulatorFaults);
  const { execute } = simulators.bitcoin;
  const [, cluster, queueServer] = await startAll(signal, (starting) => [
    saying(buildBundles(build, root, starting), () => step('still building; the first build takes the longest')),
    startCluster(parts, { folder, kubeconfig, context, apiPort, keep, execute, allowedHosts, signal: starting }),
    startQueueServer(parts, { queueEndpoint, queuePort, allowedHosts, signal: starting }),
  ]);
  step(`API server ${cluster.server.origin}, SQS ${queueServer.endpoint}`);
  const simulated = simulatorUrls(simulators);
  if (Object.keys(simulated).length > 0) {
    const addresses = Object.entries(simulated).map(([name, url]) => `${name} ${url}`);
    print(`simulators: ${addresses.join(', ')}`);
  }
  if (cluster.keptObjects > 0)
    print(`${cluster.keptObjects} objects of the last run are there again; samples do not replace them`);
  if (!cluster.verified) print(`WARNING: ${cluster.server.origin} is not verified (insecure-skip-tls-verify)`);

  const collector = onEvent && (await startTraceCollector((spans) => onEvent({ type: 'spans', spans })));
  parts.defer(() => collector?.close());
  const tracing = collector === undefined ? {} : tracedTo(collector.url);
  const readStack = (text: string, given: DevOptions['parameters']) =>
    withTraces(readLocalStack(text, cluster, simulators, resyncSeconds, given, retry), tracing);
  const stack = readStack(templateText, parameters);
  const prefix = stackNamePrefix(stack);
  const toQueues = { endpoint: queueServer.endpoint, signal };
  const queues = [...(await createQueues(queueServer.client, stack.queues, toQueues))];
  const appliedGenerated: AppliedManifest[] = [];
  const applyGenerated = async () => {
    // Functions have an identity of their own only on the embedded server.
    const generated = await readGenerated(root, { policies: kubeconfig === undefined });
    appliedGenerated.push(...(await applyManifests(cluster.client, generated, { signal })));
  };
  await applyGenerated();

  const workloads = kubeconfig === undefined ? await startWorkloads(cluster.client, { onError: print }) : undefined;
  parts.defer(() => workloads?.close());

  const notWritten = (name: string, lost: string) => (error: Error) =>
    print(`WARNING: ${name} cannot be written (${errorCode(error) ?? error.message}): ${lost}; free some disk space`);
  const onFailed = notWritten('state.json', 'other commands do not find this system until a process changes');
  const state = createStateFile(path.join(folder, 'state.json'), { onFailed });
  // Processes start and end while the system starts and stops; the file is only written while it runs.
  let running = false;
  const writeState = () => {
    if (running) state.write(currentState());
  };
  const following = new AbortController();
  parts.defer(() => following.abort());
  const ordered = debounceStatuses(onLine);
  parts.defer(() => ordered.flush());
  const view = createObjectCache(
    cluster.client,
    controllers.map(({ declaration }) => declaration.resource),
    {
      signal: following.signal,
      onChange: (change) => {
        onEvent?.({ type: 'object', change });
        formatObjectChange(change, controllers).forEach(ordered.line);
      },
    },
  );

  const withoutPrefix = (name: string) => (name.startsWith(prefix) ? name.slice(prefix.length) : name);
  const onLost = notWritten(logFileName, 'logs, history and explain lack lines');
  const logFile = createLogFile(path.join(folder, logFileName), { onFailed: onLost });
  const lambda = startLambda(
    {
      stack,
      queues,
      client: queueServer.client,
      queueEndpoint: queueServer.endpoint,
      taskRoot: root,
      onEvent: (event) => {
        const name = withoutPrefix(event.function);
        const text = event.type === 'line' ? event.text : crashLine(name, event.error, new Date());
        if (text !== undefined) {
          logFile.write(text);
          onEvent?.({ type: 'log', function: name, text });
        }
        formatLambdaEvent(event, { prefix, controllers, root }).forEach(onLine);
      },
      onProcesses: () => writeState(),
    },
    {
      concurrency,
      schedules: resync,
      scheduleSeconds: resyncSeconds.tick,
      nodeArguments,
      // Other servers (moto) do not wake a waiting poll when a message's delay is over.
      longPollSeconds: queueEndpoint === undefined ? 20 : 1,
    },
  );
  parts.defer(() => lambda.stop());
  const lambdaApi = await startLambdaApi(lambda, { allowedHosts });
  parts.defer(() => lambdaApi.close());

  const watcherFile = path.join(root, 'dist/watcher/index.mjs');
  const watchers = startWatchers(
    {
      file: watcherFile,
      environment: {
        ...watcherEnvironment(cluster, queueServer.endpoint, queues, prefix, queueServer.generation),
        ...tracing,
      },
      onEvent: (event) => {
        formatWatcherEvent(event).forEach(onLine);
        if (event.type !== 'line') writeState();
      },
      nodeArguments,
    },
    watcherCount,
  );
  parts.defer(() => watchers.stop());

  const queueUrls: Record<string, string> = {};
  const name = (some: readonly LocalQueue[]) => {
    for (const one of some) queueUrls[withoutPrefix(one.name)] = one.url;
  };
  name(queues);
  /** Starts the controllers that have been saved since the start. */
  async function startSaved(): Promise<void> {
    const listed = await listControllers(root);
    const isNew = (one: { readonly name: string }) => !controllers.some(({ name }) => name === one.name);
    if (loadSaved === undefined || !listed.some(isNew)) return;
    const saved = await loadSaved();
    const added = saved.registry.filter(isNew);
    const given = { ...parameters, ...saved.parameters };
    const text = await localTemplate(root, [...controllers, ...added]);
    const grown = readStack(text, given);
    const functions = grown.functions.filter(({ arn }) => !lambda.functions.some((one) => one.arn === arn));
    const mappings = grown.mappings.filter(({ functionArn }) => functions.some(({ arn }) => arn === functionArn));
    const missing = grown.queues.filter(({ arn }) => !queues.some((one) => one.arn === arn));
    const created = await createQueues(queueServer.client, missing, toQueues);
    queues.push(...created);
    name(created);
    controllers.push(...added);
    lambda.add({ functions, mappings }, queues);
    for (const { declaration } of added) view.follow(declaration.resource);
    print(`new: ${added.map((one) => one.name).join(', ')}; the console shows it after a restart`);
  }
  const currentState = (): DevState => ({
    apiServer: cluster.server.origin,
    queueEndpoint: queueServer.endpoint,
    queues: queueUrls,
    watchers: watchers.pids().map((pid) => ({ pid })),
    functions: lambda.functions.flatMap((one) => one.pids().map((pid) => ({ name: withoutPrefix(one.name), pid }))),
    lambda: lambdaApi.url,
    simulators: simulated,
  });
  // The watchers are ready before the samples are applied, so that they receive every sample as a change.
  step('queues and CRDs are there; starting the functions and the watcher');
  await watchers.ready(signal);
  step('the kinds are watched');
  const warn = ({ message }: Error) => print(`WARNING: ${message}; correct it, and kubectl apply it`);
  const applied = await applyManifests(cluster.client, samples, {
    signal,
    keep: cluster.keptObjects > 0,
    ...(warnsOfRefused ? { onRefused: warn } : {}),
  });
  pour(
    simulators,
    applied.map(({ object }) => object),
  );
  if (applied.length > 0) step(`${applied.length} ${applied.length === 1 ? 'manifest' : 'manifests'} applied`);
  running = true;
  writeState();
  await state.settled();

  const watched = applied.filter(({ resource }) => showsReadiness(controllers, resource));
  const rowsOf = (from: Pick<ObjectCache, 'get'>): readonly Row[] =>
    watched.map((one) => statusRow(controllers, one, from));
  const whole = parts.move();
  return {
    client: cluster.client,
    kubeconfigFile: cluster.kubeconfigFile,
    queueEndpoint: queueServer.endpoint,
    sqs: queueServer.client,
    queues: queueUrls,
    simulators,
    workloads,
    embedded: { apiServer: cluster.apiServer, sqs: queueServer.sqs },
    injectFaults: (faults) => injectFaults(simulators, [...simulatorFaults, ...faults]),
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
      await build(root, { signal: following.signal });
      await applyGenerated();
      await startSaved();
      await lambda.reload();
      watchers.restart();
    },
    cleanUp: async (until) => await cleanUp(cluster.client, [...appliedGenerated, ...applied], { signal: until }),
    close: async () => {
      running = false;
      await whole.disposeAsync();
      await state.settled().catch(() => undefined);
      await rm(path.join(folder, 'state.json'), { force: true });
    },
  };
}
