// What a reconciler may do besides returning its result. The typed Context is the author's; BareContext is what the
// runtime provides for any controller, without types.

import type { ChildChange, ChildrenOptions } from './children.ts';
import {
  type CommandRule,
  type Exec,
  type ExecDeclaration,
  type ExecOptions,
  type Executed,
  type Executes,
  ruleFor,
} from '../api/exec.ts';
import type { Key } from './key.ts';
import type { Child, Kind, ObjectOf } from './kind.ts';

/** Writes one line; the message is constant, what varies goes into the fields. */
export type Log = Record<'debug' | 'info' | 'warn' | 'error', (message: string, fields?: object) => void>;

type Surroundings = {
  /** The cluster's name in the clusters table. */
  readonly cluster: string;
  /** Aborts before the function's deadline. */
  readonly signal: AbortSignal;
  readonly log: Log;
  now(): Date;
  /** Records an Event on the object; the same one again is counted, not piled up. */
  record(type: 'Normal' | 'Warning', reason: string, message: string): void;
};

/** What a reconciler is handed. An undeclared kind does not compile (or, where it looks like a declared one, throws a TypeError), so that the generated RBAC cannot fall short. */
export interface Context<Own extends Kind, Read extends Kind, X> extends Surroundings {
  /** What the controller's `clients` made of its settings. */
  readonly clients: X;
  /** Reads one object; undefined when there is none. The namespace is the object's own unless the key names another. */
  get<K extends Own | Read>(kind: K, key: Key): Promise<ObjectOf<K> | undefined>;
  /** Lists a kind in the object's namespace (in the whole cluster for a cluster-scoped object). */
  list<K extends Own | Read>(kind: K, labels?: Readonly<Record<string, string>>): Promise<readonly ObjectOf<K>[]>;
  /**
   * Makes the object's children of a kind exactly these: applies what differs, deletes what we own and do not name
   * (unless `prune` is false), and returns the live ones. A function is handed those that there are, and says which there
   * should be.
   * Throws NotOwnedError, after the others are done, for a name that is taken by an object that is not ours.
   */
  children<K extends Own>(
    kind: K,
    desired: readonly Child<K>[] | ((existing: readonly ObjectOf<K>[]) => readonly Child<K>[]),
    options?: ChildrenOptions<ObjectOf<K>>,
  ): Promise<readonly ObjectOf<K>[]>;
}

/** What a declaration of `exec` adds to a Context; without one there is nothing to call. */
export type Executing<D extends Executes> = [D] extends [undefined] ? unknown : { readonly exec: Exec };

/** A Context without types: objects go in and out as the API server has them. */
export interface BareContext extends Surroundings {
  get(kind: Kind, key: Key): Promise<object | undefined>;
  list(kind: Kind, labels?: Readonly<Record<string, string>>): Promise<readonly object[]>;
  children(
    kind: Kind,
    desired: (existing: readonly object[]) => readonly object[],
    options?: ChildrenOptions,
  ): Promise<readonly object[]>;
  /** `rule` is the declared entry that allows the command: the only part of it that is fit for a log. */
  exec(
    pod: Key,
    container: string,
    command: readonly string[],
    options: ExecOptions & { readonly rule: CommandRule },
  ): Promise<Executed>;
}

/** Whose context it is, and the kinds and commands that its role will allow. */
export type Allowance<D extends Executes> = {
  readonly name: string;
  readonly owns?: readonly Kind[];
  readonly reads?: readonly Kind[];
  readonly exec?: D;
};

/**
 * Gives a bare context the types of a controller's declared kinds, and refuses every other kind with a TypeError: the
 * compiler tells kinds apart by what their objects look like, the generated RBAC by name.
 */
export function typeContext<Own extends Kind, Read extends Kind, X, D extends Executes = undefined>(
  bare: BareContext,
  clients: X,
  { name, owns = [], reads = [], exec }: Allowance<D>,
): Context<Own, Read, X> & Executing<D> {
  const hold = (kinds: readonly Kind[], verb: string, kind: Kind) => {
    if (kinds.some((one) => one.apiVersion === kind.apiVersion && one.kind === kind.kind)) return;
    throw new TypeError(`${name} does not ${verb} ${kind.kind}, so it would be forbidden in a cluster`);
  };
  const declared = [...owns, ...reads];
  const context: Context<Own, Read, X> = {
    cluster: bare.cluster,
    signal: bare.signal,
    log: bare.log,
    now: () => bare.now(),
    record: (type, reason, message) => bare.record(type, reason, message),
    clients,
    get: async (kind, key) => {
      hold(declared, 'declare', kind);
      const raw = await bare.get(kind, key);
      return raw === undefined ? undefined : readAs(kind, raw);
    },
    list: async (kind, labels) => {
      hold(declared, 'declare', kind);
      return (await bare.list(kind, labels)).map((raw) => readAs(kind, raw));
    },
    children: async (kind, desired, { onChange, ...options } = {}) => {
      hold(owns, 'own', kind);
      const given = typeof desired === 'function' ? desired : () => desired;
      const bareGiven = (existing: readonly object[]) => given(existing.map((raw) => readAs(kind, raw)));
      const telling = onChange === undefined ? {} : { onChange: tell(kind, onChange) };
      return (await bare.children(kind, bareGiven, { ...options, ...telling })).map((raw) => readAs(kind, raw));
    },
  };
  // The compiler cannot see that `exec` is there exactly when D is a declaration.
  return { ...context, ...(exec === undefined ? {} : { exec: execOf(bare, name, exec) }) } as typeof context &
    Executing<D>;
}

function execOf(bare: BareContext, controller: string, declaration: ExecDeclaration): Exec {
  return async (pod, container, command, options = {}) => {
    const rule = ruleFor(declaration, { controller, container, command });
    return await bare.exec(pod, container, command, { ...options, rule });
  };
}

/** `kind.read` with the type that the compiler cannot see through a generic kind. */
function readAs<K extends Kind>(kind: K, raw: object): ObjectOf<K> {
  return kind.read(raw) as ObjectOf<K>;
}

function tell<K extends Kind>(kind: K, onChange: (change: ChildChange<ObjectOf<K>>) => void) {
  return (change: ChildChange): void => {
    const child = readAs(kind, change.child);
    onChange(
      change.type === 'changed' ? { ...change, child, before: readAs(kind, change.before) } : { ...change, child },
    );
  };
}
