// A whole system in the test's process: an API server, what a watcher forwards, queues, the functions of controllers,
// timers and resync. Its clock moves only when the test moves it, so hours of requeues and backoff take no time.
import { setImmediate } from 'node:timers/promises';
import type { ControllerDefinition, Environment } from '../../api/definition.ts';
import type { OutsideEvent } from '../../api/wake.ts';
import { collectionName } from '../../core/key.ts';
import { type Log, silentLog } from '../../core/log.ts';
import {
  controllerDeadLetterQueue,
  controllerQueue,
  resyncQueue,
  timersDeadLetterQueue,
  timersQueue,
} from '../../core/names.ts';
import { definitionsOf } from '../../generate/definitions.ts';
import { mappedCollection } from '../../reconciling/map-keys.ts';
import { createWake } from '../../waking/wake.ts';
import { ownKinds, startServerOf, type TestApiServer, type TestApiServerOptions } from '../api-server.ts';
import { readSecrets } from '../secrets.ts';
import { createChangeFinder, testCluster } from './changes.ts';
import { createSystemFunctions } from './functions.ts';
import { createSystemQueues } from './queues.ts';

/** Options of startSystem. */
export type TestSystemOptions = Pick<TestApiServerOptions, 'crds' | 'objects' | 'execute' | 'readLog'> & {
  /** The CRDs of their own kinds are installed. `crds` is for foreign ones. */
  readonly controllers: readonly ControllerDefinition[];
  /** The settings of the controllers. The variable of a secret has its name. */
  readonly environment?: Environment;
  /** The values of secrets, by the text of their variable. */
  readonly secrets?: Readonly<Record<string, string>>;
  /** The time at the start. Default: 2026-01-01T00:00:00Z. */
  readonly startsAt?: Date;
};

/** One reconcile, as its log line has it. */
export type ReconcileRecord = {
  /** The controller that ran. */
  readonly controller: string;
  /** The kind of the object, such as `ConfigMap`: the controller's, or of a mapping that of the watched object. */
  readonly kind: string;
  /** `namespace/name`, or `name`. */
  readonly object: string;
  /** Why it ran: `change`, `requeue`, `retry`, `resync`, `wake`, `command`. */
  readonly cause: string;
  /** What is behind the cause: another object that changed, or an event. */
  readonly causedBy?: string;
  /** `done`, `nothing`, `failed`, `terminal`, `postponed` or `refused`. */
  readonly outcome: string;
  /** Of a failed reconcile. */
  readonly error?: string;
  /** How many requests changed something. */
  readonly writes: number;
  /** The time of the system at its end. */
  readonly at: Date;
};

/** A running system. */
export type TestSystem = AsyncDisposable & {
  /** The cluster: apply, get, list, patch and delete as a user would. */
  readonly cluster: TestApiServer;
  /** The time of the system, which `advance` moves. */
  now(): Date;
  /**
   * Reconciles until nothing is due. The clock stands still.
   * @throws Error that names a key which is reconciled again and again, because its own writes are changes to it
   */
  settled(): Promise<void>;
  /** Lets minutes pass: requeues, retries and the resync run when they are due, each at its time. */
  advance(minutes: number): Promise<void>;
  /** Delivers an event outside of the cluster to the wakes of the controllers. Returns the number of keys. */
  wake(event: Omit<OutsideEvent, 'id'> & { readonly id?: string }): Promise<number>;
  /** Every reconcile so far, oldest first. */
  readonly reconciles: readonly ReconcileRecord[];
  /** Every run of a mapping function so far, oldest first. The object is the watched one. */
  readonly mappings: readonly ReconcileRecord[];
  /** The reasons of the dead letters of a controller. */
  deadLetters(controller: string): readonly string[];
  /** Ends the system. */
  close(): Promise<void>;
};

const beginning = new Date('2026-01-01T00:00:00Z');
const resyncSeconds = 600;
const functionsOfTheSystem = new Set([timersQueue, resyncQueue]);
/** Reconciles of one key without the clock moving: more of them never end. */
const mostReconciles = 50;

/**
 * Starts a system. Resolves when its API server serves the kinds and objects. Nothing is reconciled before `settled` or
 * `advance`.
 * @throws UserError for an object that the server refuses
 * @throws SettingsError for missing settings
 * @example await using system = await startSystem({ controllers: [waterTank], environment: { PLANT_URL } });
 */
export async function startSystem({
  controllers,
  environment = {},
  secrets = {},
  startsAt = beginning,
  crds = [],
  ...options
}: TestSystemOptions): Promise<TestSystem> {
  let nowMs = startsAt.getTime();
  let nextResyncAt = nowMs + resyncSeconds * 1000;
  let events = 0;
  const clock = () => nowMs;
  const now = () => new Date(nowMs);
  const reconciles: ReconcileRecord[] = [];
  const mappings: ReconcileRecord[] = [];
  const deadLetters = new Map<string, string[]>();
  const counts = new Map<string, number>();
  const queues = createSystemQueues(clock);
  const send: typeof queues.send = async (queue, entries, sending) => {
    for (const { attributes } of entries) {
      if (attributes?.reason !== undefined) {
        const text = [attributes.reason, attributes.error].filter((one) => one !== undefined).join(': ');
        deadLetters.set(queue, [...(deadLetters.get(queue) ?? []), text]);
      }
    }
    return await queues.send(queue, entries, sending);
  };
  const own = ownKinds(controllers);
  const cluster = await startServerOf(controllers, {
    ...options,
    crds: [...definitionsOf(controllers, own).map(([, crd]) => crd), ...crds],
    now,
  });
  const { client, clientOf } = cluster;
  // A wait of the runtime, between the passes of a reconcile, takes one turn of the event loop.
  const wait = async (_: number, signal: AbortSignal) => {
    await setImmediate();
    signal.throwIfAborted();
  };
  const functions = createSystemFunctions({
    controllers,
    environment,
    client,
    clientOf,
    queues,
    send,
    nowMs: clock,
    wait,
    secrets: readSecrets(secrets),
    log: (name, fields) => (functionsOfTheSystem.has(name) ? silentLog : createLog(name, fields)),
    resync: { rate: { runIntervalSeconds: resyncSeconds, missedAfterSeconds: 240, perSecond: 100 } },
  });

  const declarations = new Map(controllers.map(({ name, declaration }) => [name, declaration]));
  /** Returns the kind of a key of a controller, and whether the controller maps it to keys of its own kind. */
  function kindOf(controller: string, key: unknown): { readonly kind: string; readonly isMapped: boolean } {
    const declaration = declarations.get(controller);
    const mapped = declaration?.watches.find(({ kind }) => {
      const collection = collectionName(mappedCollection(declaration, kind));
      return String(key).startsWith(`${controller}:${testCluster}:${collection}/`);
    });
    return { kind: (mapped?.kind ?? declaration?.resource)?.kind ?? '', isMapped: mapped !== undefined };
  }
  /** Records reconciles. All else that the runtime logs is not shown in a test. */
  function createLog(controller: string, about: object): Log {
    const add = (message: string, more?: object) => {
      if (message !== 'reconciled' && message !== 'message refused') return;
      const fields: Readonly<Record<string, unknown>> = { ...about, ...more };
      const { key, namespace, name, cause, causedBy, outcome, reason, error, writes } = fields;
      // The author's code is not called: the object was given its finalizer, or a later reconcile has decided.
      if (reason === 'held' || reason === 'superseded') return;
      const { kind, isMapped } = kindOf(controller, key);
      const object = namespace === undefined ? String(name) : `${namespace}/${name}`;
      const record: ReconcileRecord = {
        controller,
        kind,
        object,
        cause: String(cause),
        outcome: String(outcome),
        writes: Number(writes ?? 0),
        ...(causedBy === undefined ? {} : { causedBy: String(causedBy) }),
        ...(error === undefined ? {} : { error: String(error) }),
        at: now(),
      };
      if (isMapped) {
        mappings.push(record);
        return;
      }
      counts.set(`${controller} ${object}`, (counts.get(`${controller} ${object}`) ?? 0) + 1);
      reconciles.push(record);
    };
    return { debug: add, info: add, warn: add, error: add };
  }

  const findChanges = createChangeFinder(controllers, cluster, { send, nowMs: clock });
  const wake = createWake({
    registry: controllers,
    send,
    log: silentLog,
    nowMs: clock,
    listClusters: async () => [testCluster],
  });
  const allQueues = [...controllers.map(({ name }) => controllerQueue(name)), timersQueue, resyncQueue];

  async function settled(): Promise<void> {
    counts.clear();
    const signal = new AbortController().signal;
    for (;;) {
      let moved = await findChanges(signal);
      moved += await functions.deliverTimers();
      moved += await functions.deliverResync();
      for (const controller of controllers) moved += await functions.deliver(controller);
      if (moved === 0) return;
      const [endless] = [...counts].filter(([, count]) => count > mostReconciles);
      if (endless !== undefined) throw new Error(endlessText(endless[0], reconciles));
    }
  }

  async function advance(minutes: number): Promise<void> {
    const end = nowMs + Math.round(minutes * 60_000);
    await settled();
    for (;;) {
      const next = Math.min(queues.nextAt(allQueues) ?? Number.POSITIVE_INFINITY, nextResyncAt);
      if (next > end) break;
      nowMs = Math.max(nowMs, next);
      if (nowMs >= nextResyncAt) {
        nextResyncAt += resyncSeconds * 1000;
        await functions.startResync();
      }
      await settled();
    }
    nowMs = end;
    await settled();
  }

  const close = async () => await cluster.close();
  return {
    cluster,
    now,
    settled,
    advance,
    reconciles,
    mappings,
    close,
    wake: async (event) => {
      events += 1;
      return await wake({ id: `event-${events}`, ...event }, { signal: new AbortController().signal });
    },
    deadLetters: (controller) => [
      ...(deadLetters.get(controllerDeadLetterQueue(controller)) ?? []),
      ...(deadLetters.get(timersDeadLetterQueue) ?? []),
    ],
    [Symbol.asyncDispose]: close,
  };
}

function endlessText(key: string, reconciles: readonly ReconcileRecord[]): string {
  const [controller, object] = key.split(' ');
  const last = reconciles.filter((one) => one.controller === controller && one.object === object).slice(-3);
  const causes = last.map(({ cause, causedBy, writes }) => `${causedBy ?? cause} (${writes} writes)`).join(', ');
  return (
    `${controller} reconciles ${object} again and again while no time passes (by ${causes}); ` +
    'compare what it writes with what is there, and write nothing if nothing changes'
  );
}
