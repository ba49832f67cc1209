// A whole system in the test's process: an API server, what a watcher forwards, queues, the functions of controllers,
// timers and resync. Its clock moves only when the test moves it, so hours of requeues and backoff take no time.
import { setImmediate } from 'node:timers/promises';
import type { AnyCustomKind } from '../../api/custom-kind.ts';
import type { ControllerDefinition, Environment } from '../../api/definition.ts';
import type { Kind } from '../../api/kind.ts';
import type { SecretReader } from '../../api/secret.ts';
import type { OutsideEvent } from '../../api/wake.ts';
import { SettingsError } from '../../core/errors.ts';
import { type Log, silentLog } from '../../core/log.ts';
import { silentMetrics } from '../../core/metrics.ts';
import {
  controllerDeadLetterQueue,
  controllerQueue,
  resyncQueue,
  timersDeadLetterQueue,
  timersQueue,
} from '../../core/names.ts';
import { sleep } from '../../core/time.ts';
import { definitionsOf } from '../../generate/files.ts';
import { createBatch } from '../../reconciling/batch.ts';
import { createBreaker } from '../../reconciling/breaker.ts';
import { createMapKeys, isMapped } from '../../reconciling/map-keys.ts';
import { createReconcile } from '../../reconciling/reconcile.ts';
import { createResync } from '../../resync/run.ts';
import { createFunctionIds } from '../../sqs/deduplication.ts';
import { createTimers } from '../../timers/run.ts';
import { createWake } from '../../waking/wake.ts';
import { isCustomKind, startApiServer, type TestApiServer, type TestApiServerOptions } from '../api-server.ts';
import { createChangeFinder, testCluster } from './changes.ts';
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
  readonly controller: string;
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
  readonly writes: number;
  readonly at: Date;
};

/** A running system. */
export type TestSystem = AsyncDisposable & {
  /** The cluster: apply, get, list, patch and delete as a user would. */
  readonly cluster: TestApiServer;
  now(): Date;
  /**
   * Reconciles until nothing is due. The clock stands still. Throws an Error that names a key which is reconciled
   * again and again, because its own writes are changes to it.
   */
  settled(): Promise<void>;
  /** Lets minutes pass: requeues, retries and the resync run when they are due, each at its time. */
  advance(minutes: number): Promise<void>;
  /** Delivers an event outside of the cluster to the wakes of the controllers. Returns the number of keys. */
  wake(event: Omit<OutsideEvent, 'id'> & { readonly id?: string }): Promise<number>;
  /** Every reconcile so far, oldest first. */
  readonly reconciles: readonly ReconcileRecord[];
  /** The reasons of the dead letters of a controller. */
  deadLetters(controller: string): readonly string[];
  close(): Promise<void>;
};

const beginning = new Date('2026-01-01T00:00:00Z');
const resyncSeconds = 600;
const limits = { reconcileMs: 20_000, graceMs: 500 };
/** Reconciles of one key without the clock moving: more of them never end. */
const mostReconciles = 50;

/**
 * Starts a system. Resolves when its API server serves the kinds and objects. Nothing is reconciled before `settled` or
 * `advance`. Throws a UserError for an object that the server refuses, and SettingsError for missing settings.
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
  const cluster = await startApiServer({
    ...options,
    crds: [...definitionsOf(controllers, ownKinds(controllers)).map(([, crd]) => crd), ...crds],
    now,
  });
  const { client } = cluster;
  const ids = async () => createFunctionIds('test');
  const findCluster = async () => ({ type: 'client', client }) as const;
  const sqsNow = clock;
  // A wait of the runtime, between the passes of a reconcile, takes one turn of the event loop.
  const wait = async (_: number, signal: AbortSignal) => {
    await setImmediate();
    signal.throwIfAborted();
  };
  const returnTo = (queue: string) => async (records: readonly { readonly receiptHandle: string }[]) => {
    const receiptHandles = records.map(({ receiptHandle }) => receiptHandle);
    queues.hide(queue, receiptHandles, 1);
  };

  function createFunction(controller: ControllerDefinition) {
    const { name, declaration } = controller;
    const queue = controllerQueue(name);
    const deps = { name, declaration, instance: controller.start(environment, readSecrets(secrets)), now };
    const reconcile = createReconcile({ ...deps, wait });
    const mapKeys = createMapKeys(deps, send, ids);
    const batch = createBatch({
      controller: name,
      retry: declaration.options.retry,
      reconcile: async (input) => await (isMapped(declaration, input.message) ? mapKeys(input) : reconcile(input)),
      findCluster,
      breaker: createBreaker(clock),
      send,
      deleteMessages: async (receiptHandles) => queues.delete(queue, receiptHandles),
      returnMessages: returnTo(queue),
      log: (fields) => createLog(name, fields),
      metrics: silentMetrics,
      monotonicMs: () => performance.now(),
      sqsNow,
      // In real time: it bounds a reconcile that never ends.
      wait: async (milliseconds, signal) => await sleep(milliseconds / 1000, signal).catch(() => undefined),
      exitProcess: (reason) => {
        throw new Error(`controller ${name}: ${reason}`);
      },
    });
    return { queue, handle: async () => await give(queue, async (records) => await batch(records, limits)) };
  }

  /** Records reconciles. All else that the runtime logs is not shown in a test. */
  function createLog(controller: string, about: object): Log {
    const add = (message: string, more?: object) => {
      if (message !== 'reconciled' && message !== 'message refused') return;
      const fields: Readonly<Record<string, unknown>> = { ...about, ...more };
      const { namespace, name, cause, causedBy, outcome, error, writes } = fields;
      const object = namespace === undefined ? String(name) : `${namespace}/${name}`;
      counts.set(`${controller} ${object}`, (counts.get(`${controller} ${object}`) ?? 0) + 1);
      reconciles.push({
        ...{ controller, object, cause: String(cause), outcome: String(outcome), writes: Number(writes ?? 0) },
        ...(causedBy === undefined ? {} : { causedBy: String(causedBy) }),
        ...(error === undefined ? {} : { error: String(error) }),
        at: now(),
      });
    };
    return { debug: add, info: add, warn: add, error: add };
  }

  async function give(
    queue: string,
    handle: (records: ReturnType<typeof queues.receive>) => Promise<readonly string[]>,
  ): Promise<number> {
    const records = queues.receive(queue);
    if (records.length === 0) return 0;
    const kept = new Set(await handle(records));
    const finished = records.filter(({ messageId }) => !kept.has(messageId));
    queues.delete(
      queue,
      finished.map(({ receiptHandle }) => receiptHandle),
    );
    return records.length;
  }

  const functions = controllers.map(createFunction);
  const timers = createTimers({
    ...{
      ids,
      send,
      log: silentLog,
      metrics: silentMetrics,
      sqsNow,
      controllers: new Set(controllers.map(({ name }) => name)),
    },
    returnMessages: returnTo(timersQueue),
  });
  const resync = createResync({
    ...{ registry: controllers, findCluster, send, sqsNow, metrics: silentMetrics, log: () => silentLog },
    listClusters: async () => [testCluster],
    depth: async (queue) => queues.depth(queue),
    rate: { runIntervalSeconds: resyncSeconds, missedAfterSeconds: 240, perSecond: 100 },
  });
  const findChanges = createChangeFinder(controllers, { client, send, nowMs: clock });
  const wake = createWake({
    ...{ registry: controllers, send, log: silentLog, nowMs: clock },
    listClusters: async () => [testCluster],
  });
  const allQueues = [...functions.map(({ queue }) => queue), timersQueue, resyncQueue];

  async function settled(): Promise<void> {
    counts.clear();
    const signal = new AbortController().signal;
    for (;;) {
      let moved = await findChanges(signal);
      moved += await give(timersQueue, async (records) => await timers(records, { signal }));
      moved += await give(resyncQueue, async (records) => {
        return await resync.run(records, { signal, remainingMs: () => 60_000 });
      });
      for (const { handle } of functions) moved += await handle();
      if (moved === 0) return;
      const [endless] = [...counts].filter(([, count]) => count > mostReconciles);
      if (endless !== undefined) throw new Error(endlessText(endless[0], reconciles));
    }
  }

  async function advance(minutes: number): Promise<void> {
    const end = nowMs + minutes * 60_000;
    await settled();
    for (;;) {
      const next = Math.min(queues.nextAt(allQueues) ?? Number.POSITIVE_INFINITY, nextResyncAt);
      if (next > end) break;
      nowMs = Math.max(nowMs, next);
      if (nowMs >= nextResyncAt) {
        nextResyncAt += resyncSeconds * 1000;
        await resync.startRun(now().toISOString(), { signal: new AbortController().signal });
      }
      await settled();
    }
    nowMs = end;
    await settled();
  }

  const close = async () => await cluster.close();
  return {
    ...{ cluster, now, settled, advance, reconciles, close },
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
    `${controller}: ${object} is reconciled again and again while no time passes; the last causes: ${causes}. ` +
    'A reconcile that has nothing to change must write nothing: compare what it writes with what is there'
  );
}

/** The kinds of defineKind that the controllers reconcile, own, read or watch, each once. */
function ownKinds(controllers: readonly ControllerDefinition[]): readonly AnyCustomKind[] {
  const kinds: readonly Kind[] = controllers.flatMap(({ declaration: { resource, owns, reads, watches } }) => [
    resource,
    ...owns,
    ...reads,
    ...watches.map(({ kind }) => kind),
  ]);
  return [...new Set(kinds)].filter(isCustomKind);
}

/** Reads the values that the test gives. */
function readSecrets(values: Readonly<Record<string, string>>): SecretReader {
  return {
    read: async ({ secret, key }, where) => {
      const value = values[key === undefined ? secret : `${secret}#${key}`];
      if (value === undefined) throw new SettingsError(`${where}: the test gives no secret "${secret}"`);
      return value;
    },
    forget: () => {},
  };
}
