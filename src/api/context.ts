// The second argument of a reconciler: everything that it may do besides returning its result. The author sees the
// typed Context; the runtime provides an UntypedContext, the same for every controller.
import { InvalidSpecError, NotOwnedError, PolicyDeniedError, toError } from '../core/errors.ts';
import { formatKey, type Key } from '../core/key.ts';
import type { Scope } from '../core/kind-names.ts';
import type { Log } from '../core/log.ts';
import { checkAuthorCount } from '../core/metrics.ts';
import { redact } from '../core/redact.ts';
import type { Applied, ApplyAllOptions, ApplyOptions, ChildChange, Desired, DesiredSet } from './apply.ts';
import { reasons } from './conditions.ts';
import {
  type AllowedCommand,
  type Exec,
  type ExecOptions,
  type ExecResult,
  type ExecSpec,
  type NoExecDeclared,
  ruleFor,
} from './exec.ts';
import type { Kind, ObjectOf } from './kind.ts';
import { holdToNamespaces, kindOfRead, type ListScope, type Read } from './reads.ts';
import {
  type AnyMetadataValues,
  holdToDeclared,
  type MetadataSpec,
  type NoMetadataDeclared,
  type SetMetadata,
} from './set-metadata.ts';

type BaseContext = {
  /** The cluster's name in the clusters table. */
  readonly cluster: string;
  /** Aborts before the function's deadline. */
  readonly signal: AbortSignal;
  /** Writes lines with the key of the object. A field that the runtime writes gets another name. */
  readonly log: Log;
  /** The time of this reconcile. A test moves it, so prefer it to `new Date()`. */
  now(): Date;
  /** Records an Event on the object. A repetition of the last one is counted. */
  recordEvent(type: 'Normal' | 'Warning', reason: string, message: string): void;
};

/** The types of a controller from which the type of its context is made. */
export type ContextTypes = {
  /** Of the primary kind. */
  readonly scope: Scope;
  readonly owns: Kind;
  readonly reads: Kind;
  readonly clients: unknown;
  readonly exec: ExecSpec;
  readonly sets: MetadataSpec;
};

/**
 * The context of a reconcile. An undeclared kind does not compile (or, where the compiler cannot see it, throws a
 * TypeError), so the generated RBAC always suffices. A kind is written by `apply` or by `applyAll` in one reconcile;
 * both for one kind is a TypeError, because applyAll would delete what apply wrote. So is an applyAll that would delete
 * what an earlier one of the same reconcile applied. An interface, so that messages show its name.
 */
export interface Context<T extends ContextTypes> extends BaseContext {
  /** What the controller's `clients` made of its settings. */
  readonly clients: T['clients'];
  /**
   * Adds to a metric of the author, with the controller as its dimension. CloudWatch bills each name of each
   * controller, so no name depends on the object: `RecordsWritten`.
   */
  readonly metrics: { count(name: string, value?: number): void };
  /**
   * Deletes the object, as kubectl does: its finalizers run, and its children go. Needs `deletesSelf` in the
   * declaration. Return a result as always; a status that finds no object is not written.
   */
  deleteSelf(): Promise<void>;
  /** Runs a declared command in a container. */
  readonly exec: [T['exec']] extends [NoExecDeclared] ? NoExecDeclared : Exec;
  /** Makes the declared labels and annotations of the object exactly these. */
  readonly setMetadata: [T['sets']] extends [NoMetadataDeclared] ? NoMetadataDeclared : SetMetadata<T['sets']>;
  /** Reads one object; undefined when there is none. The namespace is the object's own unless the key names another. */
  get<K extends T['owns'] | T['reads']>(kind: K, key: Key): Promise<ObjectOf<K> | undefined>;
  /**
   * Lists a kind in the object's namespace (in the whole cluster for a cluster-scoped object), or in the namespace of
   * the options: `'*'` is all of them. A project with `outrigger.namespaces` has permissions only in those: for `'*'`
   * and any other namespace the API server returns 403.
   */
  list<K extends T['owns'] | T['reads']>(
    kind: K,
    labels?: Readonly<Record<string, string>>,
    options?: ListScope,
  ): Promise<readonly ObjectOf<K>[]>;
  /**
   * Applies one child, and returns it. Deletes nothing: for a child whose name can change, use applyAll. Throws
   * NotOwnedError if an object of that name exists that is not a child of this object.
   */
  apply<K extends T['owns']>(kind: K, desired: Desired<K, T['scope']>, options?: ApplyOptions): Promise<ObjectOf<K>>;
  /**
   * Makes the object's children of a kind exactly these: applies what differs, deletes its other children (unless
   * `prune` is false), and returns the children. A function is given the existing children and returns the desired
   * ones: an existing one that it returns is kept, and not written. Throws NotOwnedError, after the others are applied,
   * for the name of an object that is not a child of this object, and the error of the API server for a child that it
   * refuses. Deletes nothing then.
   */
  applyAll<K extends T['owns']>(
    kind: K,
    desired: DesiredSet<K, T['scope']>,
    options?: ApplyAllOptions<ObjectOf<K>>,
  ): Promise<readonly ObjectOf<K>[]>;
  /**
   * As applyAll, but returns the failure instead of throwing it, so that a status can be written although the set is
   * not complete. Return `failure.error` as `error` of the result.
   * @example const { objects, failure } = await tryApplyAll(Service, [desired]);
   */
  tryApplyAll<K extends T['owns']>(
    kind: K,
    desired: DesiredSet<K, T['scope']>,
    options?: ApplyAllOptions<ObjectOf<K>>,
  ): Promise<Applied<ObjectOf<K>>>;
}

/** The context of a mapping function, which has no object: nothing is applied, recorded or set. */
export interface MapContext<T extends ContextTypes>
  extends Omit<Context<T>, 'apply' | 'applyAll' | 'tryApplyAll' | 'deleteSelf' | 'recordEvent' | 'setMetadata'> {}

/** A Context without types: objects go in and out as the API server has them. */
export interface UntypedContext extends BaseContext {
  /** That of the object, or for a mapping function of the changed object; undefined if it has none. */
  readonly namespace: string | undefined;
  /** Adds to a metric of CloudWatch with the dimension `controller`. */
  count(name: string, value: number): void;
  deleteSelf(): Promise<void>;
  get(kind: Kind, key: Key): Promise<object | undefined>;
  list(kind: Kind, labels?: Readonly<Record<string, string>>, options?: ListScope): Promise<readonly object[]>;
  apply(kind: Kind, desired: object, options?: ApplyOptions): Promise<object>;
  applyAll(
    kind: Kind,
    desired: (existing: readonly object[]) => readonly object[],
    options?: ApplyAllOptions,
  ): Promise<readonly object[]>;
  /** Makes the labels and annotations that the controller owns on the object exactly these. */
  setMetadata(values: AnyMetadataValues): Promise<void>;
  /** `rule` is the declared entry that allows the command. Only this part of the command may be logged. */
  exec(
    pod: Key,
    container: string,
    command: readonly string[],
    options: ExecOptions & { readonly rule: AllowedCommand },
  ): Promise<ExecResult>;
}

/** The controller of a context, and the kinds and commands that its role will allow. */
export type DeclaredAccess = {
  readonly name: string;
  readonly owns?: readonly Kind[] | undefined;
  readonly reads?: readonly Read[] | undefined;
  readonly exec?: ExecSpec | undefined;
  readonly sets?: MetadataSpec | undefined;
  readonly deletesSelf?: true | undefined;
};

/**
 * Gives an untyped context the types of a controller's declared kinds, and refuses every other kind with a TypeError.
 */
export function typeContext<T extends ContextTypes>(
  untyped: UntypedContext,
  clients: T['clients'],
  { name, owns = [], reads = [], exec, sets, deletesSelf }: DeclaredAccess,
): Context<T> {
  const hold = (kinds: readonly Kind[], verb: string, kind: Kind) => {
    if (kinds.some((one) => one.apiVersion === kind.apiVersion && one.kind === kind.kind)) return;
    const list = verb === 'own' ? '`owns`' : '`owns` or `reads`';
    throw new TypeError(`${name} does not ${verb} ${kind.kind}: add it to ${list}`);
  };
  const declared = [...owns, ...reads.map(kindOfRead)];
  async function applyAll<K extends T['owns']>(
    kind: K,
    desired: DesiredSet<K, T['scope']>,
    { onChange, ...options }: ApplyAllOptions<ObjectOf<K>> = {},
    checkSet?: CheckSet,
  ): Promise<readonly ObjectOf<K>[]> {
    const untypedGiven = (existing: readonly object[]) => {
      // For an array the existing children are not read: one that cannot be read is overwritten.
      const raws = new Map<object, object>();
      const read = (raw: object) => {
        const one = readAs(kind, raw);
        raws.set(one, raw);
        return one;
      };
      const children = typeof desired === 'function' ? desired(existing.map(read)) : desired;
      checkSet?.(existing.map(metadataOf), children);
      // A child that exists is returned as it is.
      return children.map((child) => raws.get(child) ?? child);
    };
    const typed = onChange === undefined ? options : { ...options, onChange: typedOnChange(kind, onChange) };
    return (await untyped.applyAll(kind, untypedGiven, typed)).map((raw) => readAs(kind, raw));
  }
  const run: Exec | undefined =
    exec === undefined
      ? undefined
      : async (pod, container, command, options = {}) => {
          const rule = ruleFor(exec, { controller: name, container, command });
          return await untyped.exec(pod, container, command, { ...options, rule });
        };
  const setMetadata =
    sets === undefined
      ? undefined
      : async (values: AnyMetadataValues) => {
          holdToDeclared(name, sets, values);
          await untyped.setMetadata(values);
        };
  const context: Omit<CheckedContext<T>, 'exec' | 'setMetadata'> = {
    cluster: untyped.cluster,
    signal: untyped.signal,
    log: untyped.log,
    now: () => untyped.now(),
    recordEvent: (type, reason, message) => untyped.recordEvent(type, reason, message),
    clients,
    metrics: {
      count: (metric, value = 1) => {
        checkAuthorCount(metric, value);
        untyped.count(metric, value);
      },
    },
    deleteSelf: async () => {
      if (deletesSelf !== true)
        throw new TypeError(`${name} does not declare deletesSelf: true, so its role forbids it`);
      await untyped.deleteSelf();
    },
    get: async (kind, key) => {
      hold(declared, 'declare', kind);
      holdToNamespaces(name, reads, kind, key.namespace ?? untyped.namespace ?? '');
      const raw = await untyped.get(kind, key);
      return raw === undefined ? undefined : readAs(kind, raw);
    },
    list: async (kind, labels, options) => {
      hold(declared, 'declare', kind);
      holdToNamespaces(name, reads, kind, options?.namespace ?? untyped.namespace ?? '*');
      // A label of that name compiles, and selects nothing. The empty list would prune the children.
      if (labels !== undefined && 'labels' in labels)
        throw new TypeError(`${name}: list of ${kind.kind}: labels: give the labels themselves: { app: 'm' }`);
      return (await untyped.list(kind, labels, options)).map((raw) => readAs(kind, raw));
    },
    apply: async (kind, desired, options) => {
      hold(owns, 'own', kind);
      return readAs(kind, await untyped.apply(kind, desired, options));
    },
    applyAll: async (kind, desired, options, checkSet) => {
      hold(owns, 'own', kind);
      return await applyAll(kind, desired, options, checkSet);
    },
    tryApplyAll: async (kind, desired, options, checkSet) => {
      hold(owns, 'own', kind);
      try {
        return { objects: await applyAll(kind, desired, options, checkSet) };
      } catch (thrown) {
        return failed(kind, toError(thrown));
      }
    },
  };
  // The compiler cannot see that `exec` and `setMetadata` are there exactly when they are declared.
  const more = {
    ...(run === undefined ? {} : { exec: run }),
    ...(setMetadata === undefined ? {} : { setMetadata }),
  };
  return { ...context, ...more } as unknown as Context<T>;
}

/**
 * Restricts a context to one reconcile, in which a kind is written by `apply` or by `applyAll`. Throws a TypeError for
 * the second of the two, and for an `applyAll` that would delete a child of an earlier one: their writes would trigger
 * reconciles endlessly. Made for each call, because a test may use one context for several.
 */
export function contextOfOneCall<T extends ContextTypes>(controller: string, context: Context<T>): Context<T> {
  const idOf = ({ apiVersion, kind }: Kind) => `${apiVersion} ${kind}`;
  const writers = new Map<string, 'apply' | 'applyAll'>();
  const hold = (kind: Kind, writer: 'apply' | 'applyAll') => {
    const id = idOf(kind);
    if ((writers.get(id) ?? writer) !== writer) {
      throw new TypeError(
        `${controller} writes ${kind.kind} by apply and by applyAll in one reconcile; ` +
          'applyAll deletes what apply wrote',
      );
    }
    writers.set(id, writer);
  };
  /** The children of each kind that an applyAll of this reconcile was given. */
  const given = new Map<string, readonly Named[]>();
  /** A check that a set deletes no child that an earlier one was given. It keeps its error: tryApplyAll returns it. */
  const checkOf = (kind: Kind, { prune = true }: { readonly prune?: boolean } = {}) => {
    let refusal: TypeError | undefined;
    const check: CheckSet = (existing, children) => {
      const earlier = given.get(idOf(kind)) ?? [];
      const deleted = existing.find(
        (one) => one.deletionTimestamp === undefined && isNamed(earlier, one) && !isNamed(children, one),
      );
      if (prune && deleted !== undefined) {
        refusal = new TypeError(
          `${controller}: this applyAll of ${kind.kind} would delete ${formatKey(deleted)}, which an earlier one of ` +
            'the same reconcile has applied; give all children of a kind in one call',
        );
        throw refusal;
      }
      given.set(idOf(kind), [...earlier, ...children]);
    };
    return { check, refusal: () => refusal };
  };
  const checked: CheckedContext<T> = context;
  return {
    ...context,
    apply: async (kind, desired, options) => {
      hold(kind, 'apply');
      return await context.apply(kind, desired, options);
    },
    applyAll: async (kind, desired, options) => {
      hold(kind, 'applyAll');
      return await checked.applyAll(kind, desired, options, checkOf(kind, options).check);
    },
    tryApplyAll: async (kind, desired, options) => {
      hold(kind, 'applyAll');
      const { check, refusal } = checkOf(kind, options);
      const applied = await checked.tryApplyAll(kind, desired, options, check);
      const refused = refusal();
      if (refused !== undefined) throw refused;
      return applied;
    },
  };
}

/** Checks a set against the existing children, which only typeContext has. */
type CheckSet = (existing: readonly Existing[], children: readonly Named[]) => void;
/** What typeContext makes: a set is applied after a check. An author's own double of a context makes none. */
type CheckedContext<T extends ContextTypes> = Omit<Context<T>, 'applyAll' | 'tryApplyAll'> & {
  applyAll<K extends T['owns']>(...set: CheckedSet<T, K>): Promise<readonly ObjectOf<K>[]>;
  tryApplyAll<K extends T['owns']>(...set: CheckedSet<T, K>): Promise<Applied<ObjectOf<K>>>;
};
type CheckedSet<T extends ContextTypes, K extends T['owns']> = [
  kind: K,
  desired: DesiredSet<K, T['scope']>,
  options?: ApplyAllOptions<ObjectOf<K>>,
  check?: CheckSet,
];
type Existing = Key & { readonly deletionTimestamp?: string };

/** The metadata of a child as the API server returned it. */
function metadataOf(child: object): Existing {
  return (child as { readonly metadata: Existing }).metadata;
}

/** A desired child. A caller without types may have left its metadata out, which is refused when it is applied. */
type Named = { readonly metadata?: Partial<Key> };

/** Whether one of the desired children is this object. Without a namespace a child is in that of its owner. */
function isNamed(children: readonly Named[], { namespace, name }: Key): boolean {
  return children.some(({ metadata }) => metadata?.name === name && (metadata.namespace ?? namespace) === namespace);
}

/** A NotOwnedError has the other children. After any other error some of them may be applied, and none is returned. */
function failed<K extends Kind>(kind: K, error: Error): Applied<ObjectOf<K>> {
  const message = redact(error.message);
  if (!(error instanceof NotOwnedError)) {
    const reason = error instanceof PolicyDeniedError ? reasons.policyDenied : 'ChildRefused';
    return { objects: [], failure: { condition: { status: 'False', reason, message }, error } };
  }
  const objects = (error.objects ?? []).map((raw) => readAs(kind, raw));
  return { objects, failure: { condition: { status: 'False', reason: 'NotOwned', message }, error } };
}

/**
 * `kind.read` with the type that the compiler cannot see through a generic kind. An InvalidSpecError is about the
 * reconciled object, and is not retried. That of another object is retried: it may be changed at any time.
 */
function readAs<K extends Kind>(kind: K, raw: object): ObjectOf<K> {
  try {
    return kind.read(raw) as ObjectOf<K>;
  } catch (error) {
    if (!(error instanceof InvalidSpecError)) throw error;
    throw new Error(`${kind.kind} ${formatKey(metadataOf(raw))} cannot be read: ${error.message}`, { cause: error });
  }
}

/** The objects are read when they are used: the one before the write may be one that cannot be read. */
function typedOnChange<K extends Kind>(kind: K, onChange: (change: ChildChange<ObjectOf<K>>) => void) {
  return (change: ChildChange): void => {
    const child = { enumerable: true, get: () => readAs(kind, change.child) };
    const before =
      change.type === 'updated' ? { before: { enumerable: true, get: () => readAs(kind, change.before) } } : {};
    onChange(Object.defineProperties({ type: change.type }, { child, ...before }) as ChildChange<ObjectOf<K>>);
  };
}
