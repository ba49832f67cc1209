// The console's source for `outrigger dev`: everything is in this process. It is created before the system starts, so
// that no event is missed, and is given the system when it runs.
import { stringify } from 'yaml';
import type { ControllerDefinition } from '../../api/definition.ts';
import { collectionName } from '../../core/key.ts';
import { controllerDeadLetterQueue, controllerQueue, timersQueue } from '../../core/names.ts';
import { localCluster } from '../../dev/cluster-access.ts';
import { objectReadiness, statusSlicesOf } from '../../dev/readiness.ts';
import type { Dev, DevEvent } from '../../dev/system.ts';
import { createDepth, type QueueDepth } from '../../sqs/depth.ts';
import { type ActionDeps, createActions } from '../actions.ts';
import { objectId } from '../object-id.ts';
import type { ConsoleSource, SourceEvent } from '../source.ts';
import type { ControllerFlow, Flow, ObjectRow } from '../wire.ts';
import { createDevExperiments } from './dev-experiments.ts';
import { createHistory } from './history.ts';
import { objectRow } from './object-row.ts';
import { createQueueReader } from './queue-reader.ts';
import { type ChildKind, readChildren } from './resource-tree.ts';

/** What the source needs of a running system. */
export type SourceSystem = Pick<
  Dev,
  'client' | 'embedded' | 'functions' | 'injectFaults' | 'queueEndpoint' | 'queues' | 'sqs' | 'view' | 'watchers'
>;

/** The source of the local system. */
export type DevSource = {
  /** Receives the events of the system, from its start. */
  readonly onEvent: (event: DevEvent) => void;
  /** Returns the source when the system runs. */
  attach(system: SourceSystem, actions: Pick<ActionDeps, 'dryRun'>): ConsoleSource;
};

/** Several pages share a read of the queues that is younger. */
const flowMilliseconds = 1_000;

/** Creates the source. */
export function createDevSource(controllers: readonly ControllerDefinition[]): DevSource {
  const listeners = new Set<(event: SourceEvent) => void>();
  const notify = (event: SourceEvent) => {
    for (const listener of listeners) listener(event);
  };
  const history = createHistory(controllers, { onEntry: (entry) => notify({ type: 'entry', entry }) });
  const rows = new Map<string, ObjectRow>();
  const kinds = new Map(controllers.map(({ declaration: { resource } }) => [collectionName(resource), resource.kind]));

  const onEvent = (event: DevEvent): void => {
    if (event.type === 'log') {
      history.addLogLine(event.text, event.function);
      return;
    }
    const { resource, before, after } = event.change;
    const object = after ?? before;
    if (object === undefined) return;
    const id = objectId(resource, object.metadata);
    history.addChange(id, event.change);
    const described = {
      kind: kinds.get(collectionName(resource)) ?? resource.plural,
      cluster: localCluster,
      sliceConditions: statusSlicesOf(controllers, resource),
    };
    const row = after === undefined ? undefined : objectRow(resource, after, described);
    if (row === undefined) rows.delete(id);
    else rows.set(id, row);
    notify({ type: 'object', id, ...(row === undefined ? {} : { row }) });
  };

  return {
    onEvent,
    attach: (dev, { dryRun }) => {
      const { client, sqs, queueEndpoint, queues, view, watchers } = dev;
      const urlPrefix = (queues[timersQueue] ?? '').slice(0, -timersQueue.length);
      const depth = createDepth(sqs, urlPrefix);
      const depthOf = async (queue: string, signal: AbortSignal): Promise<QueueDepth | undefined> =>
        await depth(queue, { signal }).catch(() => undefined);
      const controllerFlow = async (
        { name, declaration }: ControllerDefinition,
        signal: AbortSignal,
      ): Promise<ControllerFlow> => {
        const [queue, letters] = await Promise.all([
          depthOf(controllerQueue(name), signal),
          depthOf(controllerDeadLetterQueue(name), signal),
        ]);
        return {
          name,
          kind: declaration.resource.kind,
          ...(queue === undefined ? {} : { queued: queue.visible, inFlight: queue.inFlight }),
          ...(letters === undefined ? {} : { deadLetters: letters.visible + letters.inFlight }),
          ...history.rates(name),
        };
      };
      const readFlow = async (signal: AbortSignal): Promise<Flow> => {
        const [flows, timers] = await Promise.all([
          Promise.all(controllers.map((one) => controllerFlow(one, signal))),
          depthOf(timersQueue, signal),
        ]);
        return {
          at: Date.now(),
          changesPerSecond: history.changesPerSecond(),
          watchers: watchers.pids().length,
          ...(timers === undefined ? {} : { waitingTimers: timers.visible + timers.inFlight + timers.delayed }),
          ...history.latencies(),
          controllers: flows,
        };
      };
      let latest: { readonly at: number; readonly flow: Promise<Flow> } | undefined;
      const act = createActions(controllers, { cluster: localCluster, client, sqs, urlPrefix, dryRun });
      const { faults, experiments } = createDevExperiments(dev, {
        controllers,
        rows: () => [...rows.values()],
        listeners,
        act,
      });
      return {
        faults,
        experiments: experiments.list,
        system: { mode: 'dev', name: localCluster },
        rows: () => [...rows.values()],
        recent: history.recent,
        series: history.series,
        queues: createQueueReader(controllers, { endpoint: queueEndpoint, queues }),
        act: async (action, signal) => {
          if (action.type !== 'break') return await act(action, signal);
          experiments.start(action.fault);
          return { text: 'Broken. It is repaired in eight seconds.' };
        },
        onEvent: (listener) => {
          listeners.add(listener);
          return () => void listeners.delete(listener);
        },
        flow: async () => {
          // Another page may wait for it as well, so it does not end with this one. Each call of SQS has a limit.
          if (latest === undefined || Date.now() - latest.at > flowMilliseconds)
            latest = { at: Date.now(), flow: readFlow(new AbortController().signal) };
          return await latest.flow;
        },
        detail: async (id, signal) => {
          const row = rows.get(id);
          const owners = controllers.filter(({ declaration }) =>
            id.startsWith(`${collectionName(declaration.resource)}/`),
          );
          const [first] = owners;
          if (row === undefined || first === undefined) return undefined;
          const { resource } = first.declaration;
          const object = view.get(resource, row);
          if (object === undefined) return undefined;
          const owned = owners.flatMap(({ declaration }) => declaration.owns);
          const childKinds = [...new Map(owned.map((one): [string, ChildKind] => [collectionName(one), one])).values()];
          const { managedFields: _, ...metadata } = object.metadata;
          const { ready, reason } = objectReadiness(object, statusSlicesOf(controllers, resource));
          const dueAt = history.dueAt(id);
          return {
            row,
            yaml: stringify({ ...object, metadata }),
            tree: {
              id,
              kind: row.kind,
              name: row.name,
              state: ready ? 'Ready' : reason || row.state,
              tone: ready ? 'good' : 'bad',
              children: await readChildren(client, object, childKinds, signal),
            },
            timeline: history.timeline(id),
            ...(dueAt === undefined ? {} : { dueAt }),
          };
        },
      };
    },
  };
}
