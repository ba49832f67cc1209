// Makes the second argument of a reconciler, so that a test can call it. It needs no server and no mock library, and
// there is nothing to close.
import type * as z from 'zod';
import { type Context, type ContextTypes, typeContext } from '../api/context.ts';
import type { Controller, NoClientsDeclaredAbove, PrimaryTypes, TypesOfContext } from '../api/controller-spec.ts';
import type { Exec, ExecSpec, NoExecDeclared } from '../api/exec.ts';
import type { Kind } from '../api/kind.ts';
import type { Read } from '../api/reads.ts';
import { givenValues, type MetadataSpec } from '../api/set-metadata.ts';
import { type Log, silentLog } from '../core/log.ts';
import { createObjectMap } from './object-map.ts';

/** An Event that the reconciler recorded. */
export type RecordedEvent = {
  /** The type. */
  readonly type: 'Normal' | 'Warning';
  /** A CamelCase word. */
  readonly reason: string;
  /** A sentence for people. */
  readonly message: string;
};

/** A Context, with what a test can read and do in addition. */
export type TestContext<T extends ContextTypes> = Context<T> & {
  /** The Events that were recorded so far. */
  readonly events: readonly RecordedEvent[];
  /** What was counted so far, by the name of the metric. */
  readonly counts: ReadonlyMap<string, number>;
  /** Whether the reconciler has deleted the object. */
  isSelfDeleted(): boolean;
  /** The labels and annotations that the reconciler has set on the object. */
  ownMetadata(): {
    /** The labels that were set. */
    readonly labels: Readonly<Record<string, string>>;
    /** The annotations that were set. */
    readonly annotations: Readonly<Record<string, string>>;
  };
  /**
   * Writes an object as another client would (a child's status, say); fields of an existing one that are not given are
   * kept.
   */
  put(object: object): void;
};

/** The options of a context. An interface, because the compiler's errors show its name. */
export interface TestContextOptions {
  /** The objects that `get` and `list` find. */
  readonly objects?: readonly object[];
  /** The object that is reconciled. */
  readonly owner?: {
    /** What its children name. */
    readonly metadata: {
      /** The uid. */
      readonly uid: string;
      /** The name. Default: `owner`. */
      readonly name?: string;
      /** The namespace. Default: `default`. */
      readonly namespace?: string;
    };
  };
  /** The time. Default: the present. */
  readonly now?: () => Date;
  /** The signal of the reconcile. Default: one that is never aborted. */
  readonly signal?: AbortSignal;
  /** Where lines go. Default: nowhere. */
  readonly log?: Log;
}

/**
 * Makes a context for calling a reconciler in a test.
 * @param given `objects`: the objects of the cluster, with apiVersion and kind; those without a namespace are
 *   cluster-scoped. `owner`: the object that is reconciled, one of the objects, too. `clients` and `exec`: their
 *   doubles, for a controller that declares them; `exec` is called only for declared commands, with the pod's namespace
 *   filled in.
 * @example await waterTank.reconcile(WaterTank.object('a', { targetLevel: 40 }), testContext(waterTank, { clients: {
 *   level: async () => 10 } }));
 */
export function testContext<
  P extends PrimaryTypes,
  Owns extends Kind,
  Reads extends Read,
  Settings extends z.ZodObject,
  Clients,
  Commands extends ExecSpec,
  Sets extends MetadataSpec,
>(
  controller: Controller<P, Owns, Reads, Settings, Clients, Commands, Sets>,
  given: TestContextOptions &
    ([Clients] extends [NoClientsDeclaredAbove] ? unknown : { readonly clients: NoInfer<Clients> }) &
    ([Commands] extends [NoExecDeclared] ? unknown : { readonly exec: Exec }),
): TestContext<TypesOfContext<P, Owns, Reads, Clients, Commands, Sets>> {
  const { objects = [], owner, now = () => new Date(), log = silentLog } = given;
  const { signal = new AbortController().signal } = given;
  const events: RecordedEvent[] = [];
  const counts = new Map<string, number>();
  let isDeleted = false;
  type Values = Readonly<Record<string, string>>;
  let metadata: { readonly labels: Values; readonly annotations: Values } = { labels: {}, annotations: {} };
  const { resource, exec: commands } = controller.declaration;
  const namespace = resource.namespaced ? (owner?.metadata.namespace ?? 'default') : undefined;
  const execute = 'exec' in given && isExec(given.exec) ? given.exec : undefined;
  const { apiVersion, kind } = resource;
  // As in a cluster: a mapping function that lists the kind finds it.
  const place = namespace === undefined ? {} : { namespace };
  const self =
    owner?.metadata.name === undefined
      ? []
      : [{ apiVersion, kind, ...owner, metadata: { ...place, ...owner.metadata } }];
  const { uid = 'uid-of-the-owner', name = 'owner' } = owner?.metadata ?? {};
  const map = createObjectMap([...self, ...objects], {
    namespace,
    owner: { apiVersion, kind, name, uid, controller: true },
    controller: controller.name,
  });
  const { get, list, apply, applyAll } = map;
  const context = typeContext<TypesOfContext<P, Owns, Reads, Clients, Commands, Sets>>(
    {
      get,
      list,
      apply,
      applyAll,
      exec: async (pod, container, command, { rule: _, ...options }) => {
        if (execute === undefined) throw new TypeError('testContext was given no exec; give a double of it');
        return await execute({ ...place, ...pod }, container, command, options);
      },
      cluster: 'test',
      namespace,
      signal,
      log,
      now,
      count: (name, value) => void counts.set(name, (counts.get(name) ?? 0) + value),
      deleteSelf: async () => {
        isDeleted = true;
      },
      setMetadata: async (values) => {
        metadata = { labels: givenValues(values.labels), annotations: givenValues(values.annotations) };
      },
      recordEvent: (type, reason, message) => void events.push({ type, reason, message }),
    },
    // The compiler cannot see that `clients` are given exactly when they are declared.
    ('clients' in given ? given.clients : {}) as Clients,
    {
      name: controller.name,
      owns: controller.owns,
      reads: controller.reads,
      exec: commands,
      sets: controller.declaration.sets,
      deletesSelf: controller.declaration.deletesSelf,
    },
  );
  return Object.assign(context, {
    events,
    counts,
    isSelfDeleted: () => isDeleted,
    ownMetadata: () => metadata,
    put: (object: object) => map.put(object),
  });
}

/** What the type of `given` says, where the compiler cannot see it. */
function isExec(value: unknown): value is Exec {
  return typeof value === 'function';
}
