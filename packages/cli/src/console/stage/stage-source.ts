// The console's source for a deployed stage. Objects are listed and watched in each cluster of the table with the
// operator's credentials; reconciles are read from the log of the functions; depths and dead letters from SQS.
import type { SQSClient } from '@aws-sdk/client-sqs';
import type { ControllerDefinition } from 'outrigger/internal/api/definition';
import { unlessAborted } from 'outrigger/internal/core/async';
import { toError, UserError } from 'outrigger/internal/core/errors';
import { redact } from 'outrigger/internal/core/redact';
import { sleep } from 'outrigger/internal/core/time';
import type { KubeClient } from 'outrigger/internal/kube/client/client';
import { functionNames, sharedFunctions } from '../../aws/wakes.ts';
import { createObjectCache, type ObjectCache } from '../../dev/object-cache.ts';
import { createActions, type Operator } from '../actions.ts';
import { createFlowReader } from '../flow.ts';
import { type ClusterFacts, clusterHealth, hiddenNote, type WatcherFacts } from '../health.ts';
import { merged } from '../history.ts';
import { createLiveObjects } from '../live-objects.ts';
import { splitId } from '../object-id.ts';
import type { ConsoleSource } from '../source.ts';
import type { ClusterFlow, System } from '../wire.ts';
import { createDeadLetterReader } from './dead-letter-reader.ts';
import { type LogLine, type PastDeps, PastReader, pastMilliseconds } from './past-reader.ts';

/** A cluster of the table. `connect` throws UserError; it is absent while a cluster is being decommissioned. */
export type StageCluster = {
  readonly name: string;
  readonly paused?: boolean;
  readonly decommissioning?: boolean;
  readonly connect?: () => Promise<KubeClient>;
};

/** What a stage is read from. */
export type StageDeps = PastDeps & {
  readonly name: string;
  readonly aws: System['aws'];
  readonly project: string;
  /** The options of a printed command: ` --stage prod`. */
  readonly at: string;
  /** The only ones of the project. Absent: all. */
  readonly namespaces?: readonly string[] | undefined;
  readonly sqs: SQSClient;
  readonly urlPrefix: string;
  readonly operator: Operator;
  /** Reads the clusters table. */
  readonly clusters: () => Promise<readonly StageCluster[]>;
  /** Reads what is known of the watchers of a cluster. */
  readonly watcherOf: (client: KubeClient, signal: AbortSignal) => Promise<WatcherFacts>;
  /** Reads the runs and the crashes that a function has logged since the last call. */
  readonly newLines: (name: string, signal: AbortSignal) => Promise<readonly LogLine[]>;
  /** Reads how often Lambda has refused to run functions in the last 15 minutes, by name. */
  readonly throttlesOf: (names: readonly string[]) => Promise<ReadonlyMap<string, number>>;
  /** Says why the logs do not show each run; undefined if they do. */
  readonly readHidden: (signal: AbortSignal) => Promise<string | undefined>;
  /** Reads which version of the project is deployed; undefined if that is not known. */
  readonly readVersion: (signal: AbortSignal) => Promise<string | undefined>;
  /** Ends everything. */
  readonly signal: AbortSignal;
};

/** How often the table, the log and the watchers are read; the last two only while a page is open. */
const tableSeconds = 5;
const logSeconds = 5;
const watcherSeconds = 30;
/** CloudWatch counts by the minute, and each read of a metric costs. A deployment may change the LOG_LEVEL. */
const throttleSeconds = 60;
/** Until what a page that opens shows, and the watchers of a cluster that joins, are read. */
const dueSeconds = 1;
const connectSeconds = 20;
/** A page reads the flow every two seconds. */
const openMilliseconds = 15_000;
const flowMilliseconds = 5_000;
/** Until a line of a function can be read in CloudWatch Logs, usually. */
const logDelayMilliseconds = 15_000;
/** A shared function that fails is invoked again within this time. */
const troubleMilliseconds = 900_000;

type Member = {
  readonly client: KubeClient;
  readonly view: ObjectCache;
  readonly stop: AbortController;
  watcherReadAt: number;
  watcher?: WatcherFacts;
};

/** Creates the source, and begins to follow the clusters. */
export function createStageSource(controllers: readonly ControllerDefinition[], deps: StageDeps): ConsoleSource {
  const { name, sqs, urlPrefix, operator, signal } = deps;
  const live = createLiveObjects(controllers, { logDelayMilliseconds });
  const { history } = live;
  const functions = functionNames(controllers);
  const members = new Map<string, Member>();
  const problems = new Map<string, string>();
  let table: readonly (ClusterFacts & { readonly name: string })[] = [];
  let lastReadAt = 0;
  let throttlesReadAt = 0;
  const isOpen = () => Date.now() - lastReadAt < openMilliseconds;
  history.troubles.setHidden('the LOG_LEVEL of the functions is being read');
  let version: string | undefined;
  const followDeployment = async () => {
    [version] = await Promise.all([
      deps.readVersion(signal).catch(() => undefined),
      deps.readHidden(signal).then((hidden) => history.troubles.setHidden(hidden)),
    ]);
  };

  function leave(cluster: string): void {
    members.get(cluster)?.stop.abort();
    if (members.delete(cluster)) live.forget(cluster);
  }

  async function join(cluster: StageCluster): Promise<string | undefined> {
    try {
      const client = await unlessAborted(
        cluster.connect?.() ?? Promise.reject(new UserError('is being decommissioned')),
        AbortSignal.any([signal, AbortSignal.timeout(connectSeconds * 1000)]),
      );
      if (members.get(cluster.name)?.client === client) return undefined;
      leave(cluster.name);
      const stop = new AbortController();
      const view = createObjectCache(
        client,
        controllers.map(({ declaration }) => declaration.resource),
        {
          signal: AbortSignal.any([signal, stop.signal]),
          namespaces: deps.namespaces,
          onChange: (change) => live.addChange(cluster.name, change),
          onFailure: (error) => problems.set(cluster.name, redact(error.message)),
          onListed: () => problems.delete(cluster.name),
        },
      );
      members.set(cluster.name, { client, view, stop, watcherReadAt: 0 });
      return undefined;
    } catch (error) {
      return redact(toError(error).message);
    }
  }

  async function followTable(): Promise<void> {
    const clusters = await deps.clusters();
    for (const known of [...members.keys()]) if (!clusters.some((one) => one.name === known)) leave(known);
    table = await Promise.all(
      clusters.map(async (one) => {
        const { paused = false, decommissioning = false } = one;
        if (decommissioning) {
          leave(one.name);
          return { name: one.name, decommissioning };
        }
        const problem = await join(one);
        return { name: one.name, paused, problem };
      }),
    );
  }

  async function followLogs(): Promise<void> {
    await Promise.all(
      functions.map(async (name) => {
        const lines = await deps.newLines(name, signal).catch((error: unknown) => {
          history.troubles.setUnread(name, `its log cannot be read: ${toError(error).message}`);
          throw error;
        });
        history.troubles.setUnread(name, undefined);
        for (const { text, at } of lines) history.addLogLine(text, name, at);
      }),
    );
  }

  async function followThrottles(): Promise<void> {
    if (Date.now() - throttlesReadAt < throttleSeconds * 1000) return;
    throttlesReadAt = Date.now();
    const [throttles] = await Promise.all([deps.throttlesOf(functions).catch(toError), followDeployment()]);
    history.troubles.setThrottles(functions, throttles);
  }

  async function followWatchers(): Promise<void> {
    const isDue = ({ watcherReadAt }: Member) => Date.now() - watcherReadAt >= watcherSeconds * 1000;
    await Promise.all(
      [...members.values()].filter(isDue).map(async (member) => {
        member.watcherReadAt = Date.now();
        member.watcher = await deps
          .watcherOf(member.client, signal)
          .catch((error: unknown) => ({ watcherUnknown: toError(error).message }));
      }),
    );
  }

  const notes = new Map<string, string>();
  const past = new PastReader(controllers, deps);
  async function repeat(what: string, seconds: number, step: () => Promise<void>, isDue = isOpen): Promise<void> {
    while (!signal.aborted) {
      const due = isDue();
      if (due)
        await step().then(
          () => notes.delete(what),
          (error: unknown) => notes.set(what, `${what}: ${redact(toError(error).message)}`),
        );
      await sleep(due ? seconds : dueSeconds, signal).catch(() => undefined);
    }
  }
  void followDeployment().catch(() => undefined);
  void repeat('The clusters table cannot be read', tableSeconds, followTable, () => true);
  void repeat('The log of the functions cannot be read', logSeconds, followLogs);
  void repeat('Watchers', dueSeconds, followWatchers);
  void repeat('Throttles', dueSeconds, followThrottles);

  function clusterFlow({ name: cluster, ...one }: (typeof table)[number]): ClusterFlow {
    const problem = one.problem ?? problems.get(cluster);
    const health = clusterHealth({ ...members.get(cluster)?.watcher, ...one, problem });
    return { name: cluster, health, ...(one.paused === true ? { paused: true } : {}) };
  }

  const clientOf = (cluster: string): KubeClient => {
    const { client } = members.get(cluster) ?? {};
    if (client === undefined) throw new UserError(`cluster ${JSON.stringify(cluster)}: is not connected`);
    return client;
  };
  const letters = createDeadLetterReader(controllers, { sqs, urlPrefix, history });
  const act = createActions(controllers, { ...operator, clientOf, sqs, urlPrefix, at: deps.at });
  const why = {
    project: deps.project,
    at: deps.at,
    pausedControllers: operator.pausedControllers,
    queues: letters.peek,
    isClusterPaused: async (cluster: string) => table.some((one) => one.name === cluster && one.paused === true),
  };
  const readFlow = createFlowReader(controllers, {
    sqs,
    urlPrefix,
    history,
    maxAgeMilliseconds: flowMilliseconds,
    pausedControllers: operator.pausedControllers,
    read: async () => ({
      clusters: table.map(clusterFlow),
      version: version ?? 'not known',
      notes: [...notes.values()],
      shared: sharedFunctions(controllers).map((name) => ({
        name,
        health: history.troubles.healthOf(name, false, Date.now() - troubleMilliseconds),
      })),
    }),
  });
  return {
    system: { mode: 'stage', name, command: `outrigger console${deps.at}`, aws: deps.aws },
    past: async (range, own) => {
      const found = await past.of(functions, range, own);
      const { hidden } = history.troubles;
      return hidden === undefined ? found : { ...found, notes: [hiddenNote(hidden), ...found.notes] };
    },
    faults: [],
    experiments: () => [],
    rows: live.rows,
    recent: history.recent,
    series: history.series,
    onEvent: live.onEvent,
    flow: async (own) => {
      lastReadAt = Date.now();
      return await readFlow(own);
    },
    queues: letters.read,
    detail: async (id, own, range) => {
      const { client, view } = members.get(splitId(id).cluster) ?? {};
      if (client === undefined || view === undefined) return undefined;
      const lastDay = past.ofObject(id);
      const found = await live.detail(id, { client, view, earlier: lastDay.entries, why }, own);
      const shown = range ?? { from: Date.now() - pastMilliseconds, to: Number.POSITIVE_INFINITY };
      const isShown = ({ at }: { readonly at: number }) => at >= shown.from && at <= shown.to;
      const { entries, note } = range === undefined ? lastDay : past.ofObject(id, range);
      const timeline = merged([...(found?.timeline ?? []), ...entries, ...(await past.actionsOn(id, shown))]);
      const { hidden } = history.troubles;
      const timelineNote = note ?? (hidden && hiddenNote(hidden));
      return found && { ...found, timeline: timeline.filter(isShown), ...(timelineNote && { timelineNote }) };
    },
    act: async (action, own) => {
      if (action.type === 'redrive' || action.type === 'delete')
        return await letters.exclusively(async () => await act(action, own));
      const result = await act(action, own);
      if (action.type === 'pause-cluster' || action.type === 'resume-cluster') await followTable();
      return result;
    },
  };
}
