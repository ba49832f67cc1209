// One controller and one sample on an API server of its own, for one check of the battery. Every request of the
// controller passes through here, so that a check can drop its response, refuse it, or count it. The reconcile is the
// runtime's own.
import { setImmediate } from 'node:timers/promises';
import type { ControllerDefinition, ControllerInstance } from '../../api/definition.ts';
import type { Kind } from '../../api/kind.ts';
import { toError } from '../../core/errors.ts';
import { isRecord } from '../../core/json.ts';
import { silentLog } from '../../core/log.ts';
import { fieldManagerOf, ownerUidLabel } from '../../core/names.ts';
import { controllerUidOf } from '../../core/owner.ts';
import { ownedFields } from '../../kube/apply/managed-fields.ts';
import type { KubeClient, KubeRequest, KubeResponse } from '../../kube/client/client.ts';
import { type KubeObject, parseObject } from '../../kube/client/object.ts';
import { objectPath, partsOf } from '../../kube/client/path.ts';
import { getObject, listPages } from '../../kube/client/read.ts';
import { failed, type Next, type Outcome } from '../../reconciling/outcome.ts';
import { createReconcile } from '../../reconciling/reconcile.ts';
import { withoutQueue } from '../../reconciling/without-queue.ts';
import { type Cause, type ObjectName, withStrays } from '../../sqs/message.ts';
import { ownKinds, startServerOf } from '../api-server.ts';
import { readSecrets } from '../secrets.ts';
import type { BatteryOptions } from './contract.ts';
import { type DisturbFetch, withGlobals } from './globals.ts';
import { ignoredStatus } from './ignored-status.ts';
import { checkSampleSelected } from './sample.ts';
import { createUidNames } from './uid-names.ts';
import { type EndState, maskVarying, type TwoRuns } from './varying.ts';

/** A fault: runs in place of a request; `proceed` sends it. */
export type Disturb = (request: KubeRequest, proceed: () => Promise<KubeResponse>) => Promise<KubeResponse>;

/** A sample on its server. */
export type Stage = AsyncDisposable & {
  readonly controller: ControllerDefinition;
  readonly client: KubeClient;
  readonly kind: Kind;
  readonly options: Required<
    Pick<
      BatteryOptions,
      'shortestRequeueSeconds' | 'changesWithTime' | 'allowTerminalErrors' | 'createdOnce' | 'keepsOutside'
    >
  >;
  readonly key: { readonly name: string; readonly namespace?: string };
  /** The controller's requests since the last `reconcile` began. */
  readonly requests: readonly KubeRequest[];
  /** Sets what happens to the controller's requests, and to its calls by `fetch`; nothing if absent. */
  disturb(how?: { readonly api?: Disturb; readonly fetch?: DisturbFetch }): void;
  /** Reconciles once, as one function would, by default because of a change. Never throws. */
  reconcile(cause?: Cause): Promise<Outcome>;
  /**
   * Reconciles as long as it is requeued sooner than a converged object may be, each time when that is due: it waits
   * for something outside. Other requeues are not followed.
   */
  poll(): Promise<Outcome>;
  /** Moves the clock of the server, of the context and of `Date` in all later reconciles. */
  advance(seconds: number): void;
  now(): Date;
  /** A child loses its labels. The next message names it, as the watcher's would. */
  loseLabels(kind: Kind, child: KubeObject): void;
  /** Aborts the signal of the reconcile that runs, as before the end of a function. */
  abort(): void;
  /** Applies an object as its user. Throws UserError if the API server rejects it. */
  apply(object: object): Promise<void>;
  /** Applies the sample under another name, and follows that object from now on. Throws as `apply` does. */
  applySecond(): Promise<void>;
  /** Follows the other one of the sample and its second object. */
  turn(): void;
  /** Polls until a reconcile ends well and writes nothing. Returns its outcome; undefined if none did. */
  settle(): Promise<Outcome | undefined>;
  subject(): Promise<KubeObject | undefined>;
  children(): Promise<readonly { readonly kind: Kind; readonly object: KubeObject }[]>;
  endState(): Promise<EndState>;
  /** What the controller has made in the outside system; undefined if the author does not give it. */
  outsideState(): Promise<unknown>;
};

/** A check of one sample, before it has its stages. */
export type SampleCheck = {
  readonly name: string;
  /** What a sample must have for the check to prove something. Absent: nothing. */
  readonly needs?: 'children' | 'calls';
  /**
   * @param calm returns how the sample ends without faults
   * @param skip receives why there was nothing to check
   */
  readonly run: (
    open: () => Promise<Stage>,
    calm: () => Promise<EndState>,
    skip: (note: string) => void,
  ) => Promise<void>;
};

const mostRounds = 12;
/** Requeues that are followed on one stage. */
const mostPolls = 100;
const reconcileSeconds = 30;
const beginning = Date.parse('2026-01-01T00:00:00Z');

/** Returns whether a request could change something. Events are no part of the state. */
export function isWrite({ method, path }: KubeRequest): boolean {
  return method !== 'GET' && partsOf(path).plural !== 'events';
}

/** Returns in how many seconds an outcome requests the next reconcile; undefined: not by a requeue. */
export function requeueSeconds(outcome: Outcome, now: Date): number | undefined {
  const { requeueAfterSeconds, requeueAt }: Next =
    outcome.type === 'nothing' || outcome.type === 'refused' ? {} : outcome;
  return requeueAt === undefined ? requeueAfterSeconds : (requeueAt.getTime() - now.getTime()) / 1000;
}

/** A request as one line. */
export function lineOf({ method, path }: KubeRequest): string {
  return `${method} ${path}`;
}

/**
 * Starts a server with the kinds of the controller, the required objects, and the sample. The values that vary between
 * two runs are masked in the end state.
 */
export async function openStage(
  controller: ControllerDefinition,
  sample: object,
  {
    objects = [],
    crds = [],
    environment = {},
    secrets = {},
    outside,
    shortestRequeueSeconds = 30,
    changesWithTime = false,
    allowTerminalErrors = false,
    ignoreStatus = [],
    createdOnce = [],
    sampleAgeSeconds = 0,
    keepsOutside = false,
  }: BatteryOptions,
  runs?: TwoRuns,
): Promise<Stage> {
  const clock = { ms: beginning };
  let advancedMs = 0;
  const now = () => new Date(clock.ms);
  const { name } = controller;
  // One check compares the calls to AWS with the permissions. Every other check would say the same.
  const permissions = [{ actions: ['*'], resources: ['*'] }];
  const declaration = { ...controller.declaration, permissions };
  const kind: Kind = declaration.resource;
  const omitIgnored = ignoredStatus(kind, ignoreStatus);
  const withoutIgnored = (of: Kind, status: unknown) => (of === kind ? omitIgnored(status) : status);
  const world = await outside?.({ now });
  const placed = (object: object) => world?.place?.(object) ?? object;
  const own = placed(sample);
  const server = await startServerOf([controller], {
    crds: [...ownKinds([controller]), ...crds],
    objects: [...objects.map(placed), own],
    now,
  });
  const { metadata } = parseObject(own);
  let key = { name: metadata.name, ...(kind.namespaced ? { namespace: metadata.namespace ?? 'default' } : {}) };
  const close = async () => {
    await server.close();
    await world?.close?.();
  };
  let instance: ControllerInstance;
  try {
    await checkSampleSelected(controller, server.client, key);
    instance = controller.start(
      { ...environment, ...world?.environment },
      readSecrets({ ...secrets, ...world?.secrets }),
    );
  } catch (error) {
    await close();
    throw error;
  }
  const advance = (seconds: number) => {
    clock.ms += seconds * 1000;
    advancedMs += seconds * 1000;
  };
  advance(sampleAgeSeconds);
  let deadline = { waitedSeconds: 0, controller: new AbortController() };
  /** Waits of the runtime take one turn of the event loop, and the function's time by the clock. */
  const wait = async (seconds: number, signal: AbortSignal) => {
    const { controller: running } = deadline;
    deadline.waitedSeconds += seconds;
    await setImmediate();
    if (deadline.waitedSeconds >= reconcileSeconds) running.abort(new Error('the function has no time left'));
    signal.throwIfAborted();
  };
  const reconcileKey = withoutQueue(createReconcile({ name, declaration, instance, now, wait }));
  let requests: KubeRequest[] = [];
  let strays: ObjectName[] = [];
  let disturbance: { readonly api?: Disturb; readonly fetch?: DisturbFetch } = {};
  const onFetch: DisturbFetch = async (call, send) => await (disturbance.fetch?.(call, send) ?? send());
  const ownClient = server.clientOf(name);
  const client: KubeClient = {
    ...ownClient,
    request: async (request) => {
      requests.push(request);
      const proceed = async () => await ownClient.request(request);
      return disturbance.api === undefined ? await proceed() : await disturbance.api(request, proceed);
    },
  };

  async function reconcile(cause: Cause = { type: 'change', observedAt: clock.ms }): Promise<Outcome> {
    requests = [];
    const { group, plural: resource } = kind;
    const message = { controller: name, cluster: 'test', group, resource, ...key, cause, ...withStrays(strays) };
    deadline = { waitedSeconds: 0, controller: new AbortController() };
    const signal = AbortSignal.any([deadline.controller.signal, AbortSignal.timeout(reconcileSeconds * 1000)]);
    const record = { client, message, messageId: 'battery', log: silentLog, signal };
    try {
      const { outcome } = await withGlobals({ aheadMs: advancedMs, onFetch }, async () => await reconcileKey(record));
      if (isWell(outcome)) strays = [];
      // Its retry is later.
      else clock.ms += 1000;
      return outcome;
    } catch (error) {
      return failed(toError(error));
    }
  }

  let polls = 0;
  async function poll(): Promise<Outcome> {
    for (;;) {
      const outcome = await reconcile();
      const seconds = outcome.type === 'done' ? outcome.requeueAfterSeconds : undefined;
      if (seconds === undefined || seconds >= shortestRequeueSeconds || polls === mostPolls) return outcome;
      polls += 1;
      advance(Math.max(1, seconds));
    }
  }

  async function settle(): Promise<Outcome | undefined> {
    for (let round = 0; round < mostRounds; round += 1) {
      const outcome = await poll();
      if (isWell(outcome) && !requests.some(isWrite)) return outcome;
      clock.ms += 1000;
    }
    return undefined;
  }

  const subject = async () => await getObject(server.client, kind, key);

  async function children() {
    const uid = (await subject())?.metadata.uid;
    const found: { readonly kind: Kind; readonly object: KubeObject }[] = [];
    for (const owned of declaration.owns) {
      for await (const { items } of listPages(server.client, owned, {})) {
        for (const object of items) {
          const isFar = owned.inAnyNamespace === true && object.metadata.namespace !== key.namespace;
          const owner = isFar ? object.metadata.labels?.[ownerUidLabel] : controllerUidOf(object);
          if (uid !== undefined && owner === uid) found.push({ kind: owned, object });
        }
      }
    }
    return found;
  }

  const uidNames = createUidNames();
  const outsideState = async () => {
    const state = await world?.state?.();
    if (state === undefined) return undefined;
    return JSON.parse(uidNames(JSON.stringify(state), server.snapshot().collections)) as unknown;
  };

  return {
    controller,
    client: server.client,
    kind,
    options: { shortestRequeueSeconds, changesWithTime, allowTerminalErrors, createdOnce, keepsOutside },
    get key() {
      return key;
    },
    get requests() {
      return requests;
    },
    disturb: (how = {}) => {
      disturbance = how;
    },
    reconcile,
    poll,
    now,
    advance,
    loseLabels: ({ group, plural }, { metadata: child }) => {
      strays = [...strays, [group, plural, child.namespace ?? '', child.name]];
    },
    abort: () => deadline.controller.abort(new Error('the function has no time left')),
    apply: async (object) => await server.apply(placed(object)),
    applySecond: async () => {
      const second = { ...metadata, name: `${metadata.name}-second` };
      await server.apply({ ...own, metadata: second });
      key = { ...key, name: second.name };
    },
    turn: () => {
      const { name: first } = metadata;
      key = { ...key, name: key.name === first ? `${first}-second` : first };
    },
    settle,
    subject,
    children,
    endState: async () => {
      const object = await subject();
      const all = [...(object === undefined ? [] : [{ kind, object }]), ...(await children())];
      const outsideNow = await outsideState();
      const there = outsideNow === undefined ? {} : { 'the outside system': outsideNow };
      return maskVarying({ ...endStateOf(name, all, withoutIgnored), ...there }, runs);
    },
    outsideState,
    [Symbol.asyncDispose]: close,
  };
}

function isWell({ type }: Outcome): boolean {
  return type === 'done' || type === 'nothing' || type === 'terminal';
}

function endStateOf(
  controller: string,
  all: readonly { readonly kind: Kind; readonly object: KubeObject }[],
  withoutIgnored: (of: Kind, status: unknown) => unknown,
): EndState {
  const manager = fieldManagerOf(controller);
  const entries = all.map(({ kind, object }) => {
    const { status, ...content } = { ...ownedFields(object, manager), ...ownedFields(object, manager, 'status') };
    const owned = { ...content, ...(status === undefined ? {} : { status: withoutIgnored(kind, status) }) };
    const { finalizers = [], deletionTimestamp } = object.metadata;
    const state = { finalizers, deleting: deletionTimestamp !== undefined, owned };
    const text = JSON.stringify(state)
      .replace(/"\d{4}-\d\d-\d\dT[\d:.]+Z"/g, '"a time"')
      .replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, 'a uid');
    const read: unknown = JSON.parse(text);
    return [`${kind.kind}/${object.metadata.name}`, read] as const;
  });
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Changes each text, number or boolean of a value in turn. */
export function driftsOf(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) {
    return value.flatMap((one, index) => driftsOf(one).map((other) => value.with(index, other)));
  }
  if (isRecord(value)) {
    return Object.entries(value).flatMap(([field, one]) =>
      driftsOf(one).map((other) => ({ ...value, [field]: other })),
    );
  }
  if (typeof value === 'number') return [value + 1];
  if (typeof value === 'string') return [`${value}x`];
  return typeof value === 'boolean' ? [!value] : [];
}

/** Returns the path of an object. */
export function pathOf(kind: Kind, { metadata }: KubeObject): string {
  return objectPath(kind, metadata);
}
