// Creates the context of the author's code for one object: reads, applies, commands and Events, made from a Kubernetes
// client. It counts the writes, so that the report of a resync shows whether drift was corrected.
import { setImmediate } from 'node:timers/promises';
import * as z from 'zod';
import type { UntypedContext } from '../api/context.ts';
import { isCustomKind } from '../api/custom-kind.ts';
import type { Kind } from '../api/kind.ts';
import { ChildrenRefusedError, PolicyDeniedError, toError } from '../core/errors.ts';
import { uncompiled } from '../core/json.ts';
import type { Key } from '../core/key.ts';
import { invalidLabel } from '../core/labels.ts';
import type { Log } from '../core/log.ts';
import { fieldManagerOf } from '../core/names.ts';
import { applyAll, applyOne, type FieldNote, type WriteCounts } from '../kube/apply/apply-all.ts';
import type { ChildKind, DesiredChild } from '../kube/apply/child-object.ts';
import { deleteChild } from '../kube/apply/delete-child.ts';
import { applyOwnMetadata } from '../kube/apply/own-metadata.ts';
import type { KubeClient } from '../kube/client/client.ts';
import { isPolicyDenied } from '../kube/client/errors.ts';
import { exec } from '../kube/client/exec.ts';
import type { KubeObject } from '../kube/client/object.ts';
import { getObject, listPages } from '../kube/client/read.ts';
import type { ObjectName } from '../sqs/message.ts';
import type { PendingEvent } from './pass/pass.ts';
import type { PrimaryObject } from './primary-object.ts';

/** A context, with the Events and the writes that were made through it. */
export type ContextHandle = {
  readonly context: UntypedContext;
  recorded(): readonly PendingEvent[];
  /** Writes to children and commands that changed something, so far. */
  writes(): number;
  /** Applies to children that changed nothing. */
  noops(): number;
  /**
   * Resolves when no call runs any more. Later ones are refused: they would run beside the next reconcile of the
   * object.
   */
  end(): Promise<void>;
};

/** The dependencies of a context. */
export type ContextDeps = {
  readonly client: KubeClient;
  readonly cluster: string;
  readonly controller: string;
  /** Absent: the default project. */
  readonly project?: string | undefined;
  readonly log: Log;
  readonly now: () => Date;
  readonly signal: AbortSignal;
  /** Adds to a metric of the author. Absent: nothing is counted. */
  readonly count?: ((name: string, value: number) => void) | undefined;
  /**
   * Whether children that have lost their labels are found too, for two lists of metadata, and applies are sent that
   * changed nothing before.
   */
  readonly isThorough?: boolean;
  /** Children that may have lost their labels. They are read by name. */
  readonly strays?: readonly ObjectName[] | undefined;
};

/**
 * Creates the context of one object.
 * @param owner the object, or for a mapping function only the namespace of the watched object
 */
export function createContext(
  {
    client,
    cluster,
    controller,
    project,
    log,
    now,
    signal,
    count: countOwn,
    isThorough = false,
    strays = [],
  }: ContextDeps,
  owner: {
    readonly object?: KubeObject;
    readonly kind?: Kind;
    readonly namespace: string | undefined;
    /** The object as it is by now, and where a write to it is stored. Absent for a mapping function. */
    readonly primary?: Pick<PrimaryObject, 'current' | 'written'>;
  },
): ContextHandle {
  const recorded = new Map<string, PendingEvent>();
  let writes = 0;
  let noops = 0;
  const running = new Set<Promise<unknown>>();
  let isOver = false;
  /** Makes a function of the context whose calls `end` waits for. */
  function tracked<A extends readonly unknown[], R>(run: (...given: A) => Promise<R>): (...given: A) => Promise<R> {
    return async (...given) => {
      if (isOver) throw new Error(`${controller}: the call is over; await every call of the context`);
      const result = run(...given);
      running.add(result);
      return await result.finally(() => running.delete(result));
    };
  }
  async function end(): Promise<void> {
    while (running.size > 0) {
      await Promise.allSettled(running);
      // Then what follows a call has made the next one.
      await setImmediate();
    }
    isOver = true;
  }
  const namespaceOf = (kind: Kind, namespace: string | undefined) =>
    kind.namespaced && namespace !== undefined ? { namespace } : {};

  const isOwnerKept = async () => {
    if (owner.object === undefined || owner.kind === undefined) return false;
    const now = await getObject(client, owner.kind, owner.object.metadata, { signal });
    if (now === undefined || now.metadata.deletionTimestamp !== undefined) return false;
    return now.metadata.uid === owner.object.metadata.uid;
  };
  const childKind = (kind: Kind): ChildKind => {
    if (owner.object === undefined || owner.kind === undefined) {
      throw new TypeError(`${controller}: a mapping function has no object, so it cannot have children`);
    }
    const { apiVersion } = kind;
    const keepsNull = isCustomKind(kind);
    const { inAnyNamespace } = kind;
    const child = { resource: kind, apiVersion, kind: kind.kind, keepsNull, inAnyNamespace };
    return { owner: owner.object, controllerName: controller, project, cluster, isOwnerKept, ...child };
  };
  function count(kind: Kind, result: WriteCounts): void {
    writes += result.writes;
    noops += result.noops;
    if (result.writes > 0) log.info('children written', { kind: kind.kind, writes: result.writes });
    for (const formerController of new Set(result.replaced))
      log.warn('child of another controller overwritten', { kind: kind.kind, formerController });
    for (const note of result.notes) logNote(log, kind, note);
  }

  const context: UntypedContext = {
    cluster,
    namespace: owner.namespace,
    log,
    signal,
    now,
    recordEvent: (type, reason, given) => {
      if (owner.object === undefined) {
        // Only without types. It costs an Event and no key.
        log.warn('event not recorded', { error: 'a mapping function has no object' });
        return;
      }
      // No reconcile fails because of an Event, also if the author's code gives it the message of no Error.
      const message = String(given);
      recorded.set(JSON.stringify([type, reason, message]), { type, reason, message });
    },
    count: (name, value) => countOwn?.(name, value),
    deleteSelf: tracked(async () => {
      const { object, kind } = owner;
      if (object === undefined || kind === undefined)
        throw new TypeError(`${controller}: a mapping function has no object to delete`);
      const { uid } = object.metadata;
      if (await deleteChild(client, { resource: kind, signal }, object, { uid })) writes += 1;
    }),
    get: tracked(
      async (kind, { name, namespace = owner.namespace }) =>
        await getObject(client, kind, { name, ...namespaceOf(kind, namespace) }, { signal }),
    ),
    list: tracked(async (kind, labels, { namespace = owner.namespace } = {}) => {
      const wrong = invalidLabel(labels);
      if (wrong !== undefined) throw new TypeError(`list of ${kind.plural}: ${wrong} is no valid label and value`);
      const labelSelector = Object.entries(labels ?? {})
        .map(([label, value]) => `${label}=${value}`)
        .join(',');
      const found: KubeObject[] = [];
      const within = namespaceOf(kind, namespace === '*' ? undefined : namespace);
      const selection = { ...within, ...(labelSelector === '' ? {} : { labelSelector }) };
      for await (const { items } of listPages(client, kind, { ...selection, signal })) found.push(...items);
      return found;
    }),
    apply: tracked(async (kind, desired, { exact, recreate, adopt } = {}) => {
      const options = { exact, recreate, adopt, isThorough, signal };
      const { object, ...counts } = await unlessDenied(applyOne(client, childKind(kind), toDesired(desired), options));
      count(kind, counts);
      return object;
    }),
    applyAll: tracked(async (kind, desired, { prune = true, exact, recreate, adopt, onChange } = {}) => {
      const onEnd = (counts: WriteCounts) => count(kind, counts);
      const request = {
        ...childKind(kind),
        prune,
        exact,
        recreate,
        adopt,
        onChange,
        onEnd,
        signal,
        isThorough,
        strays: strays.filter(([group, resource]) => group === kind.group && resource === kind.plural).map(toKey),
      };
      const desiredOf = (existing: readonly KubeObject[]) => {
        const kept = new Map<object, KubeObject>(existing.map((one) => [one, one]));
        return desired(existing).map((child) => kept.get(child) ?? toDesired(child));
      };
      return (await unlessDenied(applyAll(client, { ...request, desired: desiredOf }))).objects;
    }),
    setMetadata: tracked(async (values) => {
      const { primary, kind } = owner;
      if (primary === undefined || kind === undefined)
        throw new TypeError(`${controller}: a mapping function has no object, so it cannot set its metadata`);
      const target = { resource: kind, apiVersion: kind.apiVersion, kind: kind.kind };
      const options = { fieldManager: fieldManagerOf(controller, project), signal };
      const returned = await unlessDenied(applyOwnMetadata(client, target, primary.current(), values, options));
      if (returned !== undefined && primary.written(returned) === 'no-op')
        log.warn('apply changed nothing', { noopApplies: 1 });
    }),
    exec: tracked(async ({ name, namespace = owner.namespace }, container, command, { rule, ...options }) => {
      const pod = { name, ...(namespace === undefined ? {} : { namespace }) };
      const result = await exec(client, pod, { container, command }, { ...options, signal });
      const changed = rule.mutates && result.exitCode === 0;
      if (changed) writes += 1;
      // Only the declared arguments are logged: further arguments and the output may be confidential.
      const fields = { pod: name, container, command: rule.argv, exitCode: result.exitCode };
      log[changed ? 'info' : 'debug']('command ended', fields);
      return result;
    }),
  };
  return { context, recorded: () => [...recorded.values()], writes: () => writes, noops: () => noops, end };
}

/** Logs what became of a field of a child. */
function logNote(log: Log, { kind }: Kind, { type, ...field }: FieldNote): void {
  if (type === 'overwritten') log.warn('field of another manager overwritten', { kind, ...field });
  else if (type === 'removed') log.warn('field of another manager removed', { kind, ...field });
  else if (type === 'kept') log.info('field kept by another manager', { kind, ...field });
  else log.warn('apply changed nothing', { kind, ...field, noopApplies: 1 });
}

const toKey = ([, , namespace, name]: ObjectName): Key => (namespace === '' ? { name } : { namespace, name });

/** Names the error of a write that an admission policy refused. */
async function unlessDenied<T>(writing: Promise<T>): Promise<T> {
  try {
    return await writing;
  } catch (error) {
    const errors = error instanceof ChildrenRefusedError ? error.errors : [error];
    if (errors.every(isPolicyDenied)) throw new PolicyDeniedError(toError(error).message, { cause: error });
    throw error;
  }
}

/** Parses a desired child. The author's code is typed, so only the metadata is checked. */
const toDesired = (child: object): DesiredChild => desiredChild.parse(child, uncompiled);

/** An undefined entry is not given. */
const textsIn = z.record(z.string(), z.string().optional()).transform((entries) => {
  const given = Object.entries(entries).flatMap(([key, value]) => (value === undefined ? [] : [[key, value] as const]));
  return Object.fromEntries(given);
});

const desiredChild = z.looseObject({
  metadata: z.object({
    name: z.string().min(1),
    namespace: z.string().optional(),
    labels: textsIn.optional(),
    annotations: textsIn.optional(),
  }),
});
