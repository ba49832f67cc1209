// The second argument of a reconciler: everything that it may do besides returning its result. The author sees the
// typed Context; the runtime provides an UntypedContext, the same for every controller.
import { InvalidSpecError, NotOwnedError, PolicyDeniedError, toError } from '../core/errors.ts';
import { formatKey, type Key } from '../core/key.ts';
import type { Scope } from '../core/kind-names.ts';
import type { Log } from '../core/log.ts';
import { checkAuthorCount } from '../core/metrics.ts';
import { redact } from '../core/redact.ts';
import type { Applied, ApplyAllOptions, ApplyOptions, ChildChange, Desired, DesiredSet, PathOf } from './apply.ts';
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
import { ensureDeclaredNamespace, kindOfRead, type ListScope, type Read } from './reads.ts';
import {
  type AnyMetadataValues,
  ensureDeclared,
  type MetadataSpec,
  type NoMetadataDeclared,
  type SetMetadata,
} from './set-metadata.ts';

type BaseContext = {
  /**
   * The cluster's name in the clusters table.
   * @group Time, place and limits
   */
  readonly cluster: string;
  /**
   * Aborts 4.5 s before the function's timeout. Pass it to everything that waits.
   * @group Time, place and limits
   * @example await fetch(url, { signal });
   */
  readonly signal: AbortSignal;
  /**
   * Writes log lines with the key of the object: a constant message and fields, or an error. A field whose name the
   * runtime uses, such as `key`, is written as `author_key`.
   * @group Reporting
   * @example log.info('record changed', { host });
   */
  readonly log: Log;
  /**
   * The time, which a test sets: use it instead of `new Date()`.
   * @group Time, place and limits
   */
  now(): Date;
  /**
   * Records an Event on the object, after the status is written. One that equals the last one is counted. One that
   * cannot be written is logged, and fails nothing.
   * @group Reporting
   * @example recordEvent('Warning', 'RecordRefused', `the zone has no record for ${host}`);
   */
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
 * The context of a reconcile: everything that it may do besides returning its result. A kind that the controller does
 * not declare does not compile, or throws a TypeError where the compiler cannot see it: the generated RBAC always
 * suffices.
 *
 * One reconcile writes a kind by `apply` or by `applyAll`. Both for one kind throw a TypeError, because applyAll would
 * delete what apply wrote. So does an applyAll that would delete what an earlier one of the same reconcile applied.
 */
// An interface, so that messages show its name.
export interface Context<T extends ContextTypes> extends BaseContext {
  /**
   * What `clients` returned.
   * @group Outside of the cluster
   */
  readonly clients: T['clients'];
  /**
   * Counts in metrics of CloudWatch of your own.
   * @group Reporting
   */
  readonly metrics: {
    /**
     * Adds to a CloudWatch metric with the controller as its dimension. CloudWatch bills each name of each controller,
     * so no name depends on the object. Nothing counts in a dry run. Default of `value`: 1.
     * @throws TypeError for a name that is not like `RecordsWritten`, or that Outrigger uses
     * @example metrics.count('RecordsWritten');
     */
    count(name: string, value?: number): void;
  };
  /**
   * Deletes the object, as kubectl does: its finalizers run, and its children go. Return a result as always; a status
   * that finds no object is not written.
   * @group The object
   * @throws TypeError without `deletesSelf: true` in the declaration
   */
  deleteSelf(): Promise<void>;
  /**
   * Runs a declared command in a container of a pod. There is no `exec` without `exec` in the declaration.
   * @group Outside of the cluster
   * @throws TypeError before any request, for a container or a command that is not declared
   * @example const { exitCode, stdout } = await exec({ name: 'node-0' }, 'node', ['bitcoin-cli', 'getpeerinfo']);
   */
  readonly exec: [T['exec']] extends [NoExecDeclared] ? NoExecDeclared : Exec;
  /**
   * Makes the declared labels and annotations of the object exactly these. There is no `setMetadata` without `sets` in
   * the declaration.
   * @group The object
   * @throws FieldOwnedError if another client gave one of them another value: nothing is written then
   * @example await setMetadata({ labels: { 'example.com/tier': 'gold' } });
   */
  readonly setMetadata: [T['sets']] extends [NoMetadataDeclared] ? NoMetadataDeclared : SetMetadata<T['sets']>;
  /**
   * Reads one object of a kind in `owns` or `reads`; `undefined` if there is none. It is read from the API server, so
   * it is never old. The namespace is the object's own unless the key names another.
   * @group Reading
   * @example const settings = await get(ConfigMap, { name: cafe.spec.menu });
   */
  get<K extends T['owns'] | T['reads']>(kind: K, key: Key): Promise<ObjectOf<K> | undefined>;
  /**
   * Lists a kind in the object's namespace; for a cluster-scoped object in the whole cluster. The options name another
   * namespace, or `'*'` for all. In a project with `outrigger.namespaces` the API server returns 403 for any other
   * namespace, and for `'*'`.
   * @group Reading
   * @example const pods = await list(Pod, { app: cafe.metadata.name });
   */
  list<K extends T['owns'] | T['reads']>(
    kind: K,
    labels?: Readonly<Record<string, string>>,
    options?: ListScope,
  ): Promise<readonly ObjectOf<K>[]>;
  /**
   * Applies one child, and returns it. Deletes nothing: for a child whose name can change, use applyAll.
   * @group Children
   * @throws NotOwnedError if an object of that name exists that is not a child of this object
   * @example const deployment = await apply(Deployment, { metadata: { name: cafe.metadata.name }, spec });
   */
  apply<K extends T['owns']>(
    kind: K,
    desired: Desired<K, T['scope']>,
    options?: ApplyOptions<PathOf<K>>,
  ): Promise<ObjectOf<K>>;
  /**
   * Makes the object's children of a kind exactly these. It applies what differs, deletes the other children (unless
   * `prune` is false), and returns the children. A function is given the existing children and returns the desired
   * ones: an existing one that it returns is kept, and not written. After a failure nothing is deleted.
   * @group Children
   * @throws NotOwnedError, after the others are applied, for the name of an object that is not a child of this object
   * @throws Error of the API server for a child that it refuses
   * @example const services = await applyAll(Service, cafe.spec.doors.map((door) => serviceOf(cafe, door)));
   */
  applyAll<K extends T['owns']>(
    kind: K,
    desired: DesiredSet<K, T['scope']>,
    options?: ApplyAllOptions<ObjectOf<K>, PathOf<K>>,
  ): Promise<readonly ObjectOf<K>[]>;
  /**
   * The same as applyAll, but returns the failure, so that a status can be written although the set is not complete.
   * Return `failure.error` as `error` of the result.
   * @group Children
   * @example const { objects, failure } = await tryApplyAll(Service, [desired]);
   */
  tryApplyAll<K extends T['owns']>(
    kind: K,
    desired: DesiredSet<K, T['scope']>,
    options?: ApplyAllOptions<ObjectOf<K>, PathOf<K>>,
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
  const ensureKind = (kinds: readonly Kind[], verb: string, kind: Kind) => {
    if (kinds.some((one) => one.apiVersion === kind.apiVersion && one.kind === kind.kind)) return;
    const list = verb === 'own' ? '`owns`' : '`owns` or `reads`';
    throw new TypeError(`${name} does not ${verb} ${kind.kind}; add it to ${list}`);
  };
  const declared = [...owns, ...reads.map(kindOfRead)];
  async function applyAll<K extends T['owns']>(
    kind: K,
    desired: DesiredSet<K, T['scope']>,
    { onChange, ...options }: ApplyAllOptions<ObjectOf<K>, PathOf<K>> = {},
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
          ensureDeclared(name, sets, values);
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
        throw new TypeError(`${name} does not declare deletesSelf, so its role forbids it; add deletesSelf: true`);
      await untyped.deleteSelf();
    },
    get: async (kind, key) => {
      ensureKind(declared, 'declare', kind);
      ensureDeclaredNamespace(name, reads, kind, key.namespace ?? untyped.namespace ?? '');
      const raw = await untyped.get(kind, key);
      return raw === undefined ? undefined : readAs(kind, raw);
    },
    list: async (kind, labels, options) => {
      ensureKind(declared, 'declare', kind);
      ensureDeclaredNamespace(name, reads, kind, options?.namespace ?? untyped.namespace ?? '*');
      // A label of that name compiles, and selects nothing. The empty list would prune the children.
      if (labels !== undefined && 'labels' in labels)
        throw new TypeError(`${name} lists ${kind.kind} by a label of the name labels; give the labels: { app: 'm' }`);
      return (await untyped.list(kind, labels, options)).map((raw) => readAs(kind, raw));
    },
    apply: async (kind, desired, options) => {
      ensureKind(owns, 'own', kind);
      return readAs(kind, await untyped.apply(kind, desired, options));
    },
    applyAll: async (kind, desired, options, checkSet) => {
      ensureKind(owns, 'own', kind);
      return await applyAll(kind, desired, options, checkSet);
    },
    tryApplyAll: async (kind, desired, options, checkSet) => {
      ensureKind(owns, 'own', kind);
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
  const ensureOwned = (kind: Kind, writer: 'apply' | 'applyAll') => {
    const id = idOf(kind);
    if ((writers.get(id) ?? writer) !== writer) {
      throw new TypeError(
        `${controller} writes ${kind.kind} by apply and by applyAll in one reconcile; ` +
          'applyAll deletes what apply wrote, so use one of them',
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
          `${controller} would delete ${kind.kind} ${formatKey(deleted)} by this applyAll, which an earlier one of ` +
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
      ensureOwned(kind, 'apply');
      return await context.apply(kind, desired, options);
    },
    applyAll: async (kind, desired, options) => {
      ensureOwned(kind, 'applyAll');
      return await checked.applyAll(kind, desired, options, checkOf(kind, options).check);
    },
    tryApplyAll: async (kind, desired, options) => {
      ensureOwned(kind, 'applyAll');
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
  options?: ApplyAllOptions<ObjectOf<K>, PathOf<K>>,
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
