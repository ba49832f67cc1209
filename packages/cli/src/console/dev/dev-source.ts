// The console's source for `outrigger dev`: everything is in this process. It is created before the system starts, so
// that no event is missed, and is given the system when it runs.
import type { ControllerDefinition } from 'outrigger/internal/api/definition';
import { readWatcherStatus } from 'outrigger/internal/checkpoint/watcher-status';
import { sharedRead } from 'outrigger/internal/core/async';
import { toError, UserError } from 'outrigger/internal/core/errors';
import { redact } from 'outrigger/internal/core/redact';
import { localCluster } from '../../dev/cluster-access.ts';
import { urlPrefixOf } from '../../dev/sqs-server.ts';
import type { Dev, DevEvent } from '../../dev/system.ts';
import { createActions, type Operator } from '../actions.ts';
import { createFlowReader } from '../flow.ts';
import { type ClusterFacts, clusterHealth, healthOf, watcherFacts } from '../health.ts';
import { createLiveObjects } from '../live-objects.ts';
import type { ConsoleSource } from '../source.ts';
import type { Health } from '../wire.ts';
import { createDevExperiments } from './dev-experiments.ts';
import { defaultFaultSeconds } from './experiments.ts';
import type { FaultySystem } from './faults.ts';
import { createQueueReader, readOldestAt } from './queue-reader.ts';
import { RunTraces } from './run-traces.ts';

/** What the source needs of a running system. */
export type SourceSystem = FaultySystem & Pick<Dev, 'client' | 'queueEndpoint' | 'queues' | 'sqs' | 'view'>;

/** The source of the local system. */
export type DevSource = {
  /** Receives the events of the system, from its start. */
  readonly onEvent: (event: DevEvent) => void;
  /** Says why the code that was saved last does not run; undefined when it runs. */
  setRefused(error: Error | undefined): void;
  /** Returns the source when the system runs. The signal aborts when it ends. */
  attach(system: SourceSystem, operator: DevOperator, signal: AbortSignal): ConsoleSource;
};

/** What the command does for the console, and whether the cluster is paused. */
export type DevOperator = Operator & {
  readonly project: string;
  /** The options of a printed command. */
  readonly at: string;
  /** Rejects if the clusters table cannot be read. */
  readonly isClusterPaused: () => Promise<boolean>;
};

/** Several pages share a read of the queues that is younger. */
const flowMilliseconds = 1_000;
const watcherMilliseconds = 2_000;

/** Creates the source. */
export function createDevSource(controllers: readonly ControllerDefinition[]): DevSource {
  const live = createLiveObjects(controllers);
  const { history, listeners } = live;
  const traces = new RunTraces();
  let saved: Health | undefined;
  return {
    setRefused: (error) => {
      saved = error && healthOf('cannot load', `${error.message}; what was saved before it runs`);
    },
    onEvent: (event) => {
      if (event.type === 'spans') traces.add(event.spans);
      else if (event.type === 'log') history.addLogLine(event.text, event.function);
      else live.addChange(localCluster, event.change);
    },
    attach: (dev, operator, signal) => {
      const { client, sqs, queueEndpoint, queues, view, watchers } = dev;
      const urlPrefix = urlPrefixOf(queues);
      const local = { endpoint: queueEndpoint, queues };
      const clientOf = (cluster: string) => {
        if (cluster === localCluster) return client;
        throw new UserError('there is no such cluster');
      };
      const act = createActions(controllers, { ...operator, clientOf, sqs, urlPrefix });
      const rows = live.rows;
      const facts = sharedRead(watcherMilliseconds, async (): Promise<ClusterFacts> => {
        if (watchers.pids().length === 0) return { watcherDown: 'no process runs' };
        try {
          const { project } = operator;
          return watcherFacts(await readWatcherStatus(client, Date.now(), { project, signal }));
        } catch (error) {
          return { problem: toError(error).message };
        }
      });
      const readQueues = createQueueReader(controllers, local);
      const why = { ...operator, queues: readQueues };
      const { faults, experiments } = createDevExperiments(dev, { controllers, rows, listeners, act, signal });
      return {
        faults,
        experiments: experiments.list,
        system: { mode: 'dev', name: localCluster, command: `outrigger dev${operator.at}` },
        rows,
        recent: history.recent,
        series: history.series,
        queues: readQueues,
        act: async (action, signal) => {
          if (action.type !== 'break') return await act(action, signal);
          const { fault, seconds = defaultFaultSeconds } = action;
          experiments.start(fault, seconds);
          return { text: `Broken. It is repaired in ${seconds} seconds.` };
        },
        onEvent: live.onEvent,
        flow: createFlowReader(controllers, {
          sqs,
          urlPrefix,
          history,
          maxAgeMilliseconds: flowMilliseconds,
          pausedControllers: operator.pausedControllers,
          oldestAt: async (queue, own) => await readOldestAt(queue, local, own),
          read: async () => {
            const notes: string[] = [];
            const paused = await operator.isClusterPaused().catch((error: unknown) => {
              notes.push(`The clusters table cannot be read: ${redact(toError(error).message)}`);
              return false;
            });
            return {
              clusters: [{ name: localCluster, paused, health: clusterHealth({ ...(await facts.get()), paused }) }],
              notes,
              saved,
            };
          },
        }),
        detail: async (id, signal) => {
          const found = await live.detail(id, { client, view, why }, signal);
          return found && { ...found, timeline: traces.join(id, found.timeline) };
        },
      };
    },
  };
}
