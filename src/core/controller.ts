// A controller: one kind, what it may read and own, and one function that makes it so. Authors see the typed side;
// runtime, generate and registry see `Registered`, which is the same controller without its types.
import type * as z from 'zod';
import { type BareContext, type Context, type Executing, typeContext } from './context.ts';
import { SettingsError } from './errors.ts';
import type { ExecDeclaration, Executes } from '../api/exec.ts';
import type { Key } from './key.ts';
import type { Kind } from './kind.ts';
import { type AnyResult, createResultParser, parseFinalized } from '../api/parse-result.ts';
import { type Part, type PartCondition, type PartField, type Side, sideOfPart } from './part.ts';
import type { AnyResource, Custom, Resource } from './resource.ts';
import type { Finalized, Result } from './result.ts';
import { connectSecrets, type SecretReader } from '../api/secret.ts';
import { formatProblems } from './zod-problems.ts';

/** The variables that settings are read from. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** A kind that is neither owned nor ours but whose changes matter: mapped by a label's value, or by a function. */
export type Watch<Own extends Kind, Read extends Kind, X> = { readonly kind: Kind } & (
  | {
      /** The label whose value is the primary's name. */
      readonly label: string;
      /** The label names an object of this kind instead, another entry of `watches`: its function maps that object's key. */
      readonly names?: Kind;
    }
  | { keys(changed: Key, context: Context<Own, Read, X>): Promise<readonly Key[]> }
);

/** What an author writes. */
export interface Controller<
  S,
  T,
  C extends string,
  Own extends Kind = never,
  Read extends Kind = never,
  E extends z.ZodObject = z.ZodObject,
  X = object,
  D extends Executes = undefined,
> {
  /** Names queue, function, finalizer and field manager: lower case, digits, `-`; at most 40 characters. */
  readonly name: string;
  readonly owns?: readonly Own[];
  readonly reads?: readonly Read[];
  readonly watches?: readonly Watch<Own, Read, X>[];
  /** Parsed from the environment once, at cold start; an error names the variable. */
  readonly settings?: E;
  clients?(settings: z.output<E>): X;
  /** Which commands it may run in containers; without this there is no `exec` in its context. */
  readonly exec?: D;
  /** How long until every object has been visited once more although nothing happened; 10 h when absent. */
  readonly resyncPeriodSeconds?: number;
  reconcile(object: Custom<S, T>, context: Context<Own, Read, X> & Executing<D>): Promise<Result<T, C>>;
  finalize?(object: Custom<S, T>, context: Context<Own, Read, X> & Executing<D>): Promise<Finalized>;
}

/** What a controller is, without its types and without its code. */
export type Declaration = {
  readonly resource: AnyResource;
  /** Of a second controller on the kind: what of the status is its own. Absent: this is the kind's first controller. */
  readonly part?: Part;
  readonly owns: readonly Kind[];
  readonly reads: readonly Kind[];
  readonly watches: readonly { readonly kind: Kind; readonly label?: string; readonly names?: Kind }[];
  readonly settings?: z.ZodObject;
  readonly exec?: ExecDeclaration;
  readonly finalizes: boolean;
  readonly resyncPeriodSeconds: number;
};

/** A controller whose settings are read and whose clients are made. */
export type Running = {
  /** Throws InvalidSpecError, InvalidResultError, TerminalError, or whatever the author's code threw. */
  reconcile(raw: object, context: BareContext): Promise<AnyResult>;
  finalize(raw: object, context: BareContext): Promise<Finalized>;
  /** Which primaries a change of `watches[index]` concerns; none for a watch that the watcher maps by label. */
  keys(index: number, changed: Key, context: BareContext): Promise<readonly Key[]>;
};

/** A controller as the registry holds it. */
export type Registered = {
  readonly name: string;
  readonly declares: Declaration;
  /**
   * Reads the settings and makes the clients. Throws SettingsError, naming each variable that is missing or wrong. Without
   * `secrets` the settings that are secrets cannot be read.
   */
  start(environment: Environment, secrets?: SecretReader): Running;
};

const defaultResyncPeriodSeconds = 36_000;

/** Takes what an author writes of a controller whose kind is known. */
type Define<S, T, C extends string> = <
  Own extends Kind = never,
  Read extends Kind = never,
  E extends z.ZodObject = z.ZodObject,
  X = object,
  D extends Executes = undefined,
>(
  controller: Controller<S, T, C, Own, Read, E, X, D>,
) => Controller<S, T, C, Own, Read, E, X, D> & Registered;

/**
 * Declares the controller of a kind. Curried: in one call TypeScript would widen the literals of a status to strings.
 * @example defineController(tank)({ name: 'water-tank', async reconcile({ spec }) { return { status: {}, conditions: {} }; } })
 */
export function defineController<S, T, C extends string>(resource: Resource<S, T, C, never>): Define<S, T, C>;
/**
 * Declares a second controller on a kind, with the part of the status that is its own: it reads and returns that part only.
 * The fields are optional ones of the kind's status; the conditions are new, and say also what goes wrong with this controller.
 * @example defineController(network, { status: ['nodes'], conditions: ['PeersConnected'] })({ name: 'network-peers', ... })
 */
export function defineController<S, T, C extends string, const F extends PartField<T>, const P extends string>(
  resource: Resource<S, T, C, never>,
  part: {
    readonly status: readonly F[];
    readonly conditions: readonly [PartCondition<P, C>, ...PartCondition<P, C>[]];
  },
): Define<S, Pick<T, F>, P>;
export function defineController<S, T, C extends string, F extends PartField<T>, P extends string>(
  resource: Resource<S, T, C, never>,
  part?: Part<F, P>,
): Define<S, T, C> | Define<S, Pick<T, F>, P> {
  if (part === undefined) return define<S, T, C>(resource, resource);
  return define<S, Pick<T, F>, P>(resource, sideOfPart(resource, part), part);
}

function define<S, T, C extends string>(resource: AnyResource, side: Side<S, T>, part?: Part): Define<S, T, C> {
  return (controller) => ({
    ...controller,
    reconcile: (object, context) => controller.reconcile(object, context),
    declares: { ...declarationOf(resource, controller), ...(part === undefined ? {} : { part }) },
    start: (environment, secrets) => run(side, controller, environment, secrets),
  });
}

function declarationOf<
  S,
  T,
  C extends string,
  Own extends Kind,
  Read extends Kind,
  E extends z.ZodObject,
  X,
  D extends Executes,
>(resource: AnyResource, controller: Controller<S, T, C, Own, Read, E, X, D>): Declaration {
  const {
    owns = [],
    reads = [],
    watches = [],
    settings,
    exec,
    resyncPeriodSeconds = defaultResyncPeriodSeconds,
  } = controller;
  return {
    resource,
    owns,
    reads,
    watches: watches.map((watch) =>
      'label' in watch
        ? { kind: watch.kind, label: watch.label, ...(watch.names === undefined ? {} : { names: watch.names }) }
        : { kind: watch.kind },
    ),
    finalizes: controller.finalize !== undefined,
    resyncPeriodSeconds,
    ...(settings === undefined ? {} : { settings }),
    ...(exec === undefined ? {} : { exec }),
  };
}

function run<S, T, C extends string, Own extends Kind, Read extends Kind, E extends z.ZodObject, X, D extends Executes>(
  side: Side<S, T>,
  controller: Controller<S, T, C, Own, Read, E, X, D>,
  environment: Environment,
  secrets: SecretReader | undefined,
): Running {
  const clients = makeClients(controller, environment, secrets);
  const parseResult = createResultParser(side);
  return {
    reconcile: async (raw, context) =>
      parseResult(await controller.reconcile(side.read(raw), typeContext(context, clients, controller))),
    finalize: async (raw, context) =>
      controller.finalize === undefined
        ? 'done'
        : parseFinalized(await controller.finalize(side.read(raw), typeContext(context, clients, controller))),
    keys: async (index, changed, context) => {
      const watch = controller.watches?.[index];
      return watch !== undefined && 'keys' in watch
        ? await watch.keys(changed, typeContext(context, clients, controller))
        : [];
    },
  };
}

function makeClients<
  S,
  T,
  C extends string,
  Own extends Kind,
  Read extends Kind,
  E extends z.ZodObject,
  X,
  D extends Executes,
>(
  { name, settings, clients }: Controller<S, T, C, Own, Read, E, X, D>,
  environment: Environment,
  secrets: SecretReader | undefined,
): X {
  // CloudFormation cannot leave a variable out: one that is empty is one that is not set.
  const given = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''));
  const parsed = settings?.safeParse(given);
  if (parsed !== undefined && !parsed.success) {
    throw new SettingsError(`controller ${name} needs in its environment ${formatProblems(parsed.error)}`);
  }
  if (parsed !== undefined && secrets !== undefined) connectSecrets(parsed.data, secrets, name);
  return clients === undefined ? noClients<X>() : clients(parsed?.data ?? noClients<z.output<E>>());
}

/** Without `clients` (or `settings`) the type parameter stays at its default, the empty object. */
function noClients<X>(): X {
  const none: unknown = {};
  return none as X;
}
